//! The call that a mode receives, and the fallback that sends calls through the active modes.

use std::cell::RefCell;
use std::sync::Arc;

use dispatch_runtime::{Explanation, KeySet, Operator, Result, Stack, Value, keys, op_fallback};

use crate::entered_modes::{EnteredMode, ModeList};
use crate::mode::ModeError;

/// The call of an operator that a mode receives in [`Mode::on_op`](crate::Mode::on_op).
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Call, Mode, with_mode};
/// use dispatch_runtime::prelude::*;
///
/// /// Repeats failed calls in double precision.
/// struct Wide;
///
/// impl Mode for Wide {
///     fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
///         let mut arguments = call.arguments().to_vec();
///         if call.pass_on().is_ok() {
///             assert_eq!(call.results().len(), call.operator().schema().returns.len());
///             return Ok(());
///         }
///         for argument in &mut arguments {
///             if let Value::Tensor(tensor) = argument {
///                 *tensor = tensor.to(DType::F64)?;
///             }
///         }
///         let results = call.operator().call(arguments)?;
///         call.set_results(results)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let (x, y) = (Tensor::from([[1.0_f32]]), Tensor::from([[2.0_f64]]));
/// assert!(x.mm(&y).is_err());
/// assert_eq!(with_mode(Wide, || x.mm(&y))?.item::<f64>()?, 2.0);
/// # Ok(())
/// # }
/// ```
pub struct Call<'a> {
    operator: &'a Operator,
    keys: KeySet,
    /// Whether the arguments may have changed, and the keys with them.
    arguments_changed: bool,
    stack: &'a mut Stack,
    /// The stack's length below the arguments. Values below belong to other calls.
    stack_base: usize,
    /// The mode that handles the call.
    entered: &'a Arc<EnteredMode>,
    /// The modes that see the calls made inside of this call.
    inner_modes: ModeList,
    /// The modes to which this mode passes the call on.
    next_modes: ModeList,
    state: CallState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallState {
    Arguments,
    /// The call was passed on, and failed or has not returned.
    PassedOn,
    Results,
}

thread_local! {
    /// The modes whose handlers are running on this thread, the innermost last.
    static ACTIVE_HANDLERS: RefCell<Vec<*const EnteredMode>> = const { RefCell::new(Vec::new()) };
}

#[op_fallback(PreDispatch)]
fn modes_fallback(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let keys = keys.below(keys::PreDispatch);
    let inner_modes = ModeList::current();
    let Some((entered, next_modes)) = inner_modes.innermost() else { return operator.redispatch_boxed(keys, stack) };
    let stack_base = stack.len().saturating_sub(operator.argument_count());
    Call {
        operator,
        keys,
        arguments_changed: false,
        stack,
        stack_base,
        entered: &entered,
        inner_modes,
        next_modes,
        state: CallState::Arguments,
    }
    .call_handler()
}

impl Call<'_> {
    /// Calls the mode's handler. While it runs, only the modes below see the calls that it makes.
    fn call_handler(&mut self) -> Result<()> {
        let _next = self.next_modes.clone().make_current();
        let _handler = HandlerGuard::begin(self.entered);
        self.entered.mode.on_op(self)?;
        match self.state {
            CallState::Results => Ok(()),
            _ => Err(ModeError::NoResults { operator: self.operator.name().to_string() }.into()),
        }
    }

    /// Passes the call on to the next mode below or, if there is none, to the layers below. All modes, this one too, see the operators that
    /// are called inside of it. Afterwards [`results`](Self::results) returns its results.
    ///
    /// # Errors
    ///
    /// Returns the error of the call if it fails, and an error if the call was passed on or given results before. The arguments are gone
    /// after a failed call; [`set_results`](Self::set_results) is still possible.
    pub fn pass_on(&mut self) -> Result<()> {
        if self.state != CallState::Arguments {
            return Err(ModeError::PassedOnTwice { operator: self.operator.name().to_string() }.into());
        }
        if let Some((entered, next_modes)) = self.next_modes.innermost() {
            let (stack, inner_modes) = (&mut *self.stack, self.inner_modes.clone());
            let mut next = Call { entered: &entered, inner_modes, next_modes, stack, ..*self };
            let result = next.call_handler();
            self.state = next.state;
            return result;
        }
        let _inside = self.inner_modes.clone().make_current();
        self.state = CallState::PassedOn;
        if self.arguments_changed {
            self.operator.call_boxed_below(keys::PreDispatch, self.stack)?;
        } else {
            self.operator.redispatch_boxed(self.keys, self.stack)?;
        }
        self.state = CallState::Results;
        Ok(())
    }

    /// Passes the call on as [`pass_on`](Self::pass_on) does, but hides the calls inside of it from this mode. Use it to count a call
    /// without its parts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`pass_on`](Self::pass_on).
    pub fn pass_on_hiding_inner_calls(&mut self) -> Result<()> {
        self.inner_modes = self.inner_modes.without_mode(self.entered);
        self.pass_on()
    }

    /// Sets the results, whether or not the call was passed on. If the schema says that a result is a written argument, pass that argument.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of results differs from that of the operator's schema.
    pub fn set_results(&mut self, results: impl IntoIterator<Item = Value>) -> Result<()> {
        let results: Vec<Value> = results.into_iter().collect();
        let (expected, found) = (self.operator.schema().returns.len(), results.len());
        if expected != found {
            return Err(
                ModeError::WrongResultCount { operator: self.operator.name().to_string(), expected, found }.into()
            );
        }
        self.stack.drop_top(self.stack.len().saturating_sub(self.stack_base));
        for result in results {
            self.stack.push(result);
        }
        self.state = CallState::Results;
        Ok(())
    }

    /// Returns the operator.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        self.operator
    }

    /// Returns the keys with which the call continues below all modes, if no arguments are changed.
    #[must_use]
    pub const fn keys(&self) -> KeySet {
        self.keys
    }

    /// Returns the arguments, or nothing after the call was passed on.
    #[must_use]
    pub fn arguments(&self) -> &[Value] {
        self.values_in_state(CallState::Arguments)
    }

    /// Returns the arguments for changes, or nothing after the call was passed on. The call then continues with the keys of the new
    /// arguments.
    pub fn arguments_mut(&mut self) -> &mut [Value] {
        self.arguments_changed = true;
        match self.state {
            CallState::Arguments => self.stack.top_mut(self.operator.argument_count()).unwrap_or_default(),
            _ => &mut [],
        }
    }

    /// Returns the results, or nothing before there are any.
    #[must_use]
    pub fn results(&self) -> &[Value] {
        self.values_in_state(CallState::Results)
    }

    fn values_in_state(&self, state: CallState) -> &[Value] {
        if self.state == state { self.stack.values().get(self.stack_base..).unwrap_or_default() } else { &[] }
    }

    /// Returns the nesting depth of the call: the number of enclosing calls that this mode has passed on.
    #[must_use]
    pub fn nesting_depth(&self) -> usize {
        let of_this = |modes: &Vec<_>| modes.iter().filter(|&&entered| entered == Arc::as_ptr(self.entered)).count();
        ACTIVE_HANDLERS.with_borrow(of_this).saturating_sub(1)
    }

    /// Explains which kernel computes the call if no layer intercepts it: the kernel of the backend, or of a composite.
    #[must_use]
    pub fn explain_kernel(&self) -> Explanation {
        self.operator.explain_redispatch(self.keys.below(keys::BackendSelect), self.arguments())
    }
}

/// A guard that lists a mode as handling a call while it lives.
struct HandlerGuard;

impl HandlerGuard {
    fn begin(entered: &Arc<EnteredMode>) -> Self {
        ACTIVE_HANDLERS.with_borrow_mut(|modes| modes.push(Arc::as_ptr(entered)));
        Self
    }
}

impl Drop for HandlerGuard {
    fn drop(&mut self) {
        _ = ACTIVE_HANDLERS.with_borrow_mut(Vec::pop);
    }
}
