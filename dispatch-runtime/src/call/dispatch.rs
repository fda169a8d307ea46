//! Dispatch of a typed call: the keys of the call, then the kernel for them.

use crate::error::Result;
use crate::guard;
use crate::introspection::explain;
use crate::key::{Key, KeySet, Slot};
use crate::operator::{CodePointer, Kernel, Operation, Operator, SlotKind, Table, TableRef};
use crate::value::{Argument, ErasedArgument, argument};

/// Returns the keys of a call on this thread whose arguments have these keys.
#[inline(always)]
#[must_use]
pub fn call_keys(argument_keys: KeySet) -> KeySet {
    guard::call_keys(argument_keys)
}

/// Returns the keys that one argument adds to a call.
#[inline(always)]
pub fn argument_keys<'a>(argument: &impl Argument<'a>) -> KeySet {
    argument.keys()
}

/// Returns the keys of a call that runs the kernel for `key`.
pub fn call_keys_up_to(argument_keys: KeySet, key: Key) -> Result<KeySet> {
    keys_up_to(guard::call_keys(argument_keys), key)
}

/// Returns the kernel for these keys, and the table that contains it.
///
/// # Safety
///
/// The kernel is called only with these keys and this table.
#[inline(always)]
#[must_use]
pub unsafe fn lookup_kernel<O: Operation>(keys: KeySet) -> (Kernel<O>, TableRef) {
    let table = O::operator().published_table();
    // SAFETY: `Operation` says that all code of the operator's own is of its type; `bind` adds no kernel of another operator.
    (unsafe { table.code(keys).to_fn() }, table)
}

/// Finds the kernel for these keys, and returns it with the keys and the table to pass to it. It binds the operator, skips layers and
/// chooses between kernels. If there is no kernel, it returns the error.
#[cold]
pub(crate) fn find_kernel_slow(
    operator: &Operator,
    mut keys: KeySet,
    holds: &mut dyn FnMut(CodePointer) -> bool,
    arguments: &[&dyn ErasedArgument],
) -> Result<(CodePointer, KeySet, TableRef)> {
    loop {
        let table = operator.bound_table()?;
        let (slot, mut code, mut kind) = table.lookup_slot(keys);
        if let SlotKind::Conditional(at) = kind {
            let mut candidates = table.candidates[usize::from(at)].iter();
            let Some(fit) = candidates.find(|candidate| candidate.condition.is_none_or(|when| holds(when.predicate)))
            else {
                if operator.is_table_outdated(table) {
                    continue;
                }
                return Err(explain::no_condition_holds_error(operator, slot));
            };
            (code, kind) = fit.contents;
        }
        match kind {
            SlotKind::Typed | SlotKind::Boxed(_) => return Ok((code, keys, table.table_ref())),
            // Nothing is below the slot for calls without keys. Its own entry is never `Skip`, but one of its choices can be.
            SlotKind::Skip if slot != Slot::UNDEFINED => keys = Table::keys_below(keys, slot),
            SlotKind::Skip | SlotKind::Conditional(_) | SlotKind::NoKernel if operator.is_table_outdated(table) => {}
            SlotKind::Skip | SlotKind::Conditional(_) | SlotKind::NoKernel => {
                let argument_keys = operator.keys_of_each_argument(argument::stack_from_arguments(arguments).values());
                return Err(explain::no_kernel_error(operator, keys, &argument_keys));
            }
        }
    }
}

/// Returns the keys of a call that runs the kernel for `key`: `key`, the layers of the call below it, and the backends that `key` names or,
/// if it names none, those of the call.
pub(crate) fn keys_up_to(keys: KeySet, key: Key) -> Result<KeySet> {
    if key == Key::UNDEFINED {
        return Ok(KeySet::EMPTY);
    }
    key.slot()?;
    let below = keys.below(key);
    let own = KeySet::from(key);
    Ok(if own.backends().is_empty() { below | own } else { below.layers() | own })
}
