//! Search for operators by name or pattern.

use dispatch_runtime::{Operator, schema};

use crate::Failure;

/// Returns the operator with this name. The namespace or the overload may be left out if the rest is unique.
///
/// # Errors
///
/// Returns [`Failure::NotFound`] if no operator has the name, and [`Failure::Ambiguous`] if several have it.
///
/// ```
/// use dispatch_runtime::Registrar;
///
/// let lab = Registrar::new("find");
/// lab.define("only.one(Tensor self) -> Tensor")?;
/// lab.define("both.one(Tensor self) -> Tensor")?;
/// lab.define("both.two(Tensor self) -> Tensor")?;
///
/// assert_eq!(dispatch_inspect::find_operator("only").unwrap().name().to_string(), "find::only.one");
/// let error = dispatch_inspect::find_operator("both").unwrap_err().to_string();
/// assert_eq!(error, "several operators are called `both`; name one of them:\n  find::both.one\n  find::both.two");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub fn find_operator(name: &str) -> Result<&'static Operator, Failure> {
    let all = Operator::all();
    // From the most exact form of names to the least exact. The first form that matches decides.
    for spelling in [full_name, without_namespace, without_overload, base_name] {
        let fitting: Vec<&'static Operator> =
            all.iter().copied().filter(|operator| spelling(operator) == name).collect();
        match fitting[..] {
            [] => {}
            [one] => return Ok(one),
            _ => {
                let candidates = fitting.iter().map(ToString::to_string).collect();
                return Err(Failure::Ambiguous { name: name.to_owned(), candidates });
            }
        }
    }
    let spellings = if name.contains("::") { [full_name, without_overload] } else { [without_namespace, base_name] };
    let names: Vec<String> = all.iter().flat_map(|operator| spellings.map(|spelling| spelling(operator))).collect();
    let suggestion = schema::suggest(name, names.iter().map(String::as_str)).map(str::to_owned);
    Err(Failure::NotFound { name: name.to_owned(), suggestion })
}

/// Returns every operator whose name contains the pattern. If the pattern has a `*`, which stands for any text, the whole name must match.
///
/// ```
/// use dispatch_runtime::Registrar;
/// let lab = Registrar::new("matching");
/// lab.define("sum(Tensor self) -> Tensor")?;
/// lab.define("cumsum(Tensor self) -> Tensor")?;
/// assert_eq!(dispatch_inspect::matching_operators("matching::*sum").len(), 2);
/// assert_eq!(dispatch_inspect::matching_operators("matching::s*").len(), 1);
/// assert_eq!(dispatch_inspect::matching_operators("CUMS").len(), 1);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[must_use]
pub fn matching_operators(pattern: &str) -> Vec<&'static Operator> {
    let pattern = pattern.to_lowercase();
    let fits = |operator: &&'static Operator| {
        let name = full_name(operator).to_lowercase();
        if pattern.contains('*') { matches_pattern(&name, &pattern) } else { name.contains(&pattern) }
    };
    Operator::all().into_iter().filter(fits).collect()
}

/// Returns whether the text between the stars occurs in order, the first part at the beginning and the last at the end.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        match left.split_once(part) {
            Some((_, after)) if !part.is_empty() => left = after,
            None => return false,
            Some(_) => {}
        }
    }
    left.ends_with(last)
}

fn full_name(operator: &Operator) -> String {
    operator.to_string()
}

fn without_namespace(operator: &Operator) -> String {
    let full = operator.to_string();
    full.split_once("::").map_or_else(|| full.clone(), |(_, rest)| rest.to_owned())
}

fn without_overload(operator: &Operator) -> String {
    format!("{}::{}", operator.name().namespace, operator.name().base)
}

fn base_name(operator: &Operator) -> String {
    operator.name().base.to_owned()
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_matches_any_text() {
        for (name, pattern, fits) in [
            ("aten::add", "aten::*", true),
            ("aten::add", "*add", true),
            ("aten::addmm", "*add", false),
            ("aten::add.Tensor", "*::add*", true),
            ("aten::add", "add*", false),
            ("aten::add", "aten*::a*d", true),
            ("ab", "ab*b", false),
            ("abcabc", "*b*b*", true),
            ("abcab", "*b*b*c", false),
        ] {
            assert_eq!(matches_pattern(name, pattern), fits, "{name} {pattern}");
        }
    }
}
