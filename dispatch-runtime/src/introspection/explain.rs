//! Explanations: which kernel a call reaches, and why.
//!
//! [`Operator::explain`] computes the keys of one call again. It reports the keys of every argument and guard, the layers that were
//! skipped, the kernel that runs, and why the others do not. The error of a call without a kernel contains the same explanation in short
//! form.

use crate::error::{Error, ErrorKind, Explanation, KernelSite, Result};
use crate::guard;
use crate::key::{Key, KeySet, Provenance, SLOT_COUNT, Slot, SlotOrAlias, layer_bit};
use crate::memory::backend;
use crate::operator::{Operator, SlotKind, Table};
use crate::registration::{Registry, bind, registry};
use crate::table::{ActiveKernels, KernelRegistration, OperatorRow, cell};
use crate::tensor::Marks;
use crate::value::Value;

impl Operator {
    /// Explains which kernel a call with these arguments reaches on this thread, and why. Nothing is called.
    #[must_use]
    pub fn explain(&self, arguments: &[Value]) -> Explanation {
        let argument_keys = self.keys_of_each_argument(arguments);
        let keys = guard::call_keys(argument_keys.iter().fold(KeySet::EMPTY, |all, &keys| all | keys));
        self.explain_redispatch(keys, arguments)
    }

    /// Explains which kernel a layer's redispatch with these keys reaches, and why. Nothing is called.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("unchanged(Tensor self) -> Tensor")]
    /// pub fn unchanged(this: &Tensor) -> Result<Tensor> { Ok(this.clone()) }
    ///
    /// let x = Tensor::from_slice(&[1.0_f32]);
    /// let account = unchanged::operator().explain_redispatch(KeySet::from(keys::CPU), &[(&x).into()]);
    /// assert_eq!(account.winner.unwrap().key, keys::CompositeImplicitAutograd);
    /// ```
    #[must_use]
    pub fn explain_redispatch(&self, keys: KeySet, arguments: &[Value]) -> Explanation {
        let argument_keys = self.keys_of_each_argument(arguments);
        let has_any_mark = |marks| arguments.iter().any(|argument| argument.has_any_mark(marks));
        explain_call(&registry::lock(), self, keys, &argument_keys, Marks::never_set(), has_any_mark)
    }

    /// Explains which kernel a hypothetical call reaches, given its arguments' keys. Its device need not exist. `argument_keys` has the
    /// keys of each argument that can add keys, in order; arguments missing at the end add none. `marks` are the marks of the tensors among
    /// them.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::TooManyArguments`] if `argument_keys` has more elements than the operator has arguments that can add keys.
    ///
    /// ```
    /// use dispatch_runtime::prelude::*;
    ///
    /// #[op_def("third(Tensor self, int times) -> Tensor")]
    /// pub fn third(this: &Tensor, times: i64) -> Result<Tensor>;
    ///
    /// #[op_impl(third, CUDA)]
    /// fn third_cuda(this: &Tensor, _: i64) -> Tensor { this.clone() }
    ///
    /// let account = third::operator().explain_call_with_keys(&[keys::CUDA | keys::AutogradCUDA], None)?;
    /// assert_eq!(account.winner.unwrap().kernel, "third_cuda");
    /// assert!(third::operator().explain_call_with_keys(&[KeySet::EMPTY; 2], None).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explain_call_with_keys(&self, argument_keys: &[KeySet], marks: Option<Marks>) -> Result<Explanation> {
        let key_arguments: Vec<usize> = (0..self.argument_count()).filter(|&i| self.can_argument_add_keys(i)).collect();
        if argument_keys.len() > key_arguments.len() {
            let (operator, expected, found) = (self.name(), key_arguments.len(), argument_keys.len());
            return Err(ErrorKind::TooManyArguments { operator, expected, found }.into());
        }
        let mut keys_of_each_argument = vec![KeySet::EMPTY; self.argument_count()];
        for (i, &keys) in key_arguments.into_iter().zip(argument_keys) {
            keys_of_each_argument[i] = keys;
        }
        let keys = guard::call_keys(argument_keys.iter().fold(KeySet::EMPTY, |all, &keys| all | keys));
        let marks = marks.unwrap_or(Marks::NONE);
        let has_any_mark = |asked| marks.intersects(asked);
        Ok(explain_call(&registry::lock(), self, keys, &keys_of_each_argument, Marks::NONE, has_any_mark))
    }
}

/// Makes the error of a call without a kernel.
#[cold]
pub(crate) fn no_kernel_error(operator: &Operator, keys: KeySet, argument_keys: &[KeySet]) -> Error {
    let registry = registry::lock();
    let explanation = explain_call(&registry, operator, keys, argument_keys, Marks::never_set(), |_| false);
    let Ok(row) = registry.row_of_operator(operator) else {
        return ErrorKind::NoKernel(Box::new(explanation)).into();
    };
    let slot = explanation.key.and_then(|key| key.slot_or_alias().ok());
    let slot = if let Some(SlotOrAlias::Slot(slot)) = slot { slot } else { Slot::UNDEFINED };
    match registry::kernels_with_provenance(&registry, row, slot) {
        (_, ActiveKernels::Conflict(kernels), Some(target)) => {
            cell::duplicate_kernels_error(row.name, target, &kernels)
        }
        (_, ActiveKernels::Conflict(fallbacks), None) => {
            ErrorKind::DuplicateFallback { key: Key::from_slot(slot), fallbacks: cell::kernel_sites(&fallbacks) }.into()
        }
        (Provenance::AmbiguousAutogradOther, ..) => ErrorKind::AmbiguousAutogradOther(Box::new(explanation)).into(),
        _ => ErrorKind::NoKernel(Box::new(explanation)).into(),
    }
}

/// Makes the error of a call for which no kernel's condition holds.
#[cold]
pub(crate) fn no_condition_holds_error(operator: &Operator, slot: Slot) -> Error {
    let registry = registry::lock();
    let kernels =
        match registry.row_of_operator(operator).map(|row| registry::kernels_with_provenance(&registry, row, slot)) {
            Ok((_, ActiveKernels::Conditional(kernels), _)) => kernels,
            // The registrations changed in the meantime.
            _ => Vec::new(),
        };
    let conditions = kernels.iter().filter_map(|kernel| Some((kernel.condition?.text, kernel.location))).collect();
    ErrorKind::NoConditionHolds { operator: operator.name(), key: Key::from_slot(slot), conditions }.into()
}

fn explain_call(
    registry: &Registry,
    operator: &Operator,
    keys: KeySet,
    argument_keys: &[KeySet],
    absent: Marks,
    has_any_mark: impl Fn(Marks) -> bool,
) -> Explanation {
    let union = argument_keys.iter().fold(KeySet::EMPTY, |all, &keys| all | keys);
    let schema = operator.schema();
    let short = format!("{schema:#}");
    let names = schema.arguments.iter().map(|argument| argument.name.clone());
    let arguments = names
        .zip(argument_keys.iter().copied())
        .enumerate()
        .filter(|(i, _)| operator.can_argument_add_keys(*i))
        .map(|(_, pair)| pair);
    let mut explanation = Explanation {
        operator: operator.name(),
        signature: short[short.find('(').unwrap_or(0)..].to_owned(),
        location: operator.location(),
        arguments: arguments.collect(),
        included: guard::included(),
        removed: (union | guard::included()).without(guard::call_keys(union)),
        innermost_guard: guard::innermost_guard_location(),
        keys,
        redispatched: keys != guard::call_keys(union),
        skipped: KeySet::EMPTY,
        key: None,
        provenance: Provenance::Missing,
        winner: None,
        candidates: Vec::new(),
        losers: Vec::new(),
        backend_is_linked: true,
        linked_devices: backend::linked_devices(),
    };
    let Ok(row) = registry.row_of_operator(operator) else {
        return explanation;
    };
    let table = bind::build_unpublished_table(registry, row, absent);
    let is_skipped = |slot| {
        operator.typed_adapters().is_some()
            && table.marks_that_prevent_skip(slot).is_some_and(|marks| !has_any_mark(marks))
    };
    let (slot, skipped) = final_slot(&table, keys, is_skipped);
    explanation.skipped = skipped;
    explanation.key = slot.layer_and_backend().map(|_| Key::from_slot(slot));
    let (provenance, active, target) = registry::kernels_with_provenance(registry, row, slot);
    explanation.provenance = provenance;
    let key = target.map_or_else(|| Key::from_slot(slot), Key::from_slot_or_alias);
    let site = |kernel: &KernelRegistration| KernelSite { key, kernel: kernel.name, location: kernel.location };
    match &active {
        ActiveKernels::One(kernel) => explanation.winner = Some(site(kernel)),
        ActiveKernels::Conditional(kernels) => {
            let candidate = |kernel: &&KernelRegistration| {
                let site = KernelSite { key: row.key_of_kernel(kernel).unwrap_or(key), ..site(kernel) };
                (site, kernel.condition.map(|condition| condition.text))
            };
            explanation.candidates = kernels.iter().map(candidate).collect();
        }
        ActiveKernels::None | ActiveKernels::Conflict(_) => {}
    }
    explanation.losers = losing_kernels(row, keys, slot, &active, target);
    explanation.backend_is_linked = slot.layer_and_backend().is_none() || registry.has_any_kernel_for(slot);
    explanation
}

/// Returns the slot where a call ends, and the keys that it skipped.
fn final_slot(table: &Table, keys: KeySet, is_skipped: impl Fn(Slot) -> bool) -> (Slot, KeySet) {
    let mut left = keys;
    loop {
        let (slot, _, kind) = table.lookup_slot(left);
        if kind == SlotKind::Skip || is_skipped(slot) {
            left = Table::keys_below(left, slot);
        } else {
            let reached = slot.layer().map_or(KeySet::EMPTY, |layer| {
                KeySet::from_bits(keys.bits() & (layer_bit(layer) << 1).wrapping_sub(1))
            });
            return (slot, keys.without(reached));
        }
    }
}

fn losing_kernels(
    row: &OperatorRow,
    keys: KeySet,
    slot: Slot,
    active: &ActiveKernels<'_>,
    winner: Option<SlotOrAlias>,
) -> Vec<(KernelSite, String)> {
    let mut losers = Vec::new();
    for (target, cell) in &row.cells {
        let key = Key::from_slot_or_alias(*target);
        for kernel in cell.kernels_by_precedence() {
            let runs = match active {
                ActiveKernels::One(one) => std::ptr::eq(*one, kernel),
                ActiveKernels::Conditional(candidates) => {
                    candidates.iter().any(|&candidate| std::ptr::eq(candidate, kernel))
                }
                ActiveKernels::None | ActiveKernels::Conflict(_) => false,
            };
            if runs {
                continue;
            }
            let site = KernelSite { key, kernel: kernel.name, location: kernel.location };
            losers.push((site, reason_not_run(keys, slot, *target, winner, active)));
        }
    }
    losers
}

fn reason_not_run(
    keys: KeySet,
    slot: Slot,
    target: SlotOrAlias,
    winner: Option<SlotOrAlias>,
    active: &ActiveKernels<'_>,
) -> String {
    let here = Key::from_slot(slot);
    if winner == Some(target) {
        return match active {
            ActiveKernels::Conflict(_) => "clashes with another kernel for the same key".to_owned(),
            _ => "replaced by another kernel for the same key".to_owned(),
        };
    }
    match target {
        SlotOrAlias::Slot(own) if !keys.has(Key::from_slot(own)) => "the call does not have this key".to_owned(),
        SlotOrAlias::Slot(own) if own < slot => format!("is below {here}"),
        SlotOrAlias::Slot(_) => format!("skipped before {here}"),
        SlotOrAlias::Alias(alias) if alias.covers(slot) || slot == Slot::UNDEFINED => {
            "a more specific kernel is registered".to_owned()
        }
        SlotOrAlias::Alias(_) => format!("does not cover {here}"),
    }
}

const _: () = assert!(SLOT_COUNT < 256, "tables number their boxed kernels by bytes");
