//! A multilayer perceptron, and a training step by gradient descent.

use dispatch_autograd::Differentiable;
use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

pub(crate) struct Network {
    weights: Vec<(Tensor, Tensor)>,
    input: Tensor,
    labels: Tensor,
}

impl Network {
    pub(crate) fn new(sizes: &[i64], batch: i64, device: Device) -> Result<Self> {
        let uniform = |sizes: &[i64], bound: f64| -> Result<Tensor> {
            let mut made = aten::full(sizes, 0.into(), Some(DType::F32), None, Some(device), None)?;
            aten::uniform_(&mut made, -bound, bound, None)?;
            Ok(made)
        };
        let layer = |pair: &[i64]| -> Result<(Tensor, Tensor)> {
            #[expect(clippy::cast_precision_loss, reason = "a width")]
            let bound = (pair[0] as f64).sqrt().recip();
            let weight = uniform(&[pair[1], pair[0]], bound)?.requires_grad_(true)?;
            Ok((weight, uniform(&[pair[1]], bound)?.requires_grad_(true)?))
        };
        let mut labels = aten::full(&[batch], 0.into(), Some(DType::I64), None, Some(device), None)?;
        aten::random__to(&mut labels, sizes[sizes.len() - 1], None)?;
        let weights = sizes.windows(2).map(layer).collect::<Result<_>>()?;
        Ok(Self { weights, input: uniform(&[batch, sizes[0]], 1.0)?, labels })
    }

    fn class_scores(&self) -> Result<Tensor> {
        let mut x = self.input.clone();
        for (at, (weight, bias)) in self.weights.iter().enumerate() {
            x = aten::linear(&x, weight, Some(bias))?;
            if at + 1 < self.weights.len() {
                x = aten::relu(&x)?;
            }
        }
        Ok(x)
    }

    pub(crate) fn forward(&self) -> Result<Tensor> {
        let _no_grad = guard::no_grad();
        self.class_scores()
    }

    pub(crate) fn training_step(&self) -> Result<()> {
        aten::cross_entropy_loss!(&self.class_scores()?, &self.labels)?.backward()?;
        let _no_grad = guard::no_grad();
        for parameter in self.weights.iter().flat_map(|(weight, bias)| [weight, bias]) {
            if let Some(gradient) = parameter.grad() {
                aten::add_(&mut parameter.clone(), &gradient, Scalar::Float(-0.01))?;
            }
            parameter.zero_grad();
        }
        Ok(())
    }
}
