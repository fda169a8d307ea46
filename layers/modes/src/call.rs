//! The call that a mode receives, and the fallback that sends calls through the active modes.

use std::cell::RefCell;
use std::sync::Arc;

use dispatch_runtime::{Explanation, KeySet, Operator, Result, Stack, Value, keys, op_fallback};

use crate::mode::ModeError;
use crate::scope::{Modes, Scope};

/// The call of an operator that a mode receives in [`Mode::on_op`](crate::Mode::on_op).
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Call, Mode, with};
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
///         call.give(results)
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let (x, y) = (Tensor::from([[1.0_f32]]), Tensor::from([[2.0_f64]]));
/// assert!(x.mm(&y).is_err());
/// assert_eq!(with(Wide, || x.mm(&y))?.item::<f64>()?, 2.0);
/// # Ok(())
/// # }
/// ```
pub struct Call<'a> {
    operator: &'a Operator,
    keys: KeySet,
    /// Whether the arguments may have changed, and the keys with them.
    changed: bool,
    stack: &'a mut Stack,
    /// The stack's length below the arguments. Values below belong to other calls.
    base: usize,
    /// The mode that handles the call.
    scope: &'a Arc<Scope>,
    /// The modes that see the calls made inside of this call.
    inside: Modes,
    /// The modes to which this mode passes the call on.
    below: Modes,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Arguments,
    /// The call was passed on, and failed or has not returned.
    Away,
    Results,
}

thread_local! {
    /// The modes whose handlers are running on this thread, the innermost last.
    static HANDLING: RefCell<Vec<*const Scope>> = const { RefCell::new(Vec::new()) };
}

#[op_fallback(PreDispatch)]
fn modes(operator: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    let keys = keys.below(keys::PreDispatch);
    let inside = Modes::current();
    let Some((scope, below)) = inside.innermost() else { return operator.redispatch_boxed(keys, stack) };
    let base = stack.len().saturating_sub(operator.argument_count());
    Call { operator, keys, changed: false, stack, base, scope: &scope, inside, below, state: State::Arguments }.handle()
}

impl Call<'_> {
    /// Calls the mode's handler. While it runs, only the modes below see the calls that it makes.
    fn handle(&mut self) -> Result<()> {
        let _aside = self.below.clone().set();
        let _handling = Handling::begin(self.scope);
        self.scope.mode.on_op(self)?;
        match self.state {
            State::Results => Ok(()),
            _ => Err(ModeError::NoResults { operator: self.operator.name().to_string() }.into()),
        }
    }

    /// Passes the call on to the next mode below or, if there is none, to the layers below. All modes, this one too, see the operators that
    /// are called inside of it. Afterwards [`results`](Self::results) returns its results.
    ///
    /// # Errors
    ///
    /// Returns the error of the call if it fails, and an error if the call was passed on or given results before. The arguments are gone
    /// after a failed call; [`give`](Self::give) is still possible.
    pub fn pass_on(&mut self) -> Result<()> {
        if self.state != State::Arguments {
            return Err(ModeError::PassedOnAgain { operator: self.operator.name().to_string() }.into());
        }
        if let Some((scope, below)) = self.below.innermost() {
            let (stack, inside) = (&mut *self.stack, self.inside.clone());
            let mut next = Call { scope: &scope, inside, below, stack, ..*self };
            let result = next.handle();
            self.state = next.state;
            return result;
        }
        let _inside = self.inside.clone().set();
        self.state = State::Away;
        if self.changed {
            self.operator.call_boxed_below(keys::PreDispatch, self.stack)?;
        } else {
            self.operator.redispatch_boxed(self.keys, self.stack)?;
        }
        self.state = State::Results;
        Ok(())
    }

    /// Passes the call on as [`pass_on`](Self::pass_on) does, but hides the calls inside of it from this mode. Use it to count a call
    /// without its parts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`pass_on`](Self::pass_on).
    pub fn pass_on_whole(&mut self) -> Result<()> {
        self.inside = self.inside.without(self.scope);
        self.pass_on()
    }

    /// Sets the results, whether or not the call was passed on. If the schema says that a result is a written argument, pass that argument.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of results differs from that of the operator's schema.
    pub fn give(&mut self, results: impl IntoIterator<Item = Value>) -> Result<()> {
        let results: Vec<Value> = results.into_iter().collect();
        let (expected, found) = (self.operator.schema().returns.len(), results.len());
        if expected != found {
            return Err(ModeError::WrongCount { operator: self.operator.name().to_string(), expected, found }.into());
        }
        self.stack.drop_top(self.stack.len().saturating_sub(self.base));
        for result in results {
            self.stack.push(result);
        }
        self.state = State::Results;
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
        self.values(State::Arguments)
    }

    /// Returns the arguments for changes, or nothing after the call was passed on. The call then continues with the keys of the new
    /// arguments.
    pub fn arguments_mut(&mut self) -> &mut [Value] {
        self.changed = true;
        match self.state {
            State::Arguments => self.stack.top_mut(self.operator.argument_count()).unwrap_or_default(),
            _ => &mut [],
        }
    }

    /// Returns the results, or nothing before there are any.
    #[must_use]
    pub fn results(&self) -> &[Value] {
        self.values(State::Results)
    }

    fn values(&self, state: State) -> &[Value] {
        if self.state == state { self.stack.values().get(self.base..).unwrap_or_default() } else { &[] }
    }

    /// Returns how many calls that this mode has passed on enclose the call.
    #[must_use]
    pub fn nesting(&self) -> usize {
        let of_this = |scopes: &Vec<_>| scopes.iter().filter(|&&scope| scope == Arc::as_ptr(self.scope)).count();
        HANDLING.with_borrow(of_this).saturating_sub(1)
    }

    /// Explains which kernel computes the call if no layer intercepts it: the kernel of the backend, or of a composite.
    #[must_use]
    pub fn kernel(&self) -> Explanation {
        self.operator.explain_redispatch(self.keys.below(keys::BackendSelect), self.arguments())
    }
}

/// A guard that lists a mode as handling a call while it lives.
struct Handling;

impl Handling {
    fn begin(scope: &Arc<Scope>) -> Self {
        HANDLING.with_borrow_mut(|scopes| scopes.push(Arc::as_ptr(scope)));
        Self
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        _ = HANDLING.with_borrow_mut(Vec::pop);
    }
}
