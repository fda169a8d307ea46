//! Signs, magnitudes, and integer parts.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::real;

derivatives! {
    neg(grad) => -grad;
    abs(grad, this) => grad * this.sgn()?;
    frac(grad) => Ok(grad.clone());
    sgn(grad, this, result) => {
        if !this.dtype().is_complex() {
            return grad.zeros_like();
        }
        // Only what is across the direction turns it.
        let along = real(&(grad * aten::conj(result)?)?)?;
        let length = real(&(this * aten::conj(result)?)?)?;
        let slope = ((grad - (result * along)?)? / &length)?;
        slope.masked_fill_scalar(&length.eq_scalar(0)?, 0)
    };
    sign(grad) => grad.zeros_like();
    floor(grad) => grad.zeros_like();
    ceil(grad) => grad.zeros_like();
    trunc(grad) => grad.zeros_like();
    round(grad) => grad.zeros_like();
    round_decimals(grad) => grad.zeros_like();
    nan_to_num(grad, this) => grad * this.isfinite()?;
    frexp(grad, exponent), not_differentiable(exponent) => grad / exponent.exp2()?;
}
