//! The paths that name operators in Rust code.
//!
//! `aten::add` is `aten::add.Tensor`, because there is no operator `aten::add` without an overload name. A path that could name two
//! operators names neither; these have their full names, which are paths too.

use std::collections::HashMap;
use std::sync::{LazyLock, Once, PoisonError, RwLock, RwLockReadGuard};

use dispatch_runtime::schema::suggest;
use dispatch_runtime::{Operator, on_operator_event};

/// The operators that each path names.
type OperatorsByPath = HashMap<String, Vec<&'static Operator>>;

static OPERATORS_BY_PATH: LazyLock<RwLock<OperatorsByPath>> = LazyLock::new(RwLock::default);

/// Returns the operator with this path or full name.
pub(crate) fn find_operator(path: &str) -> Option<&'static Operator> {
    operator_at(&updated_operators_by_path(), path).or_else(|| Operator::find(path).ok())
}

/// Returns the shortest path of an operator.
pub(crate) fn shortest_path(operator: &Operator) -> String {
    let paths = updated_operators_by_path();
    let is_its = |path: &String| operator_at(&paths, path).is_some_and(|found| found.name() == operator.name());
    let short = [base_path(operator), overload_path(operator)].into_iter().find(is_its);
    short.unwrap_or_else(|| operator.name().to_string())
}

/// Returns the path that is most similar to a mistyped one.
pub(crate) fn similar_path(path: &str) -> Option<String> {
    let paths = updated_operators_by_path();
    let mut all: Vec<&str> = paths.iter().filter(|(_, owners)| owners.len() == 1).map(|(path, _)| &path[..]).collect();
    // Sorted, so that of several equally similar paths the same one is always found.
    all.sort_unstable();
    suggest(path, all).map(str::to_owned)
}

fn operator_at(paths: &OperatorsByPath, path: &str) -> Option<&'static Operator> {
    match paths.get(path).map_or(&[][..], Vec::as_slice) {
        [one] => Some(*one),
        [] => {
            let is_tensor_overload =
                |operator: &&'static Operator| operator.name().overload == "Tensor" && base_path(operator) == path;
            paths.get(&format!("{path}_tensor"))?.iter().copied().find(is_tensor_overload)
        }
        _ => None,
    }
}

fn base_path(operator: &Operator) -> String {
    let name = operator.name();
    format!("{}::{}", name.namespace, name.base)
}

fn overload_path(operator: &Operator) -> String {
    let overload = operator.name().overload;
    if overload.is_empty() {
        base_path(operator)
    } else {
        format!("{}_{}", base_path(operator), overload.to_ascii_lowercase())
    }
}

/// Returns all paths, and keeps them up to date as operators are defined and removed. Changes may be reported out of order, so a report
/// only says which path to look up again.
fn updated_operators_by_path() -> RwLockReadGuard<'static, OperatorsByPath> {
    static REGISTER_LISTENER: Once = Once::new();
    REGISTER_LISTENER.call_once(|| {
        let _listener = on_operator_event(|_, changed| {
            let mut paths = OPERATORS_BY_PATH.write().unwrap_or_else(PoisonError::into_inner);
            let owners = paths.entry(overload_path(changed)).or_default();
            owners.retain(|owner| owner.name() != changed.name());
            owners.extend(Operator::find(&changed.name().to_string()));
        });
    });
    OPERATORS_BY_PATH.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use dispatch_runtime::{OperatorEvent, Registrar};

    use super::*;

    #[test]
    fn a_path_is_kept_if_the_removal_of_the_old_operator_is_reported_late() {
        let lab = Registrar::new("names");
        let first = lab.define("swap.Left(int x) -> int").unwrap();
        // This listener is called before that of the paths.
        let swapping = on_operator_event(move |change, operator| {
            if change == OperatorEvent::Removed && operator.name().base == "swap" {
                drop(lab.define("swap.Left(int x, int y) -> int").unwrap());
            }
        });
        assert!(find_operator("names::swap_left").is_some());
        first.remove();
        swapping.remove();
        assert_eq!(find_operator("names::swap_left").map(Operator::argument_count), Some(2));
    }
}
