//! Gradient formulas of operators that index elements: `index`, `gather`, `take`, `put`, `embedding` and masks.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{TensorOutline, not_differentiable};

not_differentiable!(aten::nonzero, aten::nonzero_static, aten::one_hot);

/// Returns the gradient of a source that was written to the slices at `index` along a dimension. The source may have no dimensions, and
/// broadcasts.
fn indexed_source_gradient(grad: &Tensor, dim: i64, index: &Tensor, source: &TensorOutline) -> Result<Tensor> {
    if source.rank() == 0 {
        return grad.index_select(dim, &index.reshape(-1)?)?.reshape(());
    }
    grad.index_select(dim, index)?.expand(source.sizes())
}

derivatives! {
    embedding(grad; weight: &TensorOutline, _: ...), not_differentiable(indices) =>
        aten::embedding_backward(grad, indices, weight.sizes()[0], padding_idx, scale_grad_by_freq, sparse);
    embedding_dense_backward(grad; _: ...), not_differentiable(indices) => {
        let positions = indices.reshape(-1)?;
        let mut rows = grad.index_select(0, &positions)?;
        if padding_idx >= 0 {
            rows = rows.masked_fill(&positions.eq(padding_idx)?.unsqueeze(-1)?, 0)?;
        }
        if scale_grad_by_freq {
            let one = Tensor::ones((), (grad.dtype(), grad.device()))?.expand(positions.sizes())?;
            let often = Tensor::zeros(num_weights, grad)?.index_add(0, &positions, &one)?;
            rows = (rows / often.index_select(0, &positions)?.unsqueeze(-1)?)?;
        }
        let sizes: Vec<i64> = indices.sizes().iter().copied().chain([grad.sizes()[1]]).collect();
        rows.reshape(&sizes)
    };
    index_select(grad; this: &TensorOutline, dim: i64, index: &Tensor), not_differentiable(index) =>
        aten::index_select_backward(grad, this.sizes(), dim, index);
    // `gather` accepts 32-bit indices, `scatter_add` does not.
    gather(grad; this: &TensorOutline, dim: i64, index: &Tensor), not_differentiable(index) =>
        Tensor::zeros(this.sizes(), grad)?.scatter_add(dim, &index.to(DType::I64)?, grad);
    take(grad; this: &TensorOutline, index: &Tensor), not_differentiable(index) =>
        aten::put(&Tensor::zeros(this.sizes(), grad)?, index, grad, true);
    put(grad, index; source: &TensorOutline, accumulate: bool), not_differentiable(index) =>
        if accumulate { Ok(grad.clone()) } else { aten::put(grad, index, &Tensor::zeros(index.sizes(), grad)?, false) },
        grad.take(index)?.reshape(source.sizes());
    index(grad; this: &TensorOutline, indices: &[Option<Tensor>]), not_differentiable(indices) =>
        aten::index_put(&Tensor::zeros(this.sizes(), grad)?, indices, grad, true);
    index_put(grad; indices: &[Option<Tensor>], accumulate: bool), not_differentiable(indices) =>
        if accumulate { Ok(grad.clone()) } else { aten::index_put(grad, indices, &Tensor::zeros((), grad)?, false) },
        aten::index(grad, indices);
    index_fill_int_scalar(grad; dim: i64, index: &Tensor), not_differentiable(index) =>
        grad.index_fill(dim, index, 0);
    // The value fills a repeated index only once, so its gradient counts that index once.
    index_fill_int_tensor(grad; dim: i64, index: &Tensor), not_differentiable(index) =>
        grad.index_fill(dim, index, 0),
        {
            let elsewhere = grad.ones_like()?.index_fill(dim, index, 0)?.to(DType::Bool)?;
            grad.masked_fill(&elsewhere, 0)?.sum()
        };
    index_copy(grad; dim: i64, index: &Tensor, source: &TensorOutline), not_differentiable(index) =>
        grad.index_fill(dim, index, 0), indexed_source_gradient(grad, dim, index, source);
    index_add(grad; dim: i64, index: &Tensor, source: &TensorOutline, alpha: Scalar), not_differentiable(index) =>
        Ok(grad.clone()), indexed_source_gradient(grad, dim, index, source)? * alpha;
    masked_select(grad; this: &TensorOutline, mask: &Tensor), not_differentiable(mask) =>
        aten::masked_select_backward(grad, &this.expanded_zero()?, mask);
    masked_scatter(grad, mask; source: &TensorOutline), not_differentiable(mask) =>
        grad.masked_fill(mask, 0),
        {
            let taken = grad.masked_select(mask)?;
            let left = source.element_count() - taken.geometry().count();
            aten::constant_pad_nd(&taken, &[0, left], 0.into())?.reshape(source.sizes())
        };
}
