//! Gradient formulas of copies (between dtypes, memory formats and devices) and fills.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::TensorOutline;

derivatives! {
    copy_(grad; src: &TensorOutline), not_differentiable(this) => grad.to(src.device());
    copy(grad; src: &TensorOutline), not_differentiable(this) => grad.to(src.device());
    clone(grad) => Ok(grad.clone());
    alias_copy(grad) => Ok(grad.clone());
    _to_copy(grad; this: &TensorOutline) => grad.to(this.device());
    _pin_memory(grad) => Ok(grad.clone());
    fill_scalar(grad) => grad.zeros_like();
    fill(grad) => grad.zeros_like(), grad.sum();
    zero(grad) => grad.zeros_like();
}
