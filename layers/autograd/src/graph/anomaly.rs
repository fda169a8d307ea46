//! Finding where a NaN came from: each recorded call remembers the place in the program that made it.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

thread_local! {
    static WATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Ends anomaly mode when it is dropped, see [`detect_anomaly`].
#[must_use = "a guard that is not bound to a name is dropped at once"]
pub struct AnomalyGuard {
    before: bool,
    not_send: PhantomData<*const ()>,
}

/// From now on this thread's recorded calls remember where they were made, which takes long, and a backward that gives NaN, or fails
/// in any other way, is an error that names that place.
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
/// assert!(error.contains("gave NaN") && error.contains("recorded"), "{error}");
/// # Ok(())
/// # }
/// ```
pub fn detect_anomaly() -> AnomalyGuard {
    AnomalyGuard { before: WATCHING.replace(true), not_send: PhantomData }
}

/// Whether this thread is in anomaly mode.
pub(crate) fn is_watching() -> bool {
    WATCHING.get()
}

impl Drop for AnomalyGuard {
    fn drop(&mut self) {
        WATCHING.set(self.before);
    }
}

/// Where a call was made.
pub(crate) struct Site(Box<Backtrace>);

impl Site {
    /// Here, in anomaly mode.
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        WATCHING.get().then(|| Self(Box::new(Backtrace::force_capture())))
    }
}

/// The crates between a user's call and the node that records it.
const OURS: [&str; 8] =
    ["dispatch_autograd", "dispatch_runtime", "dispatch_transform", "aten", "std", "core", "alloc", "opdispatch"];

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let frame = lines.iter().enumerate().find_map(|(i, line)| {
            let (number, symbol) = line.split_once(": ")?;
            number.parse::<u32>().ok()?;
            let krate = symbol.trim_start_matches(['<', '&']).split("::").next()?;
            (!OURS.contains(&krate)).then_some((i, symbol))
        });
        match frame {
            Some((i, symbol)) => match lines.get(i + 1).and_then(|line| line.strip_prefix("at ")) {
                Some(place) => write!(f, "recorded by `{symbol}` at {place}"),
                None => write!(f, "recorded by `{symbol}`"),
            },
            None => write!(f, "recorded here:\n{text}"),
        }
    }
}
