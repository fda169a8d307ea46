//! The events that a profiler records.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use dispatch_runtime::Name;

use super::trace::Input;

/// A call or a span with its times, in nanoseconds.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) what: What,
    /// The index of the event in its log: later events have larger numbers.
    pub(super) number: usize,
    pub(super) thread: u64,
    pub(super) start: u64,
    /// The end; `None` until the event ends.
    pub(super) end: Option<u64>,
}

#[derive(Clone)]
pub(super) enum What {
    Call(Name<'static>, Vec<Input>),
    Span(String),
}

impl Event {
    pub(super) fn took(&self) -> u64 {
        self.end.unwrap_or(self.start) - self.start
    }

    pub(super) fn name(&self) -> String {
        match &self.what {
            What::Call(name, _) => name.to_string(),
            What::Span(name) => name.clone(),
        }
    }
}

/// Returns a number that identifies this thread.
pub(super) fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    if NUMBER.get() == 0 {
        NUMBER.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}
