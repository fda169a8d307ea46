//! Gradient formulas of sorting and selection: each gradient goes to the element that the indices name.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::formulas::reduction::min_max::shared_by_all;
use crate::formulas::reduction::sums::restored;
use crate::{Outline, not_differentiable};

/// Scatters the gradient of selected elements to their positions in the input.
fn put_back(grad: &Tensor, this: &Outline, dim: i64, indices: &Tensor, keepdim: bool) -> Result<Tensor> {
    let grad = restored(grad, this.sizes(), &[dim], keepdim)?;
    let indices = restored(indices, this.sizes(), &[dim], keepdim)?;
    Tensor::zeros(this.sizes(), &grad)?.scatter_src(dim, &indices, &grad)
}

/// Defines the derivatives of operators that select one element along a dimension.
macro_rules! selections {
    ($($operator:ident)*) => { derivatives! {$(
        $operator(grad; this: &Outline, dim: i64, keepdim: bool, indices: &Tensor), not_differentiable(indices) =>
            put_back(grad, this, dim, indices, keepdim);
    )*} };
}

selections! { max_dim min_dim kthvalue median_dim nanmedian_dim mode }

/// Defines the derivatives of operators that select several elements along a dimension.
macro_rules! orders {
    ($($operator:ident)*) => { derivatives! {$(
        $operator(grad; this: &Outline, dim: i64, indices: &Tensor), not_differentiable(indices) =>
            put_back(grad, this, dim, indices, true);
    )*} };
}

orders! { sort sort_stable topk }

derivatives! {
    median(grad, this, result) => shared_by_all(grad, this, result);
    nanmedian(grad, this, result) => shared_by_all(grad, this, result);
}

not_differentiable!(
    aten::histogram_bin_ct,
    aten::histogram_bins_tensor,
    aten::_histogramdd_bin_edges,
    aten::_histogramdd_from_bin_cts,
    aten::_histogramdd_from_bin_tensors
);
