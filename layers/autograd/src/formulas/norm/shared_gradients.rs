//! First- and second-order gradients shared by all normalizations.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::formulas::reduction::sums::reduced_count;

pub(super) type RequestedGradients = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

/// Drops those of three gradients that the mask does not request.
pub(super) fn keep_requested_gradients(
    (first, second, third): (Tensor, Tensor, Tensor),
    mask: [bool; 3],
) -> RequestedGradients {
    (mask[0].then_some(first), mask[1].then_some(second), mask[2].then_some(third))
}

/// Returns which of three gradients are requested.
pub(super) fn requested_gradient_mask(needs: &[bool]) -> [bool; 3] {
    std::array::from_fn(|at| needs.get(at) == Some(&true))
}

/// Normalized elements: elements minus their mean, divided by their deviation. Statistics and weights broadcast to these sizes.
pub(super) struct NormalizedElements {
    elements: Tensor,
    invstd: Tensor,
    /// The dimensions that statistics are computed over. Empty if the statistics are constants that do not depend on the elements.
    dims: Vec<i64>,
}

/// The second-order gradients: of the incoming gradient, the input, and the weight.
pub(super) struct SecondOrderNormGradients {
    pub(super) grad: Tensor,
    pub(super) input: Tensor,
    /// The gradient of the weight for each element, not yet summed over the elements that share a weight.
    pub(super) weight: Tensor,
}

impl NormalizedElements {
    pub(super) fn new(input: &Tensor, mean: &Tensor, invstd: &Tensor, dims: &[i64]) -> Result<Self> {
        Ok(Self { elements: ((input - mean)? * invstd)?, invstd: invstd.clone(), dims: dims.to_vec() })
    }

    fn mean_over_dims(&self, of: &Tensor) -> Result<Tensor> {
        of.mean_keepdim(&self.dims)
    }

    fn reduced_count(&self) -> Result<i64> {
        reduced_count(self.elements.sizes(), &self.dims)
    }

    /// Returns the gradient of the input, given the gradient of the normalized elements. This map is its own transpose.
    fn input_gradient(&self, grad: &Tensor) -> Result<Tensor> {
        if self.dims.is_empty() {
            return grad * &self.invstd;
        }
        let along = (&self.elements * self.mean_over_dims(&(grad * &self.elements)?)?)?;
        ((grad - self.mean_over_dims(grad)?)? - along)? * &self.invstd
    }

    pub(super) fn mean_gradient(&self, grad: &Tensor) -> Result<Tensor> {
        (grad / self.reduced_count()?)?.expand(self.elements.sizes())
    }

    pub(super) fn invstd_gradient(&self, grad: &Tensor) -> Result<Tensor> {
        aten::neg(&((grad * self.invstd.square()?)? * (&self.elements / self.reduced_count()?)?)?)
    }

    /// Returns the second-order gradients for a gradient `grad` of the weighted elements, given gradients of the first-order gradients of
    /// input, weight and bias.
    pub(super) fn second_order_gradients(
        &self,
        grad: &Tensor,
        weight: Option<&Tensor>,
        [of_input, of_weight, of_bias]: [Option<Tensor>; 3],
    ) -> Result<SecondOrderNormGradients> {
        let zeros = || self.elements.zeros_like();
        let by_weight = |tensor: &Tensor| weight.map_or_else(|| Ok(tensor.clone()), |weight| tensor * weight);
        let mut result = SecondOrderNormGradients { grad: zeros()?, input: zeros()?, weight: zeros()? };
        if let Some(outer) = &of_input {
            let (inner, back) = (by_weight(grad)?, self.input_gradient(outer)?);
            result.grad = (result.grad + by_weight(&back)?)?;
            result.weight = (result.weight + (grad * &back)?)?;
            if !self.dims.is_empty() {
                let (a, b) = (
                    self.mean_over_dims(&(outer * &self.elements)?)?,
                    self.mean_over_dims(&(&inner * &self.elements)?)?,
                );
                let product = ((self.mean_over_dims(&(outer * &inner)?)?
                    - (self.mean_over_dims(outer)? * self.mean_over_dims(&inner)?)?)?
                    - (&a * &b)?)?;
                let scale_gradient = ((&self.elements * product)? * self.invstd.square()?)?;
                let element_gradient = (((b * &back)? + (a * self.input_gradient(&inner)?)?)? * &self.invstd)?;
                result.input = (result.input - (scale_gradient + element_gradient)?)?;
            }
        }
        if let Some(outer) = &of_weight {
            result.grad = (result.grad + (outer * &self.elements)?)?;
            result.input = (result.input + self.input_gradient(&(grad * outer)?)?)?;
        }
        if let Some(outer) = &of_bias {
            result.grad = (result.grad + outer)?;
        }
        Ok(result)
    }
}
