//! Listeners: callbacks for operators that are defined or removed.

use std::sync::{Arc, Mutex, PoisonError};

use super::registry;
use crate::operator::Operator;

/// A change of an operator, as a listener sees it.
///
/// ```
/// use dispatch_runtime::Change;
/// assert_ne!(Change::Defined, Change::Removed);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// The operator was defined.
    Defined,
    /// The operator's definition was removed.
    Removed,
}

type Listener = dyn Fn(Change, &'static Operator) + Send + Sync;

/// The number of listeners so far, and the present ones with their ids.
static LISTENERS: Mutex<(u64, Vec<Numbered>)> = Mutex::new((0, Vec::new()));

type Numbered = (u64, Arc<Listener>);

pub(crate) fn add(listener: &Arc<Listener>) -> u64 {
    // Existing operators are reported once, below.
    registry::load();
    let id = {
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.0 += 1;
        let id = listeners.0;
        listeners.1.push((id, listener.clone()));
        id
    };
    for operator in Operator::all() {
        listener(Change::Defined, operator);
    }
    id
}

pub(crate) fn remove(id: u64) {
    let removed: Vec<_> = {
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.1.extract_if(.., |(other, _)| *other == id).collect()
    };
    // A listener's own state is dropped here, outside the lock.
    drop(removed);
}

/// Calls every listener without holding a lock: a listener may register and call operators.
pub(crate) fn tell(change: Change, operator: &'static Operator) {
    let listeners: Vec<Arc<Listener>> = {
        let listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.1.iter().map(|(_, listener)| listener.clone()).collect()
    };
    for listener in listeners {
        listener(change, operator);
    }
}
