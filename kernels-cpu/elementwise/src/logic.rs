//! Kernels of bitwise and logical operators.

use dispatch_runtime::{Bool, Complex32, Complex64, DType, Tensor};

use engine::compute::{ComputeType, Ordered};
use engine::elementwise::{Loops, elementwise, loops};
use engine::inlined::inlined;
use engine::math::Real;

elementwise! {
    bitwise_and [few] => |[a, b]| a & b;
    bitwise_or [few] => |[a, b]| a | b;
    bitwise_xor [few] => |[a, b]| a ^ b;
    bitwise_not => by { bitwise_not_loops(this) };
    bitwise_left_shift => |[a, b]| shift_left(a, b);
    bitwise_right_shift => |[a, b]| shift_right(a, b);
    logical_and [few] => |[a, b]| Bool::from(a.is_nonzero() & b.is_nonzero());
    logical_or [few] => |[a, b]| Bool::from(a.is_nonzero() | b.is_nonzero());
    logical_xor [few] => |[a, b]| Bool::from(a.is_nonzero() ^ b.is_nonzero());
    logical_not [few] => |[x]| Bool::from(!x.is_nonzero());
    isnan => |[x]| Bool::from(is_nan(x));
    isinf => |[x]| Bool::from(x.has_infinite_part());
    isfinite => |[x]| Bool::from(!is_nan(x) & !x.has_infinite_part());
    isposinf => |[x]| Bool::from(x.has_infinite_part() & !Ordered::has_minus_sign(x));
    isneginf => |[x]| Bool::from(x.has_infinite_part() & Ordered::has_minus_sign(x));
    signbit => |[x]| Bool::from(Ordered::has_minus_sign(x));
}

const BITWISE_NOT_LOOPS: Loops<'static, 1> = &loops!([i32 i64] | [x] | !x);
/// The negation of booleans. `!x` would invert all bits of the `i32` or `i64` that they are computed in.
const BOOL_NOT_LOOPS: Loops<'static, 1> = &loops!([i32 i64] | [x] | 1 - x);

fn bitwise_not_loops(this: &Tensor) -> Loops<'static, 1> {
    if this.dtype() == DType::Bool { BOOL_NOT_LOOPS } else { BITWISE_NOT_LOOPS }
}

/// Shifts an integer left. Narrower integers lose the bits that do not fit when they are stored.
#[inline(always)]
fn shift_left(x: i64, by: i64) -> i64 {
    if (0..64).contains(&by) { x << by } else { 0 }
}

#[inline(always)]
fn shift_right(x: i64, by: i64) -> i64 {
    x >> (if (0..64).contains(&by) { by } else { 63 })
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: PartialEq + Copy>(x: T) -> bool {
    x != x
}

trait InfinityTest: ComputeType {
    fn has_infinite_part(self) -> bool;
}

inlined! {
    impl InfinityTest for i64 {
        fn has_infinite_part(self) -> bool = false;
    }

    impl InfinityTest for f32, f64 {
        fn has_infinite_part(self) -> bool = Real::abs(self) == Self::INFINITY;
    }

    impl InfinityTest for Complex32, Complex64 {
        fn has_infinite_part(self) -> bool = self.re.has_infinite_part() | self.im.has_infinite_part();
    }
}
