//! The optimisers SGD and Adam, as in PyTorch, written with operators only.

use opdispatch::autograd;
use opdispatch::prelude::*;

/// An optimiser: it updates parameters from their gradients so that the loss decreases.
pub(crate) trait Optimiser {
    /// Updates every parameter that has a gradient.
    fn step(&mut self) -> Result<()>;
}

/// Stochastic gradient descent with momentum.
pub(crate) struct Sgd {
    pub(crate) learning_rate: f64,
    /// The factor by which the velocity is kept at each step.
    pub(crate) momentum: f64,
    /// The L2 penalty: this factor times the parameter is added to its gradient.
    pub(crate) weight_decay: f64,
    /// Whether to use Nesterov momentum.
    pub(crate) nesterov: bool,
    parameters: Vec<Tensor>,
    velocities: Vec<Tensor>,
}

impl Sgd {
    /// Returns SGD without momentum and weight decay.
    pub(crate) fn new(parameters: Vec<Tensor>, learning_rate: f64) -> Result<Self> {
        let velocities = zeros_like(&parameters)?;
        Ok(Self { learning_rate, momentum: 0.0, weight_decay: 0.0, nesterov: false, parameters, velocities })
    }
}

impl Optimiser for Sgd {
    fn step(&mut self) -> Result<()> {
        let _no_grad = autograd::no_grad();
        for (parameter, velocity) in self.parameters.iter().zip(&self.velocities) {
            let Some(gradient) = parameter.grad() else { continue };
            let gradient = gradient.add_scaled(parameter, self.weight_decay)?;
            velocity.mul_(self.momentum)?;
            velocity.add_(&gradient)?;
            let step = if self.nesterov { gradient.add_scaled(velocity, self.momentum)? } else { velocity.clone() };
            parameter.add_scaled_(&step, -self.learning_rate)?;
        }
        Ok(())
    }
}

/// Adam: the step of each element is the mean gradient, divided by the root of the mean squared gradient.
pub(crate) struct Adam {
    pub(crate) learning_rate: f64,
    /// The decay factors of the running means of the gradient and of its square.
    pub(crate) betas: (f64, f64),
    /// The term that is added to the denominator to avoid a division by zero.
    pub(crate) eps: f64,
    /// The decoupled weight decay: parameters shrink by this rate, independently of their gradients, as in `AdamW`.
    pub(crate) weight_decay: f64,
    steps: i32,
    parameters: Vec<Tensor>,
    means: Vec<Tensor>,
    squares: Vec<Tensor>,
}

impl Adam {
    /// Returns Adam with PyTorch's default constants and without weight decay.
    pub(crate) fn new(parameters: Vec<Tensor>, learning_rate: f64) -> Result<Self> {
        let (means, squares) = (zeros_like(&parameters)?, zeros_like(&parameters)?);
        let (betas, eps, weight_decay) = ((0.9, 0.999), 1e-8, 0.0);
        Ok(Self { learning_rate, betas, eps, weight_decay, steps: 0, parameters, means, squares })
    }
}

impl Optimiser for Adam {
    fn step(&mut self) -> Result<()> {
        let _no_grad = autograd::no_grad();
        self.steps += 1;
        // The means start at zero, so they are too small by these factors.
        let (mean_correction, square_correction) =
            (1.0 - self.betas.0.powi(self.steps), 1.0 - self.betas.1.powi(self.steps));
        let means = self.means.iter().zip(&self.squares);
        for (parameter, (mean, square)) in self.parameters.iter().zip(means) {
            let Some(gradient) = parameter.grad() else { continue };
            parameter.mul_(1.0 - self.learning_rate * self.weight_decay)?;
            mean.lerp_(&gradient, 1.0 - self.betas.0)?;
            square.mul_(self.betas.1)?;
            square.addcmul_(&gradient, &gradient, 1.0 - self.betas.1)?;
            let denominator = ((square.sqrt()? / square_correction.sqrt())? + self.eps)?;
            parameter.addcdiv_(mean, &denominator, -self.learning_rate / mean_correction)?;
        }
        Ok(())
    }
}

fn zeros_like(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(Tensor::zeros_like).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes four steps on two parameters, with gradients that depend on them, and compares the parameters with PyTorch's.
    fn assert_follows_pytorch<O: Optimiser>(
        create_optimiser: impl FnOnce(Vec<Tensor>) -> Result<O>,
        expected: [f64; 6],
    ) -> Result<()> {
        let (p, q) = (Tensor::from([[1.0, -2.0], [0.5, 3.0]]), Tensor::from([0.25, -0.75]));
        let mut optimiser = create_optimiser(vec![p.clone(), q.clone()])?;
        for k in 0..4 {
            p.set_grad(Some(((&p * 0.5)? + 0.1 * f64::from(k))?))?;
            q.set_grad(Some(((&q * p.i(0)?)? - 0.2)?))?;
            optimiser.step()?;
        }
        let found = [p.to_vec::<f64>()?, q.to_vec::<f64>()?].concat();
        let close = found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-14);
        assert!(close, "{found:?} is not {expected:?}");
        Ok(())
    }

    #[test]
    fn sgd_follows_pytorch() -> Result<()> {
        let expected =
            [0.756_481_25, -1.687_037_5, 0.349_228_125, 2.385_493_75, 0.240_269_539_215_547, -1.381_836_898_84];
        assert_follows_pytorch(|parameters| Sgd::new(parameters, 0.1), expected)
    }

    #[test]
    fn sgd_with_momentum_and_weight_decay_follows_pytorch() -> Result<()> {
        let expected = [
            0.481_422_823_501,
            -1.239_349_677_002,
            0.194_627_406_750_5,
            1.628_604_490_503,
            0.226_147_125_531_967,
            -2.132_893_737_849_966,
        ];
        assert_follows_pytorch(
            |parameters| Ok(Sgd { momentum: 0.9, weight_decay: 0.01, ..Sgd::new(parameters, 0.1)? }),
            expected,
        )
    }

    #[test]
    fn sgd_with_nesterov_momentum_follows_pytorch() -> Result<()> {
        let expected = [
            0.328_368_875_282_652,
            -1.067_240_418_335_304,
            0.095_767_326_346_326,
            1.258_775_071_027_956,
            0.240_884_189_226_555,
            -2.820_599_513_975_877,
        ];
        let create_optimiser =
            |parameters| Ok(Sgd { momentum: 0.9, weight_decay: 0.01, nesterov: true, ..Sgd::new(parameters, 0.1)? });
        assert_follows_pytorch(create_optimiser, expected)
    }

    #[test]
    fn adam_follows_pytorch() -> Result<()> {
        let expected = [
            0.799_443_829_227_078,
            -1.802_818_832_071_637,
            0.300_135_813_450_61,
            2.799_589_397_431_148,
            0.200_415_428_560_415,
            -0.950_372_628_769_178,
        ];
        assert_follows_pytorch(|parameters| Adam::new(parameters, 0.05), expected)
    }

    #[test]
    fn adam_with_weight_decay_follows_adamw() -> Result<()> {
        let expected = [
            0.781_081_829_774_762,
            -1.764_790_887_436_673,
            0.291_673_769_576_273,
            2.741_562_017_812_784,
            0.201_322_838_423_456,
            -0.933_906_747_187_421,
        ];
        assert_follows_pytorch(|parameters| Ok(Adam { weight_decay: 0.1, ..Adam::new(parameters, 0.05)? }), expected)
    }

    #[test]
    fn adam_with_other_betas_and_eps_follows_pytorch() -> Result<()> {
        let expected = [
            0.802_099_681_451_534,
            -1.806_019_307_086_911,
            0.304_962_342_056_234,
            2.800_536_429_932_585,
            0.202_059_714_432_691,
            -0.949_180_600_126_529,
        ];
        assert_follows_pytorch(
            |parameters| Ok(Adam { betas: (0.8, 0.95), eps: 1e-2, ..Adam::new(parameters, 0.05)? }),
            expected,
        )
    }
}
