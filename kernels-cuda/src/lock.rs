//! Locking of a mutex, ignoring poison: for data that stays valid if a thread panics while it holds the lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
