//! Scaling of the loss for training in 16-bit floats.

use aten::prelude::*;
use dispatch_autograd::Differentiable;
use dispatch_nn::{NamedParam, State, StateError, StateProblem, StateReader, Stateful};
use dispatch_runtime::{BadArgument, DType, Device, Result, Tensor, guard};

use crate::clip_grad::grads_by_device;
use crate::error::OptimError;
use crate::optimizer::Optimizer;

/// Multiplies the loss by a scale, so that small gradients are not zero in `float16`, and divides the gradients by it before the step.
///
/// If a gradient is infinite or NaN, the step is left out and the scale becomes smaller. After many steps without this, it becomes larger.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_autograd::Differentiable;
/// use dispatch_nn::{Forward, Linear, Module};
/// use dispatch_optim::{GradScaler, Optimizer, SGD, SGDOptions};
/// use dispatch_runtime::Tensor;
///
/// let model = Linear::new(2, 1)?;
/// let mut optimizer = SGD::new(model.parameters(), SGDOptions::default())?;
/// let mut scaler = GradScaler::new()?;
/// for _ in 0..3 {
///     optimizer.zero_grad();
///     let loss = model.forward(&Tensor::ones((4, 2), ())?)?.square()?.mean()?;
///     scaler.scale(&loss)?.backward()?;
///     scaler.step(&mut optimizer)?;
///     scaler.update()?;
/// }
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct GradScaler {
    options: GradScalerOptions,
    scale: Tensor,
    growth_tracker: Tensor,
    /// The optimisers of this iteration.
    optimizers: Vec<ScaledOptimizer>,
}

/// The options of [`GradScaler`].
///
/// ```
/// use dispatch_optim::GradScalerOptions;
/// assert_eq!(GradScalerOptions::default().init_scale, 65536.0);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GradScalerOptions {
    /// The first scale.
    pub init_scale: f64,
    /// The factor of the scale after `growth_interval` steps.
    pub growth_factor: f64,
    /// The factor of the scale after a gradient that is infinite or NaN.
    pub backoff_factor: f64,
    /// The number of steps without infinite or NaN gradients after which the scale becomes larger.
    pub growth_interval: u32,
}

impl Default for GradScalerOptions {
    fn default() -> Self {
        Self { init_scale: 65536.0, growth_factor: 2.0, backoff_factor: 0.5, growth_interval: 2000 }
    }
}

#[derive(Debug)]
struct ScaledOptimizer {
    /// The identity of the first parameter.
    first_param: usize,
    found_inf: bool,
    has_stepped: bool,
}

impl GradScaler {
    /// Creates a scaler.
    ///
    /// # Errors
    ///
    /// Returns the error of a called operator.
    pub fn new() -> Result<Self> {
        Self::with(GradScalerOptions::default())
    }

    /// Creates a scaler with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `growth_factor` is not above 1, if `backoff_factor` is not below 1, or if `init_scale` is not above 0.
    pub fn with(options: GradScalerOptions) -> Result<Self> {
        let GradScalerOptions { init_scale, growth_factor, backoff_factor, .. } = options;
        if !(init_scale > 0.0 && init_scale <= f32::MAX.into()) {
            return Err(BadArgument::value("init_scale", init_scale, "a float32 number above 0").into());
        }
        if growth_factor <= 1.0 || growth_factor.is_nan() {
            return Err(BadArgument::value("growth_factor", growth_factor, "a number above 1").into());
        }
        if backoff_factor >= 1.0 || backoff_factor.is_nan() {
            return Err(BadArgument::value("backoff_factor", backoff_factor, "a number below 1").into());
        }
        Ok(Self {
            options,
            scale: Tensor::full((), init_scale, (DType::F32, Device::CPU))?,
            growth_tracker: Tensor::zeros((), (DType::I32, Device::CPU))?,
            optimizers: Vec::new(),
        })
    }

    /// Returns the loss, multiplied by the scale.
    ///
    /// # Errors
    ///
    /// Returns the error of the product.
    pub fn scale(&self, loss: &Tensor) -> Result<Tensor> {
        loss * &self.scale.to(loss.device())?
    }

    /// Returns the current scale.
    ///
    /// # Errors
    ///
    /// Returns the error of a called operator.
    pub fn get_scale(&self) -> Result<f64> {
        self.scale.item()
    }

    /// Divides the gradients of the optimiser's parameters by the scale. [`step`](Self::step) does it if it was not called. Call it to clip
    /// gradients, for example.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError::WrongScalerOrder`] if it was called since the last `update`, [`OptimError::NoGradients`] if no parameter has a
    /// gradient, and [`OptimError::HalfGradients`] if one is `float16`: parameters are to be `float32`, and autocast computes in `float16`.
    pub fn unscale_(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        match self.of(optimizer) {
            Some(ScaledOptimizer { has_stepped: false, .. }) => {
                Err(OptimError::WrongScalerOrder { called: "unscale_", after: "unscale_" }.into())
            }
            Some(_) => Err(OptimError::WrongScalerOrder { called: "unscale_", after: "step" }.into()),
            None => self.unscale(optimizer),
        }
    }

    /// Makes a step of the optimiser if no gradient is infinite or NaN, and returns whether it did.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`unscale_`](Self::unscale_) and of the optimiser.
    pub fn step(&mut self, optimizer: &mut dyn Optimizer) -> Result<bool> {
        match self.of(optimizer) {
            Some(ScaledOptimizer { has_stepped: true, .. }) => {
                return Err(OptimError::WrongScalerOrder { called: "step", after: "step" }.into());
            }
            Some(_) => {}
            None => self.unscale(optimizer)?,
        }
        let Some(scaled) = self.of(optimizer) else { return Ok(false) };
        scaled.has_stepped = true;
        let is_finite = !scaled.found_inf;
        if is_finite {
            optimizer.step()?;
        }
        Ok(is_finite)
    }

    /// Updates the scale. Call it once in each iteration, after the steps of all optimisers.
    ///
    /// # Errors
    ///
    /// Returns [`OptimError::NothingUnscaled`] if no optimiser made a step with this scaler.
    pub fn update(&mut self) -> Result<()> {
        let _unrecorded = guard::no_grad();
        if self.optimizers.is_empty() {
            return Err(OptimError::NothingUnscaled.into());
        }
        let found_inf = self.optimizers.drain(..).fold(false, |found, optimizer| found | optimizer.found_inf);
        let found_inf = Tensor::full((), if found_inf { 1.0 } else { 0.0 }, (DType::F32, Device::CPU))?;
        aten::_amp_update_scale_(
            &mut self.scale,
            &mut self.growth_tracker,
            &found_inf,
            self.options.growth_factor,
            self.options.backoff_factor,
            self.options.growth_interval.into(),
        )
    }

    fn of(&mut self, optimizer: &mut dyn Optimizer) -> Option<&mut ScaledOptimizer> {
        let first = first_param(optimizer);
        self.optimizers.iter_mut().find(|optimizer| optimizer.first_param == first)
    }

    fn unscale(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        let _unrecorded = guard::no_grad();
        // The reciprocal of a scale is rounded once.
        let inverse = self.scale.to(DType::F64)?.reciprocal()?.to(DType::F32)?;
        let (mut is_infinite, mut has_gradients) = (false, false);
        let groups = optimizer.groups();
        let is_half = |param: &&NamedParam| param.grad().is_some_and(|grad| grad.dtype() == DType::F16);
        if let Some(param) = groups.iter().flat_map(|group| group.params).find(is_half) {
            return Err(OptimError::HalfGradients { name: param.name.clone() }.into());
        }
        for group in groups {
            for (device, mut grads) in grads_by_device(group.params) {
                has_gradients |= !grads.is_empty();
                let mut found_inf = Tensor::zeros((), (DType::F32, device))?;
                aten::_amp_foreach_non_finite_check_and_unscale_(&mut grads, &mut found_inf, &inverse.to(device)?)?;
                is_infinite |= found_inf.item::<f32>()? != 0.0;
            }
        }
        if !has_gradients {
            return Err(OptimError::NoGradients.into());
        }
        let first_param = first_param(optimizer);
        self.optimizers.push(ScaledOptimizer { first_param, found_inf: is_infinite, has_stepped: false });
        Ok(())
    }
}

/// Returns a number that tells optimisers apart: the identity of the first parameter.
fn first_param(optimizer: &mut dyn Optimizer) -> usize {
    optimizer.groups().iter().find_map(|group| group.params.first().map(|param| param.identity())).unwrap_or_default()
}

impl Stateful for GradScaler {
    fn state(&self) -> Result<State> {
        let mut state = State::default();
        state.set_value("scale", self.scale.item::<f32>()?);
        state.set_value("growth_tracker", self.growth_tracker.item::<i32>()?);
        Ok(state)
    }

    fn check_state(&self, state: &State) -> Result<Vec<StateProblem>> {
        let mut reader = StateReader::new(state);
        reader.value::<f32>("scale");
        reader.value::<i32>("growth_tracker");
        Ok(reader.problems())
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        StateError::check(self.check_state(state)?)?;
        self.scale.fill_(state.value::<f32>("scale")?)?;
        self.growth_tracker.fill_(state.value::<i32>("growth_tracker")?)?;
        self.optimizers.clear();
        Ok(())
    }
}
