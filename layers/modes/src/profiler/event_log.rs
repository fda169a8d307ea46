//! The log in which a profiler records events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::event::{Event, EventKind, thread_number};

/// All events, those that have ended and those that have not.
pub(super) struct EventLog {
    start: Instant,
    events: Mutex<Vec<Event>>,
}

impl EventLog {
    /// Creates an empty log. Its times count from now.
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), events: Mutex::default() }
    }

    /// Returns all events that have ended, by thread. An event stands before the events inside of it.
    pub(super) fn ended_events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.lock().iter().filter(|event| event.end.is_some()).cloned().collect();
        events.sort_by_key(|event| (event.thread, event.number));
        events
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn nanoseconds_since_start(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Adds an event that began at `start`. The time to record it is part of the event, so that little time lies between events.
    pub(super) fn begin_event(self: &Arc<Self>, start: u64, kind: EventKind) -> EventGuard {
        let mut events = self.lock();
        let number = events.len();
        events.push(Event { kind, number, thread: thread_number(), start, end: None });
        EventGuard { log: self.clone(), number }
    }
}

/// A guard that ends an event when it is dropped, during a panic too.
pub(super) struct EventGuard {
    log: Arc<EventLog>,
    number: usize,
}

impl Drop for EventGuard {
    fn drop(&mut self) {
        let mut events = self.log.lock();
        if let Some(event) = events.get_mut(self.number) {
            event.end = Some(self.log.nanoseconds_since_start());
        }
    }
}
