//! The check of a program's registrations, which needs no calls.

use std::cmp::Reverse;

use super::finding::Finding;
use crate::error::ErrorKind;
use crate::key::{Alias, InsertionPoint, Key, KeyError, NameClash, Slot, SlotOrAlias, UserKey, keys, name_clashes};
use crate::location::Location;
use crate::registration::{registry, rust_operator_impl};
use crate::table::{ActiveKernels, Kernel, KernelRegistration, OperatorRow, cell};

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
    findings.extend(name_clashes(registry.keys.clone()).into_iter().map(|clash| match clash {
        NameClash::Key(a, b) => Finding::DuplicateKey { name: a.name(), locations: [a.location(), b.location()] },
        NameClash::Device(a, b) => {
            Finding::DuplicateDevice { names: [a.name(), b.name()], locations: [a.location(), b.location()] }
        }
        NameClash::BuiltIn(key) => Finding::BuiltInKeyName { name: key.name(), location: key.location() },
    }));
    findings.extend(name_order_findings(&registry.keys));
    for implementation in &registry.rust_operator_impls {
        if let Some(winner) =
            rust_operator_impl(implementation.rust_operator).filter(|winner| winner.operator != implementation.operator)
        {
            let (operator, winner) = (implementation.operator.name(), winner.operator.name());
            findings.push(Finding::DuplicateRustOperatorImpl {
                rust_operator: implementation.rust_operator,
                operator,
                winner,
            });
        }
    }
    for key in &registry.keys {
        findings.extend(key.checked_index().err().map(|full| Finding::Error(full.into())));
    }
    for &key in &registry.unregistrable_keys {
        let error = key.slot().err().filter(|error| !matches!(error, KeyError::NoFreeIndex(_)));
        findings.extend(error.map(|error| Finding::Error(error.into())));
    }
    for slot in Slot::all() {
        if let ActiveKernels::Conflict(fallbacks) = registry.fallbacks[slot.index()].active_kernels() {
            let fallbacks = cell::kernel_sites(&fallbacks);
            findings.push(Finding::Error(ErrorKind::DuplicateFallback { key: Key::from_slot(slot), fallbacks }.into()));
        }
    }
    let mut rows: Vec<&OperatorRow> = registry.rows.iter().collect();
    rows.sort_by_key(|row| row.name);
    for row in rows {
        check_row(row, &mut findings);
    }
    findings
}

/// Returns the insertion points at which names decide which of two layers runs first.
fn name_order_findings(keys: &[&'static UserKey]) -> Vec<Finding> {
    let insertion_points =
        [InsertionPoint::Everything, InsertionPoint::Autocast, InsertionPoint::Autograd, InsertionPoint::Backends];
    let order = |above: InsertionPoint| {
        let at_point = keys.iter().copied().filter(|key| key.insertion_point() == Some(above));
        let mut placed: Vec<(u8, &UserKey)> =
            at_point.filter_map(|key| Some((key.checked_index().ok()?, key))).collect();
        placed.sort_by_key(|(place, _)| Reverse(*place));
        let is_decided = |upper: &UserKey, lower: &UserKey| upper.layers_below().any(|key| std::ptr::eq(key, lower));
        let by_name = placed.windows(2).any(|pair| !is_decided(pair[0].1, pair[1].1));
        let layers = placed.iter().map(|(_, key)| (key.name(), key.location())).collect();
        by_name.then_some(Finding::LayersOrderedByName { above, layers })
    };
    insertion_points.into_iter().filter_map(order).collect()
}

fn check_row(row: &OperatorRow, findings: &mut Vec<Finding>) {
    match row.definitions.len() {
        0 if row.cells.is_empty() => return,
        0 => findings.push(Finding::Error(row.missing_definition_error())),
        1 => findings.extend(row.kernels_of_other_definition_error(row.definitions[0]).map(Finding::Error)),
        _ => findings.push(Finding::Error(row.duplicate_definitions_error())),
    }
    for operator in &row.definitions {
        let duplicates = operator.rules().duplicates().into_iter();
        findings.extend(duplicates.map(|(rule_type, rules)| Finding::DuplicateRule {
            operator: row.name,
            rule_type,
            rules,
        }));
    }
    for (target, cell) in &row.cells {
        let is_composite = *target == SlotOrAlias::Alias(Alias::CompositeImplicitAutograd);
        if is_composite && row.definitions.len() > 1 {
            // Each definition has its own body, and the duplicate definitions are a finding already.
            continue;
        }
        if let ActiveKernels::Conflict(kernels) = cell.active_kernels() {
            findings.push(if is_composite {
                let mut kernels: Vec<Location> = kernels.iter().map(|kernel| kernel.location).collect();
                kernels.sort();
                Finding::AliasKernelBesideBody { operator: row.name, kernels }
            } else {
                Finding::Error(cell::duplicate_kernels_error(row.name, *target, &kernels))
            });
        }
    }
    if let Some(composite) = highest_precedence_kernel(row, SlotOrAlias::Alias(Alias::CompositeImplicitAutograd)) {
        check_composite(row, composite, findings);
    }
}

fn check_composite(row: &OperatorRow, composite: &KernelRegistration, findings: &mut Vec<Finding>) {
    findings.extend(replaced_autograd_finding(row, composite));
    let registered_keys = row.registered_keys();
    let differentiable =
        [Alias::Autograd, Alias::CompositeExplicitAutograd].into_iter().any(|alias| registered_keys.has_alias(alias));
    for (target, cell) in &row.cells {
        let SlotOrAlias::Slot(storage) = *target else { continue };
        let Some(kernel) = cell.kernels_by_precedence().first().copied() else { continue };
        let Some(autograd) = storage.autograd_slot() else { continue };
        let key = Key::from_slot(storage);
        if storage.is_dense() {
            let own = row.cell(SlotOrAlias::Slot(autograd)).is_some();
            if !own && !differentiable {
                let (kernel, composite) = (kernel.location, composite.location);
                findings.push(Finding::KernelDisablesAutograd { operator: row.name, backend: key, kernel, composite });
            }
        } else if autograd == Slot::for_autograd_other() && row.cell(SlotOrAlias::Slot(autograd)).is_none() {
            findings.push(Finding::AmbiguousAutogradOther { operator: row.name, storage: key });
        }
    }
}

/// Returns the finding about a derivative that never runs, because the composite serves autograd of every backend. Meta does not count: it
/// computes no results. The body of a definition may have a derivative for backends that are not linked.
fn replaced_autograd_finding(row: &OperatorRow, composite: &KernelRegistration) -> Option<Finding> {
    let autograd = highest_precedence_kernel(row, SlotOrAlias::Alias(Alias::Autograd))?;
    let computes = |target: SlotOrAlias| match target {
        SlotOrAlias::Slot(slot) => slot.is_dense() && Key::from_slot(slot) != keys::Meta,
        SlotOrAlias::Alias(alias) => alias == Alias::CompositeExplicitAutograd,
    };
    let is_body = row.definitions.iter().any(|operator| operator.location() == composite.location);
    if is_body
        || matches!(autograd.kernel, Kernel::Fallthrough)
        || row.cells.iter().any(|(target, _)| computes(*target))
    {
        return None;
    }
    Some(Finding::CompositeReplacesAutograd {
        operator: row.name,
        composite: composite.location,
        autograd: autograd.location,
    })
}

fn highest_precedence_kernel(row: &OperatorRow, target: SlotOrAlias) -> Option<&KernelRegistration> {
    row.cell(target)?.kernels_by_precedence().first().copied()
}
