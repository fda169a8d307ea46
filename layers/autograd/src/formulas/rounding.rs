//! Signs, magnitudes, and integer parts.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::real;
use crate::op_grad;

#[op_grad(aten::neg)]
fn neg(grad: &Tensor) -> Result<Tensor> {
    -grad
}

#[op_grad(aten::abs)]
fn abs(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this.sgn()?
}

/// What is constant between its steps.
macro_rules! steps {
    ($($name:ident)*) => {$(
        #[op_grad(aten::$name)]
        fn $name(grad: &Tensor) -> Result<Tensor> {
            grad.zeros_like()
        }
    )*};
}

steps! { sign floor ceil trunc round round_decimals }

#[op_grad(aten::sgn)]
fn sgn(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return grad.zeros_like();
    }
    // Only what is across the direction turns it.
    let along = real(&(grad * aten::conj(result)?)?)?;
    let length = real(&(this * aten::conj(result)?)?)?;
    let slope = ((grad - (result * along)?)? / &length)?;
    slope.masked_fill_scalar(&length.eq_scalar(0)?, 0)
}

#[op_grad(aten::frac)]
fn frac(grad: &Tensor) -> Result<Tensor> {
    Ok(grad.clone())
}

#[op_grad(aten::nan_to_num)]
fn nan_to_num(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * this.isfinite()?
}

#[op_grad(aten::frexp, not_differentiable(exponent))]
fn frexp(grad: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    grad / exponent.exp2()?
}
