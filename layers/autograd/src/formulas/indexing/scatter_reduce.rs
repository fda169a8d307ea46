//! Gradient formulas of `scatter_reduce` and `index_reduce`.

use aten::prelude::*;
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::op_grad;

/// How the elements of a source are mapped to positions of the target.
pub(super) trait ScatterIndex {
    /// Returns, for each element of the source, the element of `tensor` at the position to which the source element is mapped.
    fn gather(&self, tensor: &Tensor) -> Result<Tensor>;

    /// Adds each element of the source to the element at its target position.
    fn scatter_add(&self, to: &Tensor, source: &Tensor) -> Result<Tensor>;

    /// Calls the operator that reduces the source into a tensor with this mapping.
    fn scatter_reduce(&self, this: &Tensor, source: &Tensor, name: &str, include_self: bool) -> Result<Tensor>;

    /// Fills all targeted positions with zeros.
    fn fill_zeros(&self, tensor: &Tensor) -> Result<Tensor>;
}

/// A mapping with one index per source element (`scatter_reduce`).
pub(super) struct ElementIndex<'a> {
    pub(super) dim: i64,
    pub(super) index: &'a Tensor,
}

impl ScatterIndex for ElementIndex<'_> {
    fn gather(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.gather(self.dim, self.index)
    }

    fn scatter_add(&self, to: &Tensor, source: &Tensor) -> Result<Tensor> {
        to.scatter_add(self.dim, self.index, source)
    }

    fn scatter_reduce(&self, this: &Tensor, source: &Tensor, name: &str, include_self: bool) -> Result<Tensor> {
        aten::scatter_reduce_two(this, self.dim, self.index, source, name, include_self)
    }

    fn fill_zeros(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.scatter(self.dim, self.index, 0)
    }
}

/// A mapping with one index per slice along a dimension (`index_reduce`).
struct SliceIndex<'a> {
    dim: i64,
    index: &'a Tensor,
}

impl ScatterIndex for SliceIndex<'_> {
    fn gather(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.index_select(self.dim, self.index)
    }

    fn scatter_add(&self, to: &Tensor, source: &Tensor) -> Result<Tensor> {
        to.index_add(self.dim, self.index, source)
    }

    fn scatter_reduce(&self, this: &Tensor, source: &Tensor, name: &str, include_self: bool) -> Result<Tensor> {
        aten::index_reduce(this, self.dim, self.index, source, name, include_self)
    }

    fn fill_zeros(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.index_fill(self.dim, self.index, 0)
    }
}

#[op_grad(aten::index_reduce, not_differentiable(index))]
fn index_reduce(grad: &Tensor, result: &Tensor, _: ...) -> Result<(Tensor, Tensor)> {
    let reduction = ScatterReduction { index: SliceIndex { dim, index }, name: reduce, include_self };
    reduction.gradients(grad, this, source, result)
}

/// A reduction of source elements into positions of a tensor.
pub(super) struct ScatterReduction<'a, K> {
    pub(super) index: K,
    pub(super) name: &'a str,
    pub(super) include_self: bool,
}

impl<K: ScatterIndex> ScatterReduction<'_, K> {
    /// Returns the gradients of the tensor before the reduction and of the source.
    pub(super) fn gradients(
        &self,
        grad: &Tensor,
        this: &Tensor,
        source: &Tensor,
        result: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let (before, of_source) = match self.name {
            "sum" => (grad.clone(), self.index.gather(grad)?),
            "mean" => self.mean_gradients(grad, source)?,
            "prod" => self.product_gradients(grad, this, source, result)?,
            "amax" | "amin" => self.extremum_gradients(grad, this, source, result)?,
            other => {
                return Err(BadArgument::keyword("reduce", other, &["sum", "mean", "prod", "amax", "amin"]).into());
            }
        };
        Ok((if self.include_self { before } else { self.index.fill_zeros(&before)? }, of_source))
    }

    fn mean_gradients(&self, grad: &Tensor, source: &Tensor) -> Result<(Tensor, Tensor)> {
        let own = if self.include_self { grad.ones_like()? } else { grad.zeros_like()? };
        let count = self.index.scatter_add(&own, &source.ones_like()?)?.clamp_min(1)?;
        Ok(((grad / &count)?, (self.index.gather(grad)? / self.index.gather(&count)?)?))
    }

    /// Returns the gradients of a product. Each factor is divided out of the result. If it is the only zero of its product, the product is
    /// computed again without it.
    fn product_gradients(
        &self,
        grad: &Tensor,
        this: &Tensor,
        source: &Tensor,
        result: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let nonzero = this.masked_fill(&this.eq(0)?, 1)?;
        let before = ((grad * self.index.scatter_reduce(&nonzero, source, self.name, self.include_self)?)? / nonzero)?;
        let zero = source.eq(0)?;
        let zeros = self.index.gather(&self.index.scatter_add(&this.zeros_like()?, &zero.to(this.dtype())?)?)?;
        let single = zero.logical_and(&zeros.eq(1)?)?;
        let others = self.index.scatter_reduce(this, &source.masked_fill(&single, 1)?, self.name, self.include_self)?;
        let divided = (self.index.gather(&(grad * result)?)? / source.masked_fill(&zero, 1)?)?;
        Ok((before, aten::where_self(&single, &self.index.gather(&(grad * others)?)?, &divided)?))
    }

    fn extremum_gradients(
        &self,
        grad: &Tensor,
        this: &Tensor,
        source: &Tensor,
        result: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let own = this.eq(result)?.to(grad.dtype())?;
        let is_extreme = source.eq(&self.index.gather(result)?)?.to(grad.dtype())?;
        let share = (grad / self.index.scatter_add(&own, &is_extreme)?)?;
        Ok(((own * &share)?, (is_extreme * self.index.gather(&share)?)?))
    }
}
