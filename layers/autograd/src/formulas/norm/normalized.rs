//! What normalisations share: how gradients go back through them, twice.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::formulas::reduction::sums::count;

pub(super) type Three = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

/// Of gradients that were computed together, those that were asked for.
pub(super) fn wanted((first, second, third): (Tensor, Tensor, Tensor), mask: [bool; 3]) -> Three {
    (mask[0].then_some(first), mask[1].then_some(second), mask[2].then_some(third))
}

/// Which of three gradients are asked for.
pub(super) fn mask(needs: &[bool]) -> [bool; 3] {
    std::array::from_fn(|at| needs.get(at) == Some(&true))
}

/// Elements less their mean, over their deviation, in sizes where statistics and weights stretch.
pub(super) struct Normalized {
    elements: Tensor,
    invstd: Tensor,
    /// The dimensions that statistics are over. Where there are none, statistics were given, and do not follow the elements.
    dims: Vec<i64>,
}

/// What a gradient of the gradients of input, weight and bias means for what these were computed of.
pub(super) struct SecondOrder {
    pub(super) grad: Tensor,
    pub(super) input: Tensor,
    /// For each element; the weight's is the sum of those that it met.
    pub(super) weight: Tensor,
}

impl Normalized {
    pub(super) fn new(input: &Tensor, mean: &Tensor, invstd: &Tensor, dims: &[i64]) -> Result<Self> {
        Ok(Self { elements: ((input - mean)? * invstd)?, invstd: invstd.clone(), dims: dims.to_vec() })
    }

    fn mean(&self, of: &Tensor) -> Result<Tensor> {
        of.mean_dim(Some(&self.dims), true)
    }

    fn count(&self) -> Result<i64> {
        count(self.elements.sizes(), &self.dims)
    }

    /// The gradient of the input, given that of the normalised elements. It is its own transpose.
    fn back(&self, grad: &Tensor) -> Result<Tensor> {
        if self.dims.is_empty() {
            return grad * &self.invstd;
        }
        let along = (&self.elements * self.mean(&(grad * &self.elements)?)?)?;
        ((grad - self.mean(grad)?)? - along)? * &self.invstd
    }

    pub(super) fn of_mean(&self, grad: &Tensor) -> Result<Tensor> {
        (grad / self.count()?)?.expand(self.elements.sizes())
    }

    pub(super) fn of_invstd(&self, grad: &Tensor) -> Result<Tensor> {
        ((grad * self.invstd.square()?)? * (&self.elements / self.count()?)?)?.neg()
    }

    /// For a gradient `grad` of the elements, by `weight`, and gradients of what that gave: of the input, the weight and the bias.
    pub(super) fn second_order(
        &self,
        grad: &Tensor,
        weight: Option<&Tensor>,
        [of_input, of_weight, of_bias]: [Option<Tensor>; 3],
    ) -> Result<SecondOrder> {
        let zeros = || self.elements.zeros_like();
        let by_weight = |tensor: &Tensor| weight.map_or_else(|| Ok(tensor.clone()), |weight| tensor * weight);
        let mut result = SecondOrder { grad: zeros()?, input: zeros()?, weight: zeros()? };
        if let Some(outer) = &of_input {
            let (inner, back) = (by_weight(grad)?, self.back(outer)?);
            result.grad = (result.grad + by_weight(&back)?)?;
            result.weight = (result.weight + (grad * &back)?)?;
            if !self.dims.is_empty() {
                let (a, b) = (self.mean(&(outer * &self.elements)?)?, self.mean(&(&inner * &self.elements)?)?);
                let product =
                    ((self.mean(&(outer * &inner)?)? - (self.mean(outer)? * self.mean(&inner)?)?)? - (&a * &b)?)?;
                let of_scale = ((&self.elements * product)? * self.invstd.square()?)?;
                let of_elements = (((b * &back)? + (a * self.back(&inner)?)?)? * &self.invstd)?;
                result.input = (result.input - (of_scale + of_elements)?)?;
            }
        }
        if let Some(outer) = &of_weight {
            result.grad = (result.grad + (outer * &self.elements)?)?;
            result.input = (result.input + self.back(&(grad * outer)?)?)?;
        }
        if let Some(outer) = &of_bias {
            result.grad = (result.grad + outer)?;
        }
        Ok(result)
    }
}
