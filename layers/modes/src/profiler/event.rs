//! The events that a profiler records.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use dispatch_runtime::Name;

use super::trace::ArgumentInfo;

/// A call or a span with its times, in nanoseconds.
#[derive(Clone)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    /// The index of the event in its log: later events have larger numbers.
    pub(super) number: usize,
    pub(super) thread: u64,
    pub(super) start: u64,
    /// The time of the end; `None` until the event ends.
    pub(super) end: Option<u64>,
}

#[derive(Clone)]
pub(super) enum EventKind {
    Call(Name<'static>, Vec<ArgumentInfo>),
    Span(String),
}

impl Event {
    pub(super) fn duration(&self) -> u64 {
        self.end.unwrap_or(self.start) - self.start
    }

    pub(super) fn name(&self) -> String {
        match &self.kind {
            EventKind::Call(name, _) => name.to_string(),
            EventKind::Span(name) => name.clone(),
        }
    }
}

/// Returns a number that identifies this thread.
pub(super) fn thread_number() -> u64 {
    static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static THREAD_NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    if THREAD_NUMBER.get() == 0 {
        THREAD_NUMBER.set(NEXT_NUMBER.fetch_add(1, Ordering::Relaxed));
    }
    THREAD_NUMBER.get()
}
