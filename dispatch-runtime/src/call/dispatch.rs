//! Dispatch of a typed call: the keys of the call, then the kernel for them.

use crate::error::Result;
use crate::guard;
use crate::introspection::explain;
use crate::key::{Key, KeySet, Slot};
use crate::operator::{Code, Entry, Kernel, Operation, Operator, Table, TableRef};
use crate::value::{Argument, ErasedArgument, argument};

/// Returns the keys of a call on this thread whose arguments carry `carried`.
#[inline(always)]
#[must_use]
pub fn keys(carried: KeySet) -> KeySet {
    guard::call_keys(carried)
}

/// Returns the keys that one argument carries.
#[inline(always)]
pub fn carried<'a>(argument: &impl Argument<'a>) -> KeySet {
    argument.keys()
}

/// Returns the keys of a call that runs the kernel for `key`.
pub fn keys_for(carried: KeySet, key: Key) -> Result<KeySet> {
    lowered(guard::call_keys(carried), key)
}

/// Returns the kernel for these keys, and the table that contains it.
///
/// # Safety
///
/// The kernel is called only with these keys and this table.
#[inline(always)]
#[must_use]
pub unsafe fn kernel<O: Operation>(keys: KeySet) -> (Kernel<O>, TableRef) {
    let table = O::operator().published();
    // SAFETY: `Operation` says that all code of the operator's own is of its type; `bind` adds no kernel of another operator.
    (unsafe { table.code(keys).to() }, table)
}

/// Finds the kernel for these keys, and returns it with the keys and the table to pass to it. It binds the operator, skips layers and
/// chooses between kernels. If there is no kernel, it returns the error.
#[cold]
pub(crate) fn find(
    operator: &Operator,
    mut keys: KeySet,
    holds: &mut dyn FnMut(Code) -> bool,
    arguments: &[&dyn ErasedArgument],
) -> Result<(Code, KeySet, TableRef)> {
    loop {
        let table = operator.bound_table()?;
        let (slot, mut code, mut entry) = table.slot(keys);
        if let Entry::Choose(at) = entry {
            let mut choices = table.choices[usize::from(at)].iter();
            let Some(fit) = choices.find(|choice| choice.condition.is_none_or(|when| holds(when.holds))) else {
                if operator.was_changed(table) {
                    continue;
                }
                return Err(explain::none_fits(operator, slot));
            };
            (code, entry) = fit.filling;
        }
        match entry {
            Entry::Typed | Entry::Boxed(_) => return Ok((code, keys, table.published())),
            // Nothing is below the slot for calls without keys. Its own entry is never `Skip`, but one of its choices can be.
            Entry::Skip if slot != Slot::UNDEFINED => keys = Table::below(keys, slot),
            Entry::Skip | Entry::Choose(_) | Entry::Refuse if operator.was_changed(table) => {}
            Entry::Skip | Entry::Choose(_) | Entry::Refuse => {
                let carried = operator.each_carried(argument::stack_from_arguments(arguments).values());
                return Err(explain::refusal(operator, keys, &carried));
            }
        }
    }
}

/// Returns the keys of a call that runs the kernel for `key`: the layers below `key`, and `key` itself, on its backend if it has one.
pub(crate) fn lowered(keys: KeySet, key: Key) -> Result<KeySet> {
    if key == Key::UNDEFINED {
        return Ok(KeySet::EMPTY);
    }
    key.slot()?;
    let below = keys.below(key);
    let own = KeySet::from(key);
    Ok(if own.backends().is_empty() { below | own } else { below.layers() | own })
}
