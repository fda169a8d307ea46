//! What is left of tensors of which elements are left out.

use dispatch_runtime::Arithmetic;

use engine::elementwise::elementwise;

elementwise! {
    native_dropout_backward => |[grad, mask]| {
        grad.times(mask).times(scale)
    };
}
