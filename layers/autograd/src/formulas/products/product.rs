//! Gradient formulas of matrix and vector products.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;
use crate::formulas::elementwise::arithmetic::scale_gradient;
use crate::{Gradient, op_grad};

/// Returns the conjugate transpose of a matrix.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    conj(&matrix.transpose(-2, -1)?)
}

/// Multiplies two matrices. The result is column-major if `like` is: a transposed weight then gets a gradient with the same strides, so
/// that both are added row by row without a copy.
fn mm_with_layout_of(like: &Tensor, rows: &Tensor, columns: &Tensor) -> Result<Tensor> {
    if let ([height, _], [1, stride]) = (like.sizes(), like.geometry().strides())
        && stride == height
    {
        return columns.t()?.mm(&rows.t()?)?.t();
    }
    rows.mm(columns)
}

derivatives! {
    mm(grad, this, mat2) => mm_with_layout_of(this, grad, &adjoint(mat2)?), mm_with_layout_of(mat2, &adjoint(this)?, grad);
    bmm(grad, this, mat2) => grad.bmm(&adjoint(mat2)?), adjoint(this)?.bmm(grad);
    mv(grad, this, vec) => grad.outer(&conj(vec)?), adjoint(this)?.mv(grad);
    dot(grad, this, tensor) => grad * conj(tensor)?, grad * conj(this)?;
    vdot(grad, this, other) => conj(grad)? * other, grad * this;
    addmm(grad, mat1, mat2; beta: Scalar, alpha: Scalar) =>
        scale_gradient(grad, beta),
        scale_gradient(&mm_with_layout_of(mat1, grad, &adjoint(mat2)?)?, alpha),
        scale_gradient(&mm_with_layout_of(mat2, &adjoint(mat1)?, grad)?, alpha);
    baddbmm(grad, batch1, batch2; beta: Scalar, alpha: Scalar) =>
        scale_gradient(grad, beta), scale_gradient(&grad.bmm(&adjoint(batch2)?)?, alpha), scale_gradient(&adjoint(batch1)?.bmm(grad)?, alpha);
    addmv(grad, mat, vec; beta: Scalar, alpha: Scalar) =>
        scale_gradient(grad, beta), scale_gradient(&grad.outer(&conj(vec)?)?, alpha), scale_gradient(&adjoint(mat)?.mv(grad)?, alpha);
    addr(grad, vec1, vec2; beta: Scalar, alpha: Scalar) =>
        scale_gradient(grad, beta), scale_gradient(&grad.mv(&conj(vec2)?)?, alpha), scale_gradient(&grad.t()?.mv(&conj(vec1)?)?, alpha);
}

#[op_grad(aten::addbmm)]
fn addbmm(grad: &Tensor, _: ...) -> (impl Gradient, impl Gradient, impl Gradient) {
    // Each matrix of the sum receives the gradient of the sum.
    let each = move || grad.unsqueeze(0)?.expand([batch1.sizes()[0], grad.sizes()[0], grad.sizes()[1]]);
    (
        move || scale_gradient(grad, beta),
        move || scale_gradient(&each()?.bmm(&adjoint(batch2)?)?, alpha),
        move || scale_gradient(&adjoint(batch1)?.bmm(&each()?)?, alpha),
    )
}
