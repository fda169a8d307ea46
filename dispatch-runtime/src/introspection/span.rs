//! Spans: named parts of a program, for profilers and traces.

use std::any::Any;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A listener that is called on the thread with a span's name when the span begins. The returned value is dropped at the span's end.
pub type SpanListener = fn(&dyn Display) -> Box<dyn Any>;

static SPAN_LISTENERS: Mutex<Vec<SpanListener>> = Mutex::new(Vec::new());
static HAS_SPAN_LISTENERS: AtomicBool = AtomicBool::new(false);

/// Runs `part` as a span with this name, which profiles and printed traces show. The name is formatted only if there is a listener.
///
/// ```
/// let sum = dispatch_runtime::span("sum", || 1 + 2);
/// assert_eq!(sum, 3);
/// ```
#[inline]
pub fn span<R>(name: impl Display, part: impl FnOnce() -> R) -> R {
    let _span = HAS_SPAN_LISTENERS.load(Ordering::Relaxed).then(|| begin_span(&name));
    part()
}

/// Registers a listener for every later [`span`], on all threads.
///
/// ```
/// use std::cell::RefCell;
/// use dispatch_runtime::{on_span, span};
///
/// thread_local!(static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });
///
/// on_span(|name| {
///     SEEN.with_borrow_mut(|seen| seen.push(name.to_string()));
///     Box::new(())
/// });
/// span("outside", || span(format_args!("inside, {}", 1), || ()));
/// assert_eq!(SEEN.take(), ["outside", "inside, 1"]);
/// ```
pub fn on_span(listener: SpanListener) {
    SPAN_LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    HAS_SPAN_LISTENERS.store(true, Ordering::Relaxed);
}

#[cold]
fn begin_span(name: &dyn Display) -> OpenSpan {
    let listeners = SPAN_LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    OpenSpan(listeners.into_iter().map(|listener| listener(name)).collect())
}

/// The values that the listeners of one span returned, dropped in reverse order.
struct OpenSpan(Vec<Box<dyn Any>>);

impl Drop for OpenSpan {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local!(static EVENTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

    struct EndRecorder(String);

    impl Drop for EndRecorder {
        fn drop(&mut self) {
            EVENTS.with_borrow_mut(|events| events.push(format!("end of {}", self.0)));
        }
    }

    #[test]
    fn a_panic_ends_open_spans_from_the_inside_out() {
        on_span(|name| {
            EVENTS.with_borrow_mut(|events| events.push(name.to_string()));
            Box::new(EndRecorder(name.to_string()))
        });
        let caught = std::panic::catch_unwind(|| span("outside", || span("inside", || panic!("there"))));
        assert!(caught.is_err());
        assert_eq!(EVENTS.take(), ["outside", "inside", "end of inside", "end of outside"]);
    }
}
