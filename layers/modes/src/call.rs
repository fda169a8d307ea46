//! A call as a mode has it, and its way through the modes.

use std::cell::RefCell;
use std::sync::Arc;

use dispatch_runtime::{Explanation, KeySet, Operator, Result, Stack, Value, keys, op_fallback};

use crate::mode::ModeError;
use crate::scope::{Modes, Scope};

/// A call of an operator that a mode has.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Call, Mode, with};
/// use dispatch_runtime::prelude::*;
///
/// /// Calls that fail are made again in double precision.
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
    /// The arguments may have changed, and the keys with them.
    changed: bool,
    stack: &'a mut Stack,
    /// What lies below the arguments is somebody else's.
    base: usize,
    /// Who has it.
    scope: &'a Arc<Scope>,
    /// Who sees what is called inside of it.
    inside: Modes,
    /// Who has it next.
    below: Modes,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Arguments,
    /// It was passed on, and failed or has not returned.
    Away,
    Results,
}

thread_local! {
    /// The modes that have calls, each inside of the one before.
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
    /// The mode that has the call handles it, set aside.
    fn handle(&mut self) -> Result<()> {
        let _aside = self.below.clone().set();
        let _handling = Handling::begin(self.scope);
        self.scope.mode.on_op(self)?;
        match self.state {
            State::Results => Ok(()),
            _ => Err(ModeError::NoResults { operator: self.operator.name().to_string() }.into()),
        }
    }

    /// Passes the call on: to the next mode below, or, where there is none, to the layers below. What is called inside of it is seen by
    /// all modes, this one too. Afterwards there are [`results`](Self::results).
    ///
    /// # Errors
    ///
    /// Those of the call. The arguments are gone then; [`give`](Self::give) is still possible.
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

    /// The same, but what is called inside of it is not shown to this mode: for whoever counts the call, and not its parts as well.
    ///
    /// # Errors
    ///
    /// As [`pass_on`](Self::pass_on).
    pub fn pass_on_whole(&mut self) -> Result<()> {
        self.inside = self.inside.without(self.scope);
        self.pass_on()
    }

    /// Has these be the results, whether the call was passed on or not. What the operator writes to must be among them as its schema says.
    ///
    /// # Errors
    ///
    /// Where there are more or fewer than the operator has.
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

    /// The operator.
    #[must_use]
    pub const fn operator(&self) -> &Operator {
        self.operator
    }

    /// The keys with which the call goes on below all modes, if no arguments are changed.
    #[must_use]
    pub const fn keys(&self) -> KeySet {
        self.keys
    }

    /// The arguments, until the call is passed on.
    #[must_use]
    pub fn arguments(&self) -> &[Value] {
        self.values(State::Arguments)
    }

    /// The same, to be changed. The call goes on with the keys of what they are then.
    pub fn arguments_mut(&mut self) -> &mut [Value] {
        self.changed = true;
        match self.state {
            State::Arguments => self.stack.top_mut(self.operator.argument_count()).unwrap_or_default(),
            _ => &mut [],
        }
    }

    /// The results, once there are any.
    #[must_use]
    pub fn results(&self) -> &[Value] {
        self.values(State::Results)
    }

    fn values(&self, state: State) -> &[Value] {
        if self.state == state { self.stack.values().get(self.base..).unwrap_or_default() } else { &[] }
    }

    /// How many calls that this mode has passed on the call is inside of.
    #[must_use]
    pub fn nesting(&self) -> usize {
        let of_this = |scopes: &Vec<_>| scopes.iter().filter(|&&scope| scope == Arc::as_ptr(self.scope)).count();
        HANDLING.with_borrow(of_this).saturating_sub(1)
    }

    /// Where the call ends if no layer does otherwise: the kernel of the backend, or of a composite, and why it is that one.
    #[must_use]
    pub fn kernel(&self) -> Explanation {
        self.operator.explain_redispatch(self.keys.below(keys::BackendSelect), self.arguments())
    }
}

/// A mode has a call, until this is dropped.
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
