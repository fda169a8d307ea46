//! The quasi-Newton method L-BFGS.

mod line_search;

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{NamedParam, State, StateError, StateProblem, StateReader, Stateful};
use dispatch_runtime::{BadArgument, Result, Tensor, guard};

use crate::error::OptimError;
use crate::optimizer::{GroupMut, Optimizer, as_real, check_not_replaced, check_params};
use crate::options::check_not_negative;
use line_search::{Point, strong_wolfe};

/// L-BFGS: steps along an approximation of Newton's direction, from the last gradients (Nocedal, 1980).
///
/// A step computes the loss several times, so it takes a closure. The closure removes the gradients, computes the loss and the gradients, and
/// returns the loss.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_nn::{Forward, Linear, Module};
/// use dispatch_optim::{LBFGS, LBFGSOptions, LineSearch};
/// use dispatch_runtime::Tensor;
///
/// let model = Linear::new(1, 1)?;
/// let (x, y) = (Tensor::from([[0.0_f32], [1.0]]), Tensor::from([[1.0_f32], [3.0]]));
/// let options = LBFGSOptions { line_search_fn: Some(LineSearch::StrongWolfe), ..LBFGSOptions::default() };
/// let mut optimizer = LBFGS::new(model.parameters(), options)?;
/// optimizer.step(|| {
///     model.zero_grad();
///     let loss = (model.forward(&x)? - &y)?.square()?.mean()?;
///     loss.backward()?;
///     Ok(loss)
/// })?;
/// assert!((model.weight.to_vec::<f32>()?[0] - 2.0).abs() < 1e-3);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct LBFGS {
    params: Vec<NamedParam>,
    options: LBFGSOptions,
    initial_lr: Option<f64>,
    n_iter: usize,
    func_evals: usize,
    history: Option<History>,
}

/// The search for the length of a step.
///
/// ```
/// use dispatch_optim::{LBFGSOptions, LineSearch};
/// assert_ne!(LBFGSOptions::default().line_search_fn, Some(LineSearch::StrongWolfe));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LineSearch {
    /// A search for a point that satisfies the strong Wolfe conditions.
    StrongWolfe,
}

/// The options of [`LBFGS`].
///
/// ```
/// use dispatch_optim::LBFGSOptions;
/// assert_eq!(LBFGSOptions::default().history_size, 100);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LBFGSOptions {
    /// The learning rate.
    pub lr: f64,
    /// The largest number of directions in a step.
    pub max_iter: usize,
    /// The largest number of computed losses in a step. `None` means `max_iter * 5 / 4`.
    pub max_eval: Option<usize>,
    /// The step ends if no element of the gradient is larger.
    pub tolerance_grad: f64,
    /// The step ends if neither a parameter nor the loss changes more.
    pub tolerance_change: f64,
    /// The number of gradients in the approximation.
    pub history_size: usize,
    /// The search for the length of a step. `None` means the learning rate.
    pub line_search_fn: Option<LineSearch>,
    /// Whether the step follows the gradient instead of its negative.
    pub maximize: bool,
}

impl Default for LBFGSOptions {
    fn default() -> Self {
        Self {
            lr: 1.0,
            max_iter: 20,
            max_eval: None,
            tolerance_grad: 1e-7,
            tolerance_change: 1e-9,
            history_size: 100,
            line_search_fn: None,
            maximize: false,
        }
    }
}

/// A difference of gradients, the difference of the parameters, and the reciprocal of their product.
type Pair = (Tensor, Tensor, f64);

/// The results of earlier iterations, from which each direction but the first is computed.
#[derive(Clone, Debug)]
struct History {
    direction: Tensor,
    step_length: f64,
    gradient: Tensor,
    /// The oldest pair is the first.
    pairs: Vec<Pair>,
    /// The scale of the first approximation.
    diagonal: f64,
}

impl LBFGS {
    /// Creates the optimiser. It has one group.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if an option is wrong, and [`OptimError`] if there are no parameters, or if one is there twice.
    pub fn new(params: Vec<NamedParam>, options: LBFGSOptions) -> Result<Self> {
        check_not_negative("lr", options.lr)?;
        check_not_negative("tolerance_grad", options.tolerance_grad)?;
        check_not_negative("tolerance_change", options.tolerance_change)?;
        if options.history_size == 0 {
            return Err(BadArgument::value("history_size", options.history_size, "at least one").into());
        }
        check_params(params.iter())?;
        Ok(Self { params, options, initial_lr: None, n_iter: 0, func_evals: 0, history: None })
    }

    /// Makes a step, and returns the first loss that `closure` computed.
    ///
    /// # Errors
    ///
    /// Returns the error of `closure`, [`OptimError::ParameterReplaced`], and the error of a called operator.
    pub fn step(&mut self, mut closure: impl FnMut() -> Result<Tensor>) -> Result<Tensor> {
        let _unrecorded = guard::no_grad();
        check_not_replaced(&mut self.params)?;
        let LBFGSOptions { max_iter, tolerance_grad, tolerance_change, .. } = self.options;
        let max_eval = self.options.max_eval.unwrap_or_else(|| max_iter.saturating_mul(5) / 4);
        let original_loss = {
            let _recorded = guard::enable_grad();
            closure()?
        };
        let mut loss = self.signed(original_loss.item()?);
        let mut evals = 1;
        self.func_evals += 1;
        let mut gradient = self.flat_gradient()?;
        if largest(&gradient)? <= tolerance_grad {
            return Ok(original_loss);
        }
        for iteration in 1..=max_iter {
            self.n_iter += 1;
            let (direction, pairs, diagonal) = self.direction(&gradient)?;
            let mut step_length = self.options.lr;
            if self.n_iter == 1 {
                step_length *= (1.0 / gradient.abs()?.sum()?.item::<f64>()?).min(1.0);
            }
            let slope: f64 = gradient.dot(&direction)?.item()?;
            let previous_loss = loss;
            self.history = Some(History {
                direction: direction.clone(),
                step_length,
                gradient: gradient.clone(),
                pairs,
                diagonal,
            });
            if slope > -tolerance_change {
                break;
            }
            let mut new_evals = 0;
            if self.options.line_search_fn.is_some() {
                let start = self.params.iter().map(|param| param.deep_clone()).collect::<Result<Vec<_>>>()?;
                let evaluate = |length: f64| self.evaluate(&mut closure, &start, length, &direction);
                let from = Point { length: 0.0, loss, gradient, slope };
                let found = strong_wolfe(
                    evaluate,
                    from,
                    step_length,
                    &direction,
                    tolerance_change,
                    max_eval.saturating_sub(evals),
                )?;
                new_evals = found.evals;
                (loss, gradient, step_length) = (found.point.loss, found.point.gradient, found.point.length);
                self.move_by(step_length, &direction)?;
            } else {
                self.move_by(step_length, &direction)?;
                if iteration != max_iter {
                    loss = self.signed(recorded(&mut closure)?);
                    gradient = self.flat_gradient()?;
                    new_evals = 1;
                }
            }
            if let Some(history) = &mut self.history {
                history.step_length = step_length;
            }
            evals += new_evals;
            self.func_evals += new_evals;
            let ends = evals >= max_eval
                || largest(&gradient)? <= tolerance_grad
                || largest(&(&direction * step_length)?)? <= tolerance_change
                || (loss - previous_loss).abs() < tolerance_change;
            if ends {
                break;
            }
        }
        Ok(original_loss)
    }

    const fn signed(&self, loss: f64) -> f64 {
        if self.options.maximize { -loss } else { loss }
    }

    /// Returns the direction, the history with the newest pair, and the scale of the first approximation.
    fn direction(&self, gradient: &Tensor) -> Result<(Tensor, Vec<Pair>, f64)> {
        let Some(history) = self.history.as_ref().filter(|_| self.n_iter > 1) else {
            return Ok(((-gradient)?, Vec::new(), 1.0));
        };
        let (mut pairs, mut diagonal) = (history.pairs.clone(), history.diagonal);
        let change = (gradient - &history.gradient)?;
        let movement = (&history.direction * history.step_length)?;
        let product: f64 = change.dot(&movement)?.item()?;
        if product > 1e-10 {
            if pairs.len() >= self.options.history_size {
                pairs.remove(0);
            }
            diagonal = product / change.dot(&change)?.item::<f64>()?;
            pairs.push((change, movement, 1.0 / product));
        }
        let direction = (-gradient)?;
        let mut factors = Vec::with_capacity(pairs.len());
        for (change, movement, reciprocal) in pairs.iter().rev() {
            let factor = movement.dot(&direction)?.item::<f64>()? * reciprocal;
            direction.add_scaled_(change, -factor)?;
            factors.push(factor);
        }
        direction.mul_(diagonal)?;
        for ((change, movement, reciprocal), factor) in pairs.iter().zip(factors.iter().rev()) {
            let correction = change.dot(&direction)?.item::<f64>()? * reciprocal;
            direction.add_scaled_(movement, factor - correction)?;
        }
        Ok((direction, pairs, diagonal))
    }

    /// Returns the loss and the gradient at `start + length * direction`. The parameters are `start` before and after.
    fn evaluate(
        &self,
        closure: &mut impl FnMut() -> Result<Tensor>,
        start: &[Tensor],
        length: f64,
        direction: &Tensor,
    ) -> Result<Point> {
        self.move_by(length, direction)?;
        let loss = self.signed(recorded(closure)?);
        let gradient = self.flat_gradient()?;
        for (param, start) in self.params.iter().zip(start) {
            param.copy_(start)?;
        }
        let slope = gradient.dot(direction)?.item()?;
        Ok(Point { length, loss, gradient, slope })
    }

    /// Returns all gradients as one vector of real numbers.
    fn flat_gradient(&self) -> Result<Tensor> {
        let mut parts = Vec::with_capacity(self.params.len());
        for param in &self.params {
            let gradient = match param.grad() {
                Some(gradient) => gradient,
                None => param.zeros_like()?,
            };
            parts.push(as_real(gradient)?.reshape(-1)?);
        }
        let flat = aten::cat(&parts, 0)?;
        if self.options.maximize { -&flat } else { Ok(flat) }
    }

    /// Adds `length * direction` to the parameters.
    fn move_by(&self, length: f64, direction: &Tensor) -> Result<()> {
        let mut offset = 0;
        for param in &self.params {
            let param = as_real(param.tensor())?;
            let count = param.geometry().count();
            param.add_scaled_(&direction.narrow(0, offset, count)?.view_as(&param)?, length)?;
            offset += count;
        }
        Ok(())
    }
}

/// Calls the closure with recording, and returns the loss.
fn recorded(closure: &mut impl FnMut() -> Result<Tensor>) -> Result<f64> {
    let _recorded = guard::enable_grad();
    closure()?.item()
}

fn largest(tensor: &Tensor) -> Result<f64> {
    if tensor.geometry().count() == 0 { Ok(0.0) } else { tensor.abs()?.max()?.item() }
}

impl Optimizer for LBFGS {
    fn step(&mut self) -> Result<()> {
        Err(OptimError::NeedsClosure.into())
    }

    fn groups(&mut self) -> Vec<GroupMut<'_>> {
        let Self { params, options, initial_lr, .. } = self;
        vec![GroupMut { params, lr: &mut options.lr, momentum: None, initial_lr }]
    }
}

/// The part of [`LBFGS`] that a state has.
type Loaded = (f64, usize, usize, Option<f64>, Option<History>);

impl LBFGS {
    fn read(&self, reader: &mut StateReader<'_>) -> Result<Option<Loaded>> {
        let (lr, n_iter, func_evals) = (reader.value("lr"), reader.value("n_iter"), reader.value("func_evals"));
        let initial_lr = reader.has_value("initial_lr").then(|| reader.value("initial_lr")).flatten();
        let mut history = None;
        if reader.has_value("history") {
            let flat = self.flat_gradient()?;
            let own = |tensor: Option<&Tensor>| tensor.map(|tensor| tensor.to(&flat)?.deep_clone()).transpose();
            let count: usize = reader.value("history").unwrap_or_default();
            let (direction, gradient) =
                (own(reader.tensor("d", flat.sizes()))?, own(reader.tensor("prev_flat_grad", flat.sizes()))?);
            let (step_length, diagonal) = (reader.value("t"), reader.value("H_diag"));
            let mut pairs = Vec::new();
            // A wrong count stops at the first missing pair.
            for i in 0..count {
                let change = own(reader.tensor(&format!("old_dirs.{i}"), flat.sizes()))?;
                let movement = own(reader.tensor(&format!("old_stps.{i}"), flat.sizes()))?;
                let (Some(change), Some(movement), Some(reciprocal)) =
                    (change, movement, reader.value(&format!("ro.{i}")))
                else {
                    break;
                };
                pairs.push((change, movement, reciprocal));
            }
            if let (Some(direction), Some(gradient), Some(step_length), Some(diagonal)) =
                (direction, gradient, step_length, diagonal)
            {
                history = Some(History { direction, step_length, gradient, pairs, diagonal });
            }
        }
        let (Some(lr), Some(n_iter), Some(func_evals)) = (lr, n_iter, func_evals) else { return Ok(None) };
        Ok(Some((lr, n_iter, func_evals, initial_lr, history)))
    }
}

impl Stateful for LBFGS {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        state.set_value("lr", self.options.lr);
        state.set_value("n_iter", self.n_iter);
        state.set_value("func_evals", self.func_evals);
        if let Some(lr) = self.initial_lr {
            state.set_value("initial_lr", lr);
        }
        if let Some(history) = &self.history {
            state.set_value("history", history.pairs.len());
            state.set_value("t", history.step_length);
            state.set_value("H_diag", history.diagonal);
            state.tensors.insert("d".to_owned(), history.direction.clone());
            state.tensors.insert("prev_flat_grad".to_owned(), history.gradient.clone());
            for (i, (change, movement, reciprocal)) in history.pairs.iter().enumerate() {
                state.tensors.insert(format!("old_dirs.{i}"), change.clone());
                state.tensors.insert(format!("old_stps.{i}"), movement.clone());
                state.set_value(format!("ro.{i}"), reciprocal);
            }
        }
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let _unrecorded = guard::no_grad();
        let mut reader = StateReader::new(state);
        self.read(&mut reader)?;
        Ok(reader.problems())
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        let _unrecorded = guard::no_grad();
        StateError::check(self.check_state(state)?)?;
        if let Some((lr, n_iter, func_evals, initial_lr, history)) = self.read(&mut StateReader::new(state))? {
            self.options.lr = lr;
            (self.n_iter, self.func_evals, self.initial_lr, self.history) = (n_iter, func_evals, initial_lr, history);
        }
        Ok(())
    }
}
