//! The trait `Mode`, and the errors of modes that break its rules.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use dispatch_runtime::{Error, Result};

use crate::call::Call;

/// A handler of operator calls: it observes calls, and passes them on or replaces their results.
///
/// A mode may be on for several threads, and for calls inside of a call that it has passed on. So it must hold no lock while it passes a
/// call on.
///
/// ```
/// # use kernels_cpu as _;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use aten::prelude::*;
/// use dispatch_modes::{Call, Mode, enter};
/// use dispatch_runtime::{Result, Tensor};
///
/// #[derive(Default)]
/// struct Count(AtomicUsize);
///
/// impl Mode for Count {
///     fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         call.pass_on()
///     }
/// }
///
/// let count = enter(Count::default());
/// Tensor::from([1.0, 2.0]).exp().unwrap();
/// assert_eq!(count.0.load(Ordering::Relaxed), 1);
/// ```
pub trait Mode: Send + Sync {
    /// Handles a call: passes it on with [`Call::pass_on`], or sets its results with [`Call::set_results`].
    ///
    /// # Errors
    ///
    /// An implementation returns the error with which the call is to fail. A call also fails if it was neither passed on nor given results.
    fn on_op(&self, call: &mut Call<'_>) -> Result<()>;

    /// Handles the start of a [`span`](dispatch_runtime::span), a named part of the program; backward passes make spans, too. The result
    /// is dropped at the end of the span.
    fn on_span(&self, _name: &dyn fmt::Display) -> Box<dyn Any> {
        Box::new(())
    }
}

impl<M: Mode + ?Sized> Mode for Arc<M> {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        (**self).on_op(call)
    }

    fn on_span(&self, name: &dyn fmt::Display) -> Box<dyn Any> {
        (**self).on_span(name)
    }
}

/// The error of a mode that breaks the rules for a call.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Call, Mode, with_mode};
/// use dispatch_runtime::{Result, Tensor};
///
/// struct Forgetful;
///
/// impl Mode for Forgetful {
///     fn on_op(&self, _: &mut Call<'_>) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// let error = with_mode(Forgetful, || Tensor::from(1.0).exp()).unwrap_err();
/// assert!(error.to_string().contains("call `pass_on`"), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ModeError {
    /// The mode neither passed the call on nor set its results.
    NoResults {
        /// The name of the operator.
        operator: String,
    },
    /// The mode passed the call on after it had passed it on, or set its results, before.
    PassedOnTwice {
        /// The name of the operator.
        operator: String,
    },
    /// The mode set more or fewer results than the operator has.
    WrongResultCount {
        /// The name of the operator.
        operator: String,
        /// The number of results of the operator.
        expected: usize,
        /// The number of results that the mode set.
        found: usize,
    },
}

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResults { operator } => {
                write!(f, "a mode left the call of `{operator}` without results; call `pass_on` or `set_results`")
            }
            Self::PassedOnTwice { operator } => write!(
                f,
                "a mode passed the call of `{operator}` on after it had already passed it on or set its results; to call the operator twice, clone \
                 the arguments and call it with `operator().call(..)`"
            ),
            Self::WrongResultCount { operator, expected, found } => {
                write!(f, "a mode set {found} results of `{operator}`, which has {expected}")
            }
        }
    }
}

impl std::error::Error for ModeError {}

impl From<ModeError> for Error {
    #[cold]
    fn from(error: ModeError) -> Self {
        Self::kernel(error)
    }
}
