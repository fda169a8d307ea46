//! The mode that takes times.

mod event;
mod summary;
mod trace;

use std::any::Any;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dispatch_runtime::Result;

use self::event::{Event, What, thread};
pub use self::summary::Row;
use self::trace::Input;
use crate::call::Call;
use crate::mode::Mode;

/// Takes the time of every call and of every [span](dispatch_runtime::span), on every thread that it is on for. It prints as a table, and writes a trace
/// that Perfetto and Chrome show.
///
/// A call's time is what it took below this mode, and to note its arguments. What boxing it and the modes above take is between calls,
/// a fraction of a microsecond: it is no part of any, but of the call or span that they are inside of.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Profiler, enter};
/// use dispatch_runtime::{Result, Tensor, span};
///
/// # fn main() -> Result<()> {
/// let profiler = enter(Profiler::new());
/// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// span("twice", || x.mm(&x)?.mm(&x))?;
/// let rows = profiler.rows();
/// assert_eq!((rows.len(), rows.iter().map(|row| row.calls).sum::<u64>()), (2, 3));
/// let mut trace = Vec::new();
/// profiler.write_trace(&mut trace).unwrap();
/// println!("{}", *profiler);
/// # Ok(())
/// # }
/// ```
pub struct Profiler {
    log: Arc<Log>,
}

struct Log {
    start: Instant,
    events: Mutex<Vec<Event>>,
}

impl Profiler {
    /// Time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self { log: Arc::new(Log { start: Instant::now(), events: Mutex::default() }) }
    }

    /// The trace as JSON, with the field names of PyTorch's profiler.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn write_trace(&self, to: &mut impl Write) -> io::Result<()> {
        trace::write(to, &self.events())
    }

    /// What the table says, the longest first by what they took themselves.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        summary::rows(&self.events())
    }

    /// All that is over, each thread's in order, what is outside before what is inside.
    fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.log.lock().iter().filter(|event| event.end.is_some()).cloned().collect();
        events.sort_by_key(|event| (event.thread, event.number));
        events
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// What is written down of an event is, while the event goes on: little of it is between events.
    fn open(self: &Arc<Self>, start: u64, what: What) -> Open {
        let mut events = self.lock();
        let number = events.len();
        events.push(Event { what, number, thread: thread(), start, end: None });
        Open { log: self.clone(), number }
    }
}

/// An event that ends when this is dropped, during a panic too.
struct Open {
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

impl Mode for Profiler {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let start = self.log.now();
        let inputs = call.arguments().iter().map(Input::of).collect();
        let _open = self.log.open(start, What::Call(call.operator().name(), inputs));
        call.pass_on()
    }

    fn on_span(&self, name: &dyn fmt::Display) -> Box<dyn Any> {
        let start = self.log.now();
        Box::new(self.log.open(start, What::Span(name.to_string())))
    }
}

impl Default for Profiler {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        summary::write(f, &self.rows())
    }
}
