//! The kernel of the gradient of dropout, which dropout itself calls.

use dispatch_runtime::Arithmetic;

use engine::elementwise::elementwise;

elementwise! {
    native_dropout_backward => |[grad, mask]| {
        grad.times(mask).times(scale)
    };
}
