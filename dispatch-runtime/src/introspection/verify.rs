//! The check of a program's registrations, which needs no calls.

use std::cmp::Reverse;

use super::finding::Finding;
use crate::error::ErrorKind;
use crate::key::{Alias, Clash, Key, KeyError, Landing, Slot, Target, UserKey, clashes};
use crate::location::Location;
use crate::registration::{granted, registry};
use crate::table::{Active, Registered, Row, cell};

/// Checks the registrations of this program, and returns all findings in a stable order.
///
/// A test of an operator crate or an application can be one line:
///
/// ```standalone_crate
/// let findings = dispatch_runtime::verify();
/// assert!(findings.is_empty(), "{}", findings.iter().map(|finding| format!("{finding}\n")).collect::<String>());
/// ```
#[must_use]
pub fn verify() -> Vec<Finding> {
    let registry = registry::lock();
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(clashes(registry.keys.clone()).into_iter().map(|clash| match clash {
        Clash::Key(a, b) => Finding::DuplicateKey { name: a.name(), locations: [a.location(), b.location()] },
        Clash::Device(a, b) => {
            Finding::DuplicateDevice { names: [a.name(), b.name()], locations: [a.location(), b.location()] }
        }
        Clash::BuiltIn(key) => Finding::BuiltInName { name: key.name(), location: key.location() },
    }));
    findings.extend(orders(&registry.keys));
    for claim in &registry.claims {
        if let Some(winner) = granted(claim.of).filter(|winner| winner.operator != claim.operator) {
            let (operator, winner) = (claim.operator.name(), winner.operator.name());
            findings.push(Finding::DuplicateClaim { of: claim.of, operator, winner });
        }
    }
    for key in &registry.keys {
        findings.extend(key.place().err().map(|full| Finding::Error(full.into())));
    }
    for &key in &registry.misplaced {
        let error = key.slot().err().filter(|error| !matches!(error, KeyError::Full(_)));
        findings.extend(error.map(|error| Finding::Error(error.into())));
    }
    for slot in Slot::all() {
        if let Active::Conflict(fallbacks) = registry.fallbacks[slot.position()].active() {
            let fallbacks = cell::sites(&fallbacks);
            findings.push(Finding::Error(ErrorKind::DuplicateFallback { key: Key::of_slot(slot), fallbacks }.into()));
        }
    }
    let mut rows: Vec<&Row> = registry.rows.iter().collect();
    rows.sort_by_key(|row| row.name);
    for row in rows {
        examine(row, &mut findings);
    }
    findings
}

/// Returns the landings at which names decide which of two layers runs first.
fn orders(keys: &[&'static UserKey]) -> Vec<Finding> {
    let landings = [Landing::Everything, Landing::Autocast, Landing::Autograd, Landing::Backends];
    let order = |above: Landing| {
        let at_landing = keys.iter().copied().filter(|key| key.landing() == Some(above));
        let mut placed: Vec<(u8, &UserKey)> = at_landing.filter_map(|key| Some((key.place().ok()?, key))).collect();
        placed.sort_by_key(|(place, _)| Reverse(*place));
        let is_decided = |upper: &UserKey, lower: &UserKey| upper.all_below().any(|key| std::ptr::eq(key, lower));
        let by_name = placed.windows(2).any(|pair| !is_decided(pair[0].1, pair[1].1));
        let layers = placed.iter().map(|(_, key)| (key.name(), key.location())).collect();
        by_name.then_some(Finding::OrderedByName { above, layers })
    };
    landings.into_iter().filter_map(order).collect()
}

fn examine(row: &Row, findings: &mut Vec<Finding>) {
    match row.definitions.len() {
        0 if row.cells.is_empty() => return,
        0 => findings.push(Finding::Error(row.not_defined())),
        1 => findings.extend(row.foreign_kernels(row.definitions[0]).map(Finding::Error)),
        _ => findings.push(Finding::Error(row.duplicate_definitions())),
    }
    for operator in &row.definitions {
        let duplicates = operator.rules().duplicates().into_iter();
        findings.extend(duplicates.map(|(of, rules)| Finding::DuplicateRule { operator: row.name, of, rules }));
    }
    for (target, cell) in &row.cells {
        let is_composite = *target == Target::Alias(Alias::CompositeImplicitAutograd);
        if is_composite && row.definitions.len() > 1 {
            // Each definition has its own body, and the duplicate definitions are a finding already.
            continue;
        }
        if let Active::Conflict(kernels) = cell.active() {
            findings.push(if is_composite {
                let mut kernels: Vec<Location> = kernels.iter().map(|kernel| kernel.location).collect();
                kernels.sort();
                Finding::CatchAllBesideBody { operator: row.name, kernels }
            } else {
                Finding::Error(cell::duplicate_kernels(row.name, *target, &kernels))
            });
        }
    }
    if let Some(composite) = first(row, Target::Alias(Alias::CompositeImplicitAutograd)) {
        examine_composite(row, composite, findings);
    }
}

fn examine_composite(row: &Row, composite: &Registered, findings: &mut Vec<Finding>) {
    let direct = row.direct();
    let differentiable =
        [Alias::Autograd, Alias::CompositeExplicitAutograd].into_iter().any(|alias| direct.has_alias(alias));
    for (target, cell) in &row.cells {
        let Target::Slot(storage) = *target else { continue };
        let Some(kernel) = cell.newest_first().first().copied() else { continue };
        let Some(autograd) = storage.autograd() else { continue };
        let key = Key::of_slot(storage);
        if storage.is_dense() {
            let own = row.cell(Target::Slot(autograd)).is_some();
            if !own && !differentiable {
                let (kernel, composite) = (kernel.location, composite.location);
                findings.push(Finding::LosesAutograd { operator: row.name, backend: key, kernel, composite });
            }
        } else if autograd == Slot::autograd_other() && row.cell(Target::Slot(autograd)).is_none() {
            findings.push(Finding::Ambiguous { operator: row.name, storage: key });
        }
    }
}

fn first(row: &Row, target: Target) -> Option<&Registered> {
    row.cell(target)?.newest_first().first().copied()
}
