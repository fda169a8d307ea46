//! The guard state of a thread, copied to another thread.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use super::{Guard, GuardState, UndoAction, load_guard_state, store_guard_state};

/// A copy of one thread's guard state, for use on another thread.
///
/// ```
/// use dispatch_runtime::guard::{self, ThreadState};
///
/// let _inference = guard::inference_mode();
/// let state = ThreadState::capture();
/// let worker = std::thread::spawn(move || state.run(guard::is_inference_mode));
/// assert!(worker.join().unwrap());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ThreadState {
    state: GuardState,
}

impl ThreadState {
    /// Returns a copy of this thread's state.
    ///
    /// ```
    /// let state = dispatch_runtime::guard::ThreadState::capture();
    /// ```
    #[inline]
    #[must_use]
    pub fn capture() -> Self {
        Self { state: load_guard_state() }
    }

    /// Replaces this thread's state until the guard is dropped. The guard must be dropped after every guard that was made under it.
    ///
    /// ```
    /// # use dispatch_runtime::guard::{self, ThreadState};
    /// let outside = ThreadState::capture();
    /// let _inference = guard::inference_mode();
    /// let _outside_again = outside.enter();
    /// assert!(!guard::is_inference_mode());
    /// ```
    pub fn enter(self) -> Guard {
        let before = load_guard_state();
        store_guard_state(self.state);
        Guard::new(UndoAction::WholeState(before))
    }

    /// Runs `f` in this state. Jobs on a thread pool, such as rayon's, are wrapped in this.
    ///
    /// ```
    /// # use dispatch_runtime::guard::{self, ThreadState};
    /// let outside = ThreadState::capture();
    /// let _inference = guard::inference_mode();
    /// assert!(!outside.run(guard::is_inference_mode));
    /// ```
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        let _state = self.enter();
        f()
    }
}

/// A closure that installs a layer's thread-local state on another thread. The state lasts as long as the returned value.
pub type InstallState = Box<dyn FnOnce() -> Box<dyn Any> + Send>;

/// The functions that capture thread-local state, one per layer.
static CAPTURE_FUNCTIONS: Mutex<Vec<fn() -> InstallState>> = Mutex::new(Vec::new());

/// Registers a function that captures a layer's thread-local state. Threads that [`spawn`] starts afterwards inherit this state.
///
/// ```
/// use std::cell::Cell;
/// use dispatch_runtime::guard;
///
/// thread_local!(static COLOUR: Cell<u8> = const { Cell::new(0) });
///
/// guard::register_inherited_state(|| {
///     let colour = COLOUR.get();
///     Box::new(move || Box::new(COLOUR.set(colour)))
/// });
/// COLOUR.set(7);
/// assert_eq!(guard::spawn(|| COLOUR.get()).join().unwrap(), 7);
/// ```
pub fn register_inherited_state(capture: fn() -> InstallState) {
    CAPTURE_FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).push(capture);
}

/// Starts a thread that inherits this thread's guards, which a plain `std::thread::spawn` does not.
///
/// ```
/// use dispatch_runtime::guard;
/// let _inference = guard::inference_mode();
/// assert!(guard::spawn(guard::is_inference_mode).join().unwrap());
/// ```
pub fn spawn<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> std::thread::JoinHandle<R> {
    let state = ThreadState::capture();
    let captures = CAPTURE_FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let installers: Vec<InstallState> = captures.into_iter().map(|capture| capture()).collect();
    std::thread::spawn(move || {
        let _installed: Vec<_> = installers.into_iter().map(|install| install()).collect();
        state.run(f)
    })
}

#[cfg(test)]
mod tests {
    use crate::guard::grad_mode::{inference_mode, is_inference_mode};

    #[test]
    fn a_plain_thread_starts_with_the_default_state() {
        let _inference = inference_mode();
        assert!(!std::thread::spawn(is_inference_mode).join().unwrap());
    }
}
