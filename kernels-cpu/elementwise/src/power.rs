//! Kernels of powers.

use dispatch_runtime::{Complex32, Complex64, Result, Tensor, op_impl};

use engine::compute::Power;
use engine::elementwise::{Loops, compute_in_place, elementwise, loops};

elementwise! {
    pow_tensor_tensor => |[a, b]| Power::pow(a, b);
}

const POWER_LOOPS: Loops<'static, 2> = &loops!([f32 f64 i64 Complex32 Complex64] |[a, b]| Power::pow(a, b));

#[op_impl(aten::pow_, CPU)]
fn pow_(this: &mut Tensor, exponent: &Tensor) -> Result<()> {
    compute_in_place::<aten::pow_tensor_tensor, aten::pow_, _>(this, [None, Some(exponent)], POWER_LOOPS)
}
