//! Gradient formulas of pairwise distances between rows.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, op_grad};

fn transpose_matrix(tensor: &Tensor) -> Result<Tensor> {
    tensor.transpose(-2, -1)
}

derivatives! {
    _cdist_forward(grad, x1, x2; p: f64, result: &Tensor) =>
        aten::_cdist_backward(grad, x1, x2, p, result),
        aten::_cdist_backward(&transpose_matrix(grad)?, x2, x1, p, &transpose_matrix(result)?);
    _pdist_forward(grad, this; p: f64, result: &Tensor) => aten::_pdist_backward(grad, this, p, result);
}

#[op_grad(aten::_cdist_backward)]
fn _cdist_backward(grad0: &Tensor, _: ...) -> Result<(impl Gradient, impl Gradient, impl Gradient, impl Gradient)> {
    let difference = (x1.unsqueeze(-2)? - x2.unsqueeze(-3)?)?;
    let second_order = SecondOrderDistanceGradients::new(&grad0.unsqueeze(-2)?, grad, &difference, cdist, p)?;
    let of_x1 = second_order.difference.sum_dims(-2)?;
    let of_x2 = (-second_order.difference.sum_dims(-3)?)?;
    Ok((second_order.grad, of_x1, of_x2, second_order.distance))
}

#[op_grad(aten::_euclidean_dist)]
fn _euclidean_dist(grad: &Tensor, x1: &Tensor, x2: &Tensor, result: &Tensor) -> (impl Gradient, impl Gradient) {
    // The distance of equal points has gradient zero.
    let ratio = move || (grad / result)?.masked_fill(&result.eq(0)?, 0);
    let point_gradient =
        |ratio: &Tensor, near: &Tensor, far: &Tensor| (near * ratio.sum_keepdim(-1)?)? - ratio.matmul(far)?;
    (move || point_gradient(&ratio()?, x1, x2), move || point_gradient(&transpose_matrix(&ratio()?)?, x2, x1))
}

#[op_grad(aten::_pdist_backward)]
fn _pdist_backward(grad0: &Tensor, _: ...) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let pairs = aten::combinations(&Tensor::arange(0..this.sizes()[0], (DType::I64, this.device()))?, 2, false)?;
    let (first, second) = (pairs.select(1, 0)?, pairs.select(1, 1)?);
    let between = |rows: &Tensor| rows.index_select(0, &first)? - rows.index_select(0, &second)?;
    let second_order = SecondOrderDistanceGradients::new(&between(grad0)?, grad, &between(this)?, pdist, p)?;
    let of_first = this.zeros_like()?.index_add(0, &first, &second_order.difference)?;
    Ok((second_order.grad, of_first.index_add(0, &second, &(-&second_order.difference)?)?, second_order.distance))
}

/// The second-order gradients of distances: of the incoming gradient, of each difference, and of the distances.
struct SecondOrderDistanceGradients {
    grad: Tensor,
    difference: Tensor,
    distance: Tensor,
}

impl SecondOrderDistanceGradients {
    /// Computes the second-order gradients. `outer` is the difference of the gradients that arrived for the two points.
    fn new(outer: &Tensor, grad: &Tensor, difference: &Tensor, distance: &Tensor, p: f64) -> Result<Self> {
        let (sign, size) = (difference.sign()?, difference.abs()?);
        let without_curvature = |slope: &Tensor| {
            let grad = inner_product(outer, slope)?;
            Ok(Self { grad, difference: difference.zeros_like()?, distance: distance.zeros_like()? })
        };
        if p == 0.0 {
            return without_curvature(&difference.zeros_like()?);
        }
        if p == f64::INFINITY {
            return without_curvature(&sign.masked_fill(&size.ne(&distance.unsqueeze(-1)?)?, 0)?);
        }
        // The distance of equal points has gradient zero.
        let is_zero = distance.eq(0)?;
        let far = distance.masked_fill(&is_zero, 1)?;
        let (share, level) = ((size / far.unsqueeze(-1)?)?, difference.eq(0)?);
        let slope = (sign * share.pow(p - 1.0)?)?.masked_fill(&level, 0)?;
        let even = if p < 2.0 { level } else { is_zero.unsqueeze(-1)? };
        let second_derivative = share.pow(p - 2.0)?.masked_fill(&even, 0)?;
        let of_grad = inner_product(outer, &slope)?;
        let by_distance = ((grad * (p - 1.0))? / far)?;
        Ok(Self {
            difference: ((outer * second_derivative)? * by_distance.unsqueeze(-1)?)?,
            distance: (-(&of_grad * by_distance)?)?,
            grad: of_grad,
        })
    }
}

/// Returns the inner products along the last dimension.
fn inner_product(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    (a * b)?.sum_dims(-1)
}
