//! Explanations: which kernel a call reaches, and why.
//!
//! [`Operator::explain`] computes the keys of one call again. It reports the keys of every argument and guard, the layers that were
//! skipped, the kernel that runs, and why the others do not. The error of a call without a kernel contains the same explanation in short
//! form.

use crate::error::{Error, ErrorKind, Explanation, Result, Site};
use crate::guard;
use crate::key::{Key, KeySet, Provenance, SLOTS, Slot, Target, layer_bit};
use crate::memory::backend;
use crate::operator::{Entry, Operator, Table};
use crate::registration::{Registry, bind, registry};
use crate::table::{Active, Registered, Row, cell};
use crate::tensor::Marks;
use crate::value::Value;

impl Operator {
    /// Explains which kernel a call with these arguments reaches on this thread, and why. Nothing is called.
    #[must_use]
    pub fn explain(&self, arguments: &[Value]) -> Explanation {
        let carried = self.each_carried(arguments);
        let keys = guard::call_keys(carried.iter().fold(KeySet::EMPTY, |all, &keys| all | keys));
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
        let carried = self.each_carried(arguments);
        let has_any_mark = |marks| arguments.iter().any(|argument| argument.has_any_mark(marks));
        explain(&registry::lock(), self, keys, &carried, Marks::never_set(), has_any_mark)
    }

    /// Explains which kernel a hypothetical call reaches, given its arguments' keys. Its device need not exist. `carried` has the keys of
    /// each argument that can add keys, in order; arguments missing at the end add none. `marks` are the marks of the tensors among them.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::TooManyArguments`] if `carried` has more elements than the operator has arguments that can add keys.
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
    /// let account = third::operator().explain_keys(&[keys::CUDA | keys::AutogradCUDA], None)?;
    /// assert_eq!(account.winner.unwrap().kernel, "third_cuda");
    /// assert!(third::operator().explain_keys(&[KeySet::EMPTY; 2], None).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn explain_keys(&self, carried: &[KeySet], marks: Option<Marks>) -> Result<Explanation> {
        let able: Vec<usize> = (0..self.argument_count()).filter(|&i| self.has_a_say(i)).collect();
        if carried.len() > able.len() {
            let (operator, expected, found) = (self.name(), able.len(), carried.len());
            return Err(ErrorKind::TooManyArguments { operator, expected, found }.into());
        }
        let mut of_each = vec![KeySet::EMPTY; self.argument_count()];
        for (i, &keys) in able.into_iter().zip(carried) {
            of_each[i] = keys;
        }
        let keys = guard::call_keys(carried.iter().fold(KeySet::EMPTY, |all, &keys| all | keys));
        let marks = marks.unwrap_or(Marks::NONE);
        let has_any_mark = |asked| marks.intersects(asked);
        Ok(explain(&registry::lock(), self, keys, &of_each, Marks::NONE, has_any_mark))
    }
}

/// Makes the error of a call without a kernel.
#[cold]
pub(crate) fn refusal(operator: &Operator, keys: KeySet, carried: &[KeySet]) -> Error {
    let registry = registry::lock();
    let explanation = explain(&registry, operator, keys, carried, Marks::never_set(), |_| false);
    let Ok(row) = registry.row_of(operator) else {
        return ErrorKind::NoKernel(Box::new(explanation)).into();
    };
    let slot = explanation.key.and_then(|key| key.target().ok());
    let slot = if let Some(Target::Slot(slot)) = slot { slot } else { Slot::UNDEFINED };
    match registry::active(&registry, row, slot) {
        (_, Active::Conflict(kernels), Some(target)) => cell::duplicate_kernels(row.name, target, &kernels),
        (_, Active::Conflict(fallbacks), None) => {
            ErrorKind::DuplicateFallback { key: Key::of_slot(slot), fallbacks: cell::sites(&fallbacks) }.into()
        }
        (Provenance::AmbiguousAutogradOther, ..) => ErrorKind::Ambiguous(Box::new(explanation)).into(),
        _ => ErrorKind::NoKernel(Box::new(explanation)).into(),
    }
}

/// Makes the error of a call for which no kernel's condition holds.
#[cold]
pub(crate) fn none_fits(operator: &Operator, slot: Slot) -> Error {
    let registry = registry::lock();
    let kernels = match registry.row_of(operator).map(|row| registry::active(&registry, row, slot)) {
        Ok((_, Active::Choice(kernels), _)) => kernels,
        // The registrations changed in the meantime.
        _ => Vec::new(),
    };
    let conditions = kernels.iter().filter_map(|kernel| Some((kernel.condition?.text, kernel.location))).collect();
    ErrorKind::NoneFits { operator: operator.name(), key: Key::of_slot(slot), conditions }.into()
}

fn explain(
    registry: &Registry,
    operator: &Operator,
    keys: KeySet,
    carried: &[KeySet],
    absent: Marks,
    has_any_mark: impl Fn(Marks) -> bool,
) -> Explanation {
    let union = carried.iter().fold(KeySet::EMPTY, |all, &keys| all | keys);
    let schema = operator.schema();
    let short = format!("{schema:#}");
    let names = schema.arguments.iter().map(|argument| argument.name.clone());
    let arguments =
        names.zip(carried.iter().copied()).enumerate().filter(|(i, _)| operator.has_a_say(*i)).map(|(_, pair)| pair);
    let mut explanation = Explanation {
        operator: operator.name(),
        signature: short[short.find('(').unwrap_or(0)..].to_owned(),
        location: operator.location(),
        arguments: arguments.collect(),
        included: guard::included(),
        removed: (union | guard::included()).without(guard::call_keys(union)),
        entered: guard::entered_at(),
        keys,
        redispatched: keys != guard::call_keys(union),
        masked: KeySet::EMPTY,
        key: None,
        provenance: Provenance::Missing,
        winner: None,
        candidates: Vec::new(),
        losers: Vec::new(),
        backend_is_linked: true,
        linked: backend::linked_devices(),
    };
    let Ok(row) = registry.row_of(operator) else {
        return explanation;
    };
    let table = bind::table_of(registry, row, absent);
    let is_passed =
        |slot| operator.adapters().is_some() && table.marks_for(slot).is_some_and(|marks| !has_any_mark(marks));
    let (slot, masked) = landing(&table, keys, is_passed);
    explanation.masked = masked;
    explanation.key = slot.key().map(|_| Key::of_slot(slot));
    let (provenance, active, target) = registry::active(registry, row, slot);
    explanation.provenance = provenance;
    let key = target.map_or_else(|| Key::of_slot(slot), Key::of_target);
    let site = |kernel: &Registered| Site { key, kernel: kernel.name, location: kernel.location };
    match &active {
        Active::One(kernel) => explanation.winner = Some(site(kernel)),
        Active::Choice(kernels) => {
            let candidate = |kernel: &&Registered| {
                let site = Site { key: row.key_of(kernel).unwrap_or(key), ..site(kernel) };
                (site, kernel.condition.map(|condition| condition.text))
            };
            explanation.candidates = kernels.iter().map(candidate).collect();
        }
        Active::None | Active::Conflict(_) => {}
    }
    explanation.losers = losers(row, keys, slot, &active, target);
    explanation.backend_is_linked = slot.key().is_none() || registry.serves(slot);
    explanation
}

/// Returns the slot where a call ends, and the keys that it skipped.
fn landing(table: &Table, keys: KeySet, is_passed: impl Fn(Slot) -> bool) -> (Slot, KeySet) {
    let mut left = keys;
    loop {
        let (slot, _, entry) = table.slot(left);
        if entry == Entry::Skip || is_passed(slot) {
            left = Table::below(left, slot);
        } else {
            let reached = slot.layer().map_or(KeySet::EMPTY, |layer| {
                KeySet::from_bits(keys.bits() & (layer_bit(layer) << 1).wrapping_sub(1))
            });
            return (slot, keys.without(reached));
        }
    }
}

fn losers(row: &Row, keys: KeySet, slot: Slot, active: &Active<'_>, winner: Option<Target>) -> Vec<(Site, String)> {
    let mut losers = Vec::new();
    for (target, cell) in &row.cells {
        let key = Key::of_target(*target);
        for kernel in cell.newest_first() {
            let runs = match active {
                Active::One(one) => std::ptr::eq(*one, kernel),
                Active::Choice(candidates) => candidates.iter().any(|&candidate| std::ptr::eq(candidate, kernel)),
                Active::None | Active::Conflict(_) => false,
            };
            if runs {
                continue;
            }
            let site = Site { key, kernel: kernel.name, location: kernel.location };
            losers.push((site, reason(keys, slot, *target, winner, active)));
        }
    }
    losers
}

fn reason(keys: KeySet, slot: Slot, target: Target, winner: Option<Target>, active: &Active<'_>) -> String {
    let here = Key::of_slot(slot);
    if winner == Some(target) {
        return match active {
            Active::Conflict(_) => "clashes with another kernel for the same key".to_owned(),
            _ => "displaced by another kernel for the same key".to_owned(),
        };
    }
    match target {
        Target::Slot(own) if !keys.has(Key::of_slot(own)) => "the call does not have this key".to_owned(),
        Target::Slot(own) if own < slot => format!("comes after {here}"),
        Target::Slot(_) => format!("passed over on the way to {here}"),
        Target::Alias(alias) if alias.covers(slot) || slot == Slot::UNDEFINED => {
            "something more specific is registered".to_owned()
        }
        Target::Alias(_) => format!("does not stand for {here}"),
    }
}

const _: () = assert!(SLOTS < 256, "tables number their boxed kernels by bytes");
