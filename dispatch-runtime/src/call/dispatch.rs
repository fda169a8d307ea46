//! Dispatch of a typed call: the keys of the call, then the kernel for them.

use crate::error::Result;
use crate::guard;
use crate::introspection::explain;
use crate::key::{Key, KeySet, Slot};
use crate::operator::{Code, Entry, Kernel, Operation, Operator, Table, TableRef};
use crate::value::{Argument, ToValue, argument};

/// The keys of a call whose arguments carry `carried`.
#[inline(always)]
#[must_use]
pub fn keys(carried: KeySet) -> KeySet {
    guard::call_keys(carried)
}

/// The keys that one argument carries.
#[inline(always)]
pub fn carried<'a>(argument: &impl Argument<'a>) -> KeySet {
    argument.keys()
}

/// The keys of a call that is to land on `key`.
pub fn keys_for(carried: KeySet, key: Key) -> Result<KeySet> {
    lowered(guard::call_keys(carried), key)
}

/// Where a call with these keys goes, and the table that says so.
///
/// # Safety
///
/// The kernel is called with these keys and this table, if at all.
#[inline(always)]
#[must_use]
pub unsafe fn kernel<O: Operation>(keys: KeySet) -> (Kernel<O>, TableRef) {
    let table = O::operator().published();
    // SAFETY: `Operation` says that all code of the operator's own is of its type; `bind` adds no kernel of another operator.
    (unsafe { table.code(keys).to() }, table)
}

/// The kernel for these keys, and the keys and the table that it gets: binds the operator, passes over layers and chooses between kernels,
/// or says why there is none.
#[cold]
pub(crate) fn find(
    operator: &Operator,
    mut keys: KeySet,
    holds: &mut dyn FnMut(Code) -> bool,
    arguments: &[&dyn ToValue],
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
            // Below a call without keys there is nothing. A slot that always skips is not there at all; a choice may be.
            Entry::Skip if slot != Slot::UNDEFINED => keys = Table::below(keys, slot),
            Entry::Skip | Entry::Choose(_) | Entry::Refuse if operator.was_changed(table) => {}
            Entry::Skip | Entry::Choose(_) | Entry::Refuse => {
                let carried = operator.each_carried(argument::stack_of(arguments).values());
                return Err(explain::refusal(operator, keys, &carried));
            }
        }
    }
}

/// The keys of a call that is to land on `key`: the layers below it and its own, on its backend where it has one.
pub(crate) fn lowered(keys: KeySet, key: Key) -> Result<KeySet> {
    if key == Key::UNDEFINED {
        return Ok(KeySet::EMPTY);
    }
    key.slot()?;
    let below = keys.below(key);
    let own = KeySet::from(key);
    Ok(if own.backends().is_empty() { below | own } else { below.layers() | own })
}
