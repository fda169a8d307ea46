//! The callbacks that run when a storage is freed.
//!
//! A storage itself has only a flag, so that a storage without callbacks costs nothing more. The callbacks are stored here, by the
//! storage's identity.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

type Callback = Box<dyn FnOnce() + Send>;

static CALLBACKS_BY_STORAGE: Mutex<BTreeMap<usize, Vec<Callback>>> = Mutex::new(BTreeMap::new());

/// Registers a callback to run when the storage of this identity is freed, see [`run_callbacks`].
pub(crate) fn register_callback(identity: usize, callback: Callback) {
    CALLBACKS_BY_STORAGE.lock().unwrap_or_else(PoisonError::into_inner).entry(identity).or_default().push(callback);
}

/// Runs the callbacks of a freed storage. No lock is held: a callback may own storages that it frees.
#[cold]
pub(crate) fn run_callbacks(identity: usize) {
    let callbacks = CALLBACKS_BY_STORAGE.lock().unwrap_or_else(PoisonError::into_inner).remove(&identity);
    for callback in callbacks.into_iter().flatten() {
        callback();
    }
}
