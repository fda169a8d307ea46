//! Listeners: callbacks for operators that are defined or removed.

use std::sync::{Arc, Mutex, PoisonError};

use super::registry;
use crate::operator::Operator;

/// A change of an operator, as a listener sees it.
///
/// ```
/// use dispatch_runtime::OperatorEvent;
/// assert_ne!(OperatorEvent::Defined, OperatorEvent::Removed);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperatorEvent {
    /// The operator was defined.
    Defined,
    /// The operator's definition was removed.
    Removed,
}

type OperatorListener = dyn Fn(OperatorEvent, &'static Operator) + Send + Sync;

/// The number of listeners so far, and the present ones with their ids.
static OPERATOR_LISTENERS: Mutex<(u64, Vec<ListenerEntry>)> = Mutex::new((0, Vec::new()));

type ListenerEntry = (u64, Arc<OperatorListener>);

pub(crate) fn add_listener(listener: &Arc<OperatorListener>) -> u64 {
    // Existing operators are reported once, below.
    registry::load_records();
    let id = {
        let mut listeners = OPERATOR_LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.0 += 1;
        let id = listeners.0;
        listeners.1.push((id, listener.clone()));
        id
    };
    for operator in Operator::all() {
        listener(OperatorEvent::Defined, operator);
    }
    id
}

pub(crate) fn remove_listener(id: u64) {
    let removed: Vec<_> = {
        let mut listeners = OPERATOR_LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.1.extract_if(.., |(other, _)| *other == id).collect()
    };
    // A listener's own state is dropped here, outside the lock.
    drop(removed);
}

/// Calls every listener without holding a lock: a listener may register and call operators.
pub(crate) fn notify_listeners(event: OperatorEvent, operator: &'static Operator) {
    let listeners: Vec<Arc<OperatorListener>> = {
        let listeners = OPERATOR_LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.1.iter().map(|(_, listener)| listener.clone()).collect()
    };
    for listener in listeners {
        listener(event, operator);
    }
}
