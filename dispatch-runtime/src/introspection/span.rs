//! Spans: named parts of a program, for profilers and traces.

use std::any::Any;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A listener that is called on the thread with a span's name when the span begins. The returned value is dropped at the span's end.
pub type OnSpan = fn(&dyn Display) -> Box<dyn Any>;

static LISTENERS: Mutex<Vec<OnSpan>> = Mutex::new(Vec::new());
static ANY: AtomicBool = AtomicBool::new(false);

/// Runs `part` as a span with this name, which profiles and printed traces show. The name is formatted only if there is a listener.
///
/// ```
/// let sum = dispatch_runtime::span("sum", || 1 + 2);
/// assert_eq!(sum, 3);
/// ```
#[inline]
pub fn span<R>(name: impl Display, part: impl FnOnce() -> R) -> R {
    let _open = ANY.load(Ordering::Relaxed).then(|| open(&name));
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
pub fn on_span(listener: OnSpan) {
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    ANY.store(true, Ordering::Relaxed);
}

#[cold]
fn open(name: &dyn Display) -> Ends {
    let listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ends(listeners.into_iter().map(|listener| listener(name)).collect())
}

/// The values that the listeners of one span returned, dropped in reverse order.
struct Ends(Vec<Box<dyn Any>>);

impl Drop for Ends {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local!(static EVENTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

    struct End(String);

    impl Drop for End {
        fn drop(&mut self) {
            EVENTS.with_borrow_mut(|events| events.push(format!("end of {}", self.0)));
        }
    }

    #[test]
    fn a_part_ends_during_a_panic_and_before_what_it_is_inside_of() {
        on_span(|name| {
            EVENTS.with_borrow_mut(|events| events.push(name.to_string()));
            Box::new(End(name.to_string()))
        });
        let caught = std::panic::catch_unwind(|| span("outside", || span("inside", || panic!("there"))));
        assert!(caught.is_err());
        assert_eq!(EVENTS.take(), ["outside", "inside", "end of inside", "end of outside"]);
    }
}
