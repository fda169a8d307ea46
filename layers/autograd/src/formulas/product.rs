//! Products of matrices and vectors.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::arithmetic::scaled;
use crate::complex::conj;
use crate::{Gradient, op_grad};

/// The conjugate transpose.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    conj(&matrix.transpose_int(-2, -1)?)
}

/// A product whose elements lie as those of `like` do. A weight is used transposed; its gradient, transposed back, lies as it does then,
/// and is added to it line by line.
fn product(like: &Tensor, rows: &Tensor, columns: &Tensor) -> Result<Tensor> {
    if let ([height, _], [1, stride]) = (like.sizes(), like.geometry().strides())
        && stride == height
    {
        return columns.t()?.mm(&rows.t()?)?.t();
    }
    rows.mm(columns)
}

#[op_grad(aten::mm)]
fn mm(grad: &Tensor, this: &Tensor, mat2: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || product(this, grad, &adjoint(mat2)?), move || product(mat2, &adjoint(this)?, grad))
}

#[op_grad(aten::bmm)]
fn bmm(grad: &Tensor, this: &Tensor, mat2: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad.bmm(&adjoint(mat2)?), move || adjoint(this)?.bmm(grad))
}

#[op_grad(aten::mv)]
fn mv(grad: &Tensor, this: &Tensor, vec: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad.outer(&conj(vec)?), move || adjoint(this)?.mv(grad))
}

#[op_grad(aten::dot)]
fn dot(grad: &Tensor, this: &Tensor, tensor: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || grad * conj(tensor)?, move || grad * conj(this)?)
}

#[op_grad(aten::vdot)]
fn vdot(grad: &Tensor, this: &Tensor, other: &Tensor) -> (impl Gradient, impl Gradient) {
    (move || conj(grad)? * other, move || grad * this)
}

#[op_grad(aten::addmm)]
fn addmm(
    grad: &Tensor,
    mat1: &Tensor,
    mat2: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    (
        move || scaled(grad, beta),
        move || scaled(&product(mat1, grad, &adjoint(mat2)?)?, alpha),
        move || scaled(&product(mat2, &adjoint(mat1)?, grad)?, alpha),
    )
}

#[op_grad(aten::baddbmm)]
fn baddbmm(
    grad: &Tensor,
    batch1: &Tensor,
    batch2: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    (
        move || scaled(grad, beta),
        move || scaled(&grad.bmm(&adjoint(batch2)?)?, alpha),
        move || scaled(&adjoint(batch1)?.bmm(grad)?, alpha),
    )
}

#[op_grad(aten::addbmm)]
fn addbmm(
    grad: &Tensor,
    batch1: &Tensor,
    batch2: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    // Each of the matrices that were added up has the gradient of the sum.
    let each = move || grad.unsqueeze(0)?.expand(&[batch1.sizes()[0], grad.sizes()[0], grad.sizes()[1]]);
    (
        move || scaled(grad, beta),
        move || scaled(&each()?.bmm(&adjoint(batch2)?)?, alpha),
        move || scaled(&adjoint(batch1)?.bmm(&each()?)?, alpha),
    )
}

#[op_grad(aten::addmv)]
fn addmv(
    grad: &Tensor,
    mat: &Tensor,
    vec: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    (
        move || scaled(grad, beta),
        move || scaled(&grad.outer(&conj(vec)?)?, alpha),
        move || scaled(&adjoint(mat)?.mv(grad)?, alpha),
    )
}

#[op_grad(aten::addr)]
fn addr(
    grad: &Tensor,
    vec1: &Tensor,
    vec2: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> (impl Gradient, impl Gradient, impl Gradient) {
    (
        move || scaled(grad, beta),
        move || scaled(&grad.mv(&conj(vec2)?)?, alpha),
        move || scaled(&grad.t()?.mv(&conj(vec1)?)?, alpha),
    )
}
