//! The nesting depth of redispatches, and its limit.
//!
//! A layer that redispatches with `keys`, and not with `keys.below(its_key)`, reaches itself again. The limit makes this an error before
//! the thread's stack overflows.

use crate::error::{ErrorKind, Result};
use crate::guard;
use crate::key::{Key, KeySet, Slot};
use crate::operator::Operator;

/// The largest number of nested redispatches on one thread. It is far above the number of layers, levels and modes that a program nests,
/// and low enough for a small stack.
const MAX_NESTED_REDISPATCHES: u32 = 500;

/// Counts one nested redispatch of this thread, or one kernel that can redispatch, until it is dropped.
pub struct RedispatchGuard(());

impl RedispatchGuard {
    /// Increments this thread's number of nested redispatches.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::EndlessRedispatch`] if too many redispatches are nested.
    #[inline]
    pub fn enter<'a>(operator: impl FnOnce() -> &'a Operator, keys: KeySet) -> Result<Self> {
        let is_endless = guard::with_redispatch_depth(|depth| {
            depth.set(depth.get() + 1);
            depth.get() > MAX_NESTED_REDISPATCHES
        });
        let entered = Self(());
        if is_endless { endless_redispatch_error(operator, keys) } else { Ok(entered) }
    }
}

impl Drop for RedispatchGuard {
    #[inline]
    fn drop(&mut self) {
        guard::with_redispatch_depth(|depth| depth.set(depth.get() - 1));
    }
}

#[cold]
fn endless_redispatch_error<'a>(operator: impl FnOnce() -> &'a Operator, keys: KeySet) -> Result<RedispatchGuard> {
    let operator = operator();
    let slot =
        operator.bound_table().map_or_else(|_| Slot::from_key_bits(keys.bits()), |table| table.lookup_slot(keys).0);
    let key = slot.layer_and_backend().map(|_| Key::from_slot(slot));
    Err(ErrorKind::EndlessRedispatch { operator: operator.name(), key, depth: MAX_NESTED_REDISPATCHES }.into())
}
