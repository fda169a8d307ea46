//! Gradient formulas of matrix and vector products.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::formulas::elementwise::arithmetic::scaled;
use crate::{Gradient, op_grad};

/// Returns the conjugate transpose of a matrix.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    conj(&matrix.transpose_int(-2, -1)?)
}

/// Multiplies two matrices. The result is column-major if `like` is: a transposed weight then gets a gradient with the same strides, so
/// that both are added row by row without a copy.
fn product(like: &Tensor, rows: &Tensor, columns: &Tensor) -> Result<Tensor> {
    if let ([height, _], [1, stride]) = (like.sizes(), like.geometry().strides())
        && stride == height
    {
        return columns.t()?.mm(&rows.t()?)?.t();
    }
    rows.mm(columns)
}

derivatives! {
    mm(grad, this, mat2) => product(this, grad, &adjoint(mat2)?), product(mat2, &adjoint(this)?, grad);
    bmm(grad, this, mat2) => grad.bmm(&adjoint(mat2)?), adjoint(this)?.bmm(grad);
    mv(grad, this, vec) => grad.outer(&conj(vec)?), adjoint(this)?.mv(grad);
    dot(grad, this, tensor) => grad * conj(tensor)?, grad * conj(this)?;
    vdot(grad, this, other) => conj(grad)? * other, grad * this;
    addmm(grad, mat1, mat2; beta: Scalar, alpha: Scalar) =>
        scaled(grad, beta),
        scaled(&product(mat1, grad, &adjoint(mat2)?)?, alpha),
        scaled(&product(mat2, &adjoint(mat1)?, grad)?, alpha);
    baddbmm(grad, batch1, batch2; beta: Scalar, alpha: Scalar) =>
        scaled(grad, beta), scaled(&grad.bmm(&adjoint(batch2)?)?, alpha), scaled(&adjoint(batch1)?.bmm(grad)?, alpha);
    addmv(grad, mat, vec; beta: Scalar, alpha: Scalar) =>
        scaled(grad, beta), scaled(&grad.outer(&conj(vec)?)?, alpha), scaled(&adjoint(mat)?.mv(grad)?, alpha);
    addr(grad, vec1, vec2; beta: Scalar, alpha: Scalar) =>
        scaled(grad, beta), scaled(&grad.mv(&conj(vec2)?)?, alpha), scaled(&grad.t()?.mv(&conj(vec1)?)?, alpha);
}

#[op_grad(aten::addbmm)]
fn addbmm(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    // Each matrix of the sum receives the gradient of the sum.
    let each = move || grad.unsqueeze(0)?.expand(&[batch1.sizes()[0], grad.sizes()[0], grad.sizes()[1]]);
    (
        move || scaled(grad, beta),
        move || scaled(&each()?.bmm(&adjoint(batch2)?)?, alpha),
        move || scaled(&adjoint(batch1)?.bmm(&each()?)?, alpha),
    )
}
