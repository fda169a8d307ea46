//! Gradient formulas of sorting and selection: each gradient goes to the element that the indices name.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::formulas::reduction::min_max::share_among_equal_elements;
use crate::formulas::reduction::sums::restore_dims;
use crate::{TensorOutline, not_differentiable};

/// Scatters the gradient of selected elements to their positions in the input.
fn scatter_selected_gradients(
    grad: &Tensor,
    this: &TensorOutline,
    dim: i64,
    indices: &Tensor,
    keepdim: bool,
) -> Result<Tensor> {
    let grad = restore_dims(grad, this.sizes(), &[dim], keepdim)?;
    let indices = restore_dims(indices, this.sizes(), &[dim], keepdim)?;
    Tensor::zeros(this.sizes(), &grad)?.scatter(dim, &indices, &grad)
}

/// Defines the derivatives of operators that select one element along a dimension.
macro_rules! selection_derivatives {
    ($($operator:ident)*) => { derivatives! {$(
        $operator(grad; this: &TensorOutline, dim: i64, keepdim: bool, indices: &Tensor), not_differentiable(indices) =>
            scatter_selected_gradients(grad, this, dim, indices, keepdim);
    )*} };
}

selection_derivatives! { max_dim min_dim kthvalue median_dim nanmedian_dim mode }

/// Defines the derivatives of operators that select several elements along a dimension.
macro_rules! sort_derivatives {
    ($($operator:ident)*) => { derivatives! {$(
        $operator(grad; this: &TensorOutline, dim: i64, indices: &Tensor), not_differentiable(indices) =>
            scatter_selected_gradients(grad, this, dim, indices, true);
    )*} };
}

sort_derivatives! { sort sort_stable topk }

derivatives! {
    median(grad, this, result) => share_among_equal_elements(grad, this, result);
    nanmedian(grad, this, result) => share_among_equal_elements(grad, this, result);
}

not_differentiable!(
    aten::histogram_bin_ct,
    aten::histogram_bins_tensor,
    aten::_histogramdd_bin_edges,
    aten::_histogramdd_from_bin_cts,
    aten::_histogramdd_from_bin_tensors
);
