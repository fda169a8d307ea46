//! Kernels of bitwise and logical operators.

use dispatch_runtime::{Bool, Complex32, Complex64, DType, Tensor};

use engine::compute::{Compute, Ordered};
use engine::elementwise::{Loops, elementwise, loops};
use engine::inlined::inlined;
use engine::math::Real;

elementwise! {
    bitwise_and [few] => |[a, b]| a & b;
    bitwise_or [few] => |[a, b]| a | b;
    bitwise_xor [few] => |[a, b]| a ^ b;
    bitwise_not => by { inverting(this) };
    bitwise_left_shift => |[a, b]| shifted_left(a, b);
    bitwise_right_shift => |[a, b]| shifted_right(a, b);
    logical_and [few] => |[a, b]| Bool::from(a.holds() & b.holds());
    logical_or [few] => |[a, b]| Bool::from(a.holds() | b.holds());
    logical_xor [few] => |[a, b]| Bool::from(a.holds() ^ b.holds());
    logical_not [few] => |[x]| Bool::from(!x.holds());
    isnan => |[x]| Bool::from(not_itself(x));
    isinf => |[x]| Bool::from(x.is_without_end());
    isfinite => |[x]| Bool::from(!not_itself(x) & !x.is_without_end());
    isposinf => |[x]| Bool::from(x.is_without_end() & !Ordered::is_minus(x));
    isneginf => |[x]| Bool::from(x.is_without_end() & Ordered::is_minus(x));
    signbit => |[x]| Bool::from(Ordered::is_minus(x));
}

const NOT: Loops<'static, 1> = &loops!([i32 i64] | [x] | !x);
/// The negation of booleans. `!x` would invert all bits of the `i32` or `i64` that they are computed in.
const OPPOSITE: Loops<'static, 1> = &loops!([i32 i64] | [x] | 1 - x);

fn inverting(this: &Tensor) -> Loops<'static, 1> {
    if this.dtype() == DType::Bool { OPPOSITE } else { NOT }
}

/// Shifts left. Narrower integers lose the bits that do not fit when they are stored.
#[inline(always)]
fn shifted_left(x: i64, by: i64) -> i64 {
    if (0..64).contains(&by) { x << by } else { 0 }
}

#[inline(always)]
fn shifted_right(x: i64, by: i64) -> i64 {
    x >> (if (0..64).contains(&by) { by } else { 63 })
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "that is what NaN is")]
fn not_itself<T: PartialEq + Copy>(x: T) -> bool {
    x != x
}

trait Extent: Compute {
    fn is_without_end(self) -> bool;
}

inlined! {
    impl Extent for i64 {
        fn is_without_end(self) -> bool = false;
    }

    impl Extent for f32, f64 {
        fn is_without_end(self) -> bool = Real::abs(self) == Self::INFINITY;
    }

    impl Extent for Complex32, Complex64 {
        fn is_without_end(self) -> bool = self.re.is_without_end() | self.im.is_without_end();
    }
}
