//! CUDA kernels of `pow`.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::compute_in_place;
use crate::prelude::*;

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    pow_tensor_tensor [few] => |a, b| "return power(a, b);";
});

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    POWER_LOOPS power [F32 F64 I32 I64] |a, b| "return power(a, b);";
});

#[op_impl(aten::pow_, CUDA)]
fn pow_(this: &mut Tensor, exponent: &Tensor) -> Result<()> {
    compute_in_place::<aten::pow_tensor_tensor, aten::pow_, _>(
        this,
        [None, Some(exponent)],
        &POWER_LOOPS.bind_scalars(&[]),
    )
}
