//! What is left of tensors of which elements are left out.

use dispatch_runtime::{Arithmetic, Complex32, Complex64};

use crate::elementwise::elementwise;

elementwise! {
    native_dropout_backward - native_dropout_backward_out [f32 f64 Complex32 Complex64] (grad_output, mask; scale: f64) => |[grad, mask]| {
        grad.times(mask).times(scale)
    };
}
