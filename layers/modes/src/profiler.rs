//! `Profiler`, the mode that measures the time of calls and spans.

mod event;
mod event_log;
mod summary;
mod trace;

use std::any::Any;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use dispatch_runtime::Result;

use self::event::EventKind;
use self::event_log::EventLog;
pub use self::summary::ProfileRow;
use self::trace::ArgumentInfo;
use crate::call::Call;
use crate::mode::Mode;

/// Measures the time of every call and of every [span](dispatch_runtime::span), on every thread for which it is on. It prints as a table,
/// and writes a trace for Perfetto and Chrome.
///
/// A call's time includes the layers and modes below this mode, and the recording of its arguments. The time to box a call and to run the
/// modes above, a fraction of a microsecond, is not part of the call. It counts for the call or span around it.
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
/// let rows = profiler.table_rows();
/// assert_eq!((rows.len(), rows.iter().map(|row| row.calls).sum::<u64>()), (2, 3));
/// let mut trace = Vec::new();
/// profiler.write_trace(&mut trace).unwrap();
/// println!("{}", *profiler);
/// # Ok(())
/// # }
/// ```
pub struct Profiler {
    log: Arc<EventLog>,
}

impl Profiler {
    /// Creates a profiler. The times of its trace count from now.
    #[must_use]
    pub fn new() -> Self {
        Self { log: Arc::new(EventLog::new()) }
    }

    /// Writes the trace as JSON, with the field names of PyTorch's profiler.
    ///
    /// # Errors
    ///
    /// Returns the error of the writer if writing fails.
    pub fn write_trace(&self, to: &mut impl Write) -> io::Result<()> {
        trace::write_events(to, &self.log.ended_events())
    }

    /// Returns the rows of the table, sorted by the time without inner calls and spans, the longest first.
    #[must_use]
    pub fn table_rows(&self) -> Vec<ProfileRow> {
        summary::summarise_events(&self.log.ended_events())
    }
}

impl Mode for Profiler {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        let start = self.log.nanoseconds_since_start();
        let inputs = call.arguments().iter().map(ArgumentInfo::from_value).collect();
        let _event = self.log.begin_event(start, EventKind::Call(call.operator().name(), inputs));
        call.pass_on()
    }

    fn on_span(&self, name: &dyn fmt::Display) -> Box<dyn Any> {
        let start = self.log.nanoseconds_since_start();
        Box::new(self.log.begin_event(start, EventKind::Span(name.to_string())))
    }
}

impl Default for Profiler {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        summary::write_summary(f, &self.table_rows())
    }
}
