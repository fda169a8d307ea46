//! Anomaly mode: recorded calls keep their backtrace, so that an error in a backward pass names the call.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

thread_local! {
    static ANOMALY_MODE: Cell<bool> = const { Cell::new(false) };
}

/// A guard that ends anomaly mode when it is dropped, see [`detect_anomaly`].
#[must_use = "a guard that is not bound to a name is dropped at once"]
pub struct AnomalyGuard {
    was_enabled: bool,
    not_send: PhantomData<*const ()>,
}

/// Turns on anomaly mode for this thread. Each recorded call keeps its backtrace, which is slow. A backward pass that computes NaN is an
/// error, and every error of a derivative names the recorded call.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::{Differentiable, detect_anomaly};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let _watching = detect_anomaly();
/// let x = Tensor::from(-1.0).requires_grad_(true)?;
/// let y = (x.sqrt()? * 0.0)?;
/// let error = y.backward().unwrap_err().to_string();
/// assert!(error.contains("returned NaN") && error.contains("recorded"), "{error}");
/// # Ok(())
/// # }
/// ```
pub fn detect_anomaly() -> AnomalyGuard {
    AnomalyGuard { was_enabled: ANOMALY_MODE.replace(true), not_send: PhantomData }
}

/// Whether this thread is in anomaly mode.
pub(crate) fn is_enabled() -> bool {
    ANOMALY_MODE.get()
}

impl Drop for AnomalyGuard {
    fn drop(&mut self) {
        ANOMALY_MODE.set(self.was_enabled);
    }
}

/// The backtrace of a recorded call.
pub(crate) struct CallSite(Box<Backtrace>);

impl CallSite {
    /// Captures the current backtrace in anomaly mode.
    #[inline]
    pub(crate) fn capture() -> Option<Self> {
        ANOMALY_MODE.get().then(|| Self(Box::new(Backtrace::force_capture())))
    }
}

/// The crates whose frames are skipped to find the user's call.
const SKIPPED_CRATES: [&str; 8] =
    ["dispatch_autograd", "dispatch_runtime", "dispatch_transform", "aten", "std", "core", "alloc", "opdispatch"];

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let frame = lines.iter().enumerate().find_map(|(i, line)| {
            let (number, symbol) = line.split_once(": ")?;
            number.parse::<u32>().ok()?;
            let krate = symbol.trim_start_matches(['<', '&']).split("::").next()?;
            (!SKIPPED_CRATES.contains(&krate)).then_some((i, symbol))
        });
        match frame {
            Some((i, symbol)) => match lines.get(i + 1).and_then(|line| line.strip_prefix("at ")) {
                Some(location) => write!(f, "recorded by `{symbol}` at {location}"),
                None => write!(f, "recorded by `{symbol}`"),
            },
            None => write!(f, "recorded here:\n{text}"),
        }
    }
}
