//! Who wants to know when memory is freed.
//!
//! A storage itself has only a flag, so that one that nobody watches pays for no more. Who watches is here, by the storage's identity.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

type Watcher = Box<dyn FnOnce() + Send>;

static WATCHERS: Mutex<BTreeMap<usize, Vec<Watcher>>> = Mutex::new(BTreeMap::new());

/// Runs `then` when the storage of this identity is freed, which is told by [`freed`].
pub(crate) fn add(identity: usize, then: Watcher) {
    WATCHERS.lock().unwrap_or_else(PoisonError::into_inner).entry(identity).or_default().push(then);
}

/// Tells everybody, with nothing locked: what a watcher owns may have memory of its own.
#[cold]
pub(crate) fn freed(identity: usize) {
    let watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&identity);
    for then in watchers.into_iter().flatten() {
        then();
    }
}
