//! The callbacks that run when a storage is freed.
//!
//! A storage itself has only a flag, so that a storage without callbacks costs nothing more. The callbacks are stored here, by the
//! storage's identity.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

type Watcher = Box<dyn FnOnce() + Send>;

static WATCHERS: Mutex<BTreeMap<usize, Vec<Watcher>>> = Mutex::new(BTreeMap::new());

/// Registers `then` to run when the storage of this identity is freed, which [`freed`] reports.
pub(crate) fn add(identity: usize, then: Watcher) {
    WATCHERS.lock().unwrap_or_else(PoisonError::into_inner).entry(identity).or_default().push(then);
}

/// Runs the callbacks of a freed storage. No lock is held: a callback may own storages that it frees.
#[cold]
pub(crate) fn freed(identity: usize) {
    let watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&identity);
    for then in watchers.into_iter().flatten() {
        then();
    }
}
