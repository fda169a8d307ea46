//! Detection of calls on threads that a traced function starts.
//!
//! Such threads inherit the layer but not the trace, which belongs to its thread. Without this check, their results would be recorded as
//! constants.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, Once, PoisonError};

use dispatch_runtime::Operator;
use dispatch_runtime::guard::{self, InstallState};

use super::TRACE_SESSIONS;
use crate::error::TraceError;

thread_local! {
    /// The traces of the threads that started this one.
    static PARENT_TRACES: RefCell<Vec<OtherThreadCall>> = const { RefCell::new(Vec::new()) };
}

/// The first operator that was called on another thread.
#[derive(Clone, Default)]
pub(super) struct OtherThreadCall(Arc<Mutex<Option<String>>>);

impl OtherThreadCall {
    pub(super) fn take_error(&self) -> Option<TraceError> {
        let operator = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(TraceError::CallOnOtherThread { operator })
    }
}

/// Makes threads inherit the traces of the threads that start them, from the first trace on.
pub(super) fn register_trace_inheritance() {
    static REGISTER_ONCE: Once = Once::new();
    REGISTER_ONCE.call_once(|| guard::register_inherited_state(capture_traces_for_new_thread));
}

fn capture_traces_for_new_thread() -> InstallState {
    let here =
        TRACE_SESSIONS.with_borrow(|sessions| sessions.iter().map(|session| session.other_thread.clone()).collect());
    let parents: Vec<OtherThreadCall> = [here, PARENT_TRACES.with_borrow(Clone::clone)].concat();
    Box::new(|| {
        PARENT_TRACES.set(parents);
        Box::new(())
    })
}

/// Reports a call on this thread to the traces of the threads that started it.
pub(super) fn report_call_to_parents(operator: &Operator) {
    PARENT_TRACES.with_borrow(|traces| {
        for OtherThreadCall(call) in traces {
            call.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| operator.name().to_string());
        }
    });
}
