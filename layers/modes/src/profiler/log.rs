//! What a profiler wrote down so far.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::event::{Event, What, thread};

/// All events, over and going on.
pub(super) struct Log {
    start: Instant,
    events: Mutex<Vec<Event>>,
}

impl Log {
    /// Time begins now.
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), events: Mutex::default() }
    }

    /// All that is over, each thread's in order, what is outside before what is inside.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.lock().iter().filter(|event| event.end.is_some()).cloned().collect();
        events.sort_by_key(|event| (event.thread, event.number));
        events
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// What is written down of an event is, while the event goes on: little of it is between events.
    pub(super) fn open(self: &Arc<Self>, start: u64, what: What) -> Open {
        let mut events = self.lock();
        let number = events.len();
        events.push(Event { what, number, thread: thread(), start, end: None });
        Open { log: self.clone(), number }
    }
}

/// An event that ends when this is dropped, during a panic too.
pub(super) struct Open {
    log: Arc<Log>,
    number: usize,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut events = self.log.lock();
        if let Some(event) = events.get_mut(self.number) {
            event.end = Some(self.log.now());
        }
    }
}
