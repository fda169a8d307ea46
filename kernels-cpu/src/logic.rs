//! Bits and truth.

use dispatch_runtime::{Bool, Complex32, Complex64, DType, Result, Tensor, op_impl};

use crate::compute::{Compute, Ordered};
use crate::elementwise::{Bound, Loops, elementwise, fresh, fusible, in_place, into, loops};
use crate::math::Real;

elementwise! {
    bitwise_and bitwise_and_ bitwise_and_tensor_out [i32 i64] (this, other) => |[a, b]| a & b;
    bitwise_or bitwise_or_ bitwise_or_tensor_out [i32 i64] (this, other) => |[a, b]| a | b;
    bitwise_xor bitwise_xor_ bitwise_xor_tensor_out [i32 i64] (this, other) => |[a, b]| a ^ b;
    bitwise_left_shift bitwise_left_shift_ bitwise_left_shift_tensor_out [i64] (this, other) => |[a, b]| shifted_left(a, b);
    bitwise_right_shift bitwise_right_shift_ bitwise_right_shift_tensor_out [i64] (this, other) => |[a, b]| shifted_right(a, b);
    logical_and logical_and_ logical_and_out [f32 f64 i32 i64 Complex32 Complex64] (this, other) => |[a, b]| Bool::from(a.holds() & b.holds());
    logical_or logical_or_ logical_or_out [f32 f64 i32 i64 Complex32 Complex64] (this, other) => |[a, b]| Bool::from(a.holds() | b.holds());
    logical_xor logical_xor_ logical_xor_out [f32 f64 i32 i64 Complex32 Complex64] (this, other) => |[a, b]| Bool::from(a.holds() ^ b.holds());
    logical_not logical_not_ logical_not_out [f32 f64 i32 i64 Complex32 Complex64] (this) => |[x]| Bool::from(!x.holds());
    isnan - isnan_out [f32 f64 i64 Complex32 Complex64] (this) => |[x]| Bool::from(not_itself(x));
    isinf - isinf_out [f32 f64 i64 Complex32 Complex64] (this) => |[x]| Bool::from(x.is_without_end());
    isfinite - - [f32 f64 i64 Complex32 Complex64] (this) => |[x]| Bool::from(!not_itself(x) & !x.is_without_end());
    isposinf - isposinf_out [f32 f64 i64] (this) => |[x]| Bool::from(x.is_without_end() & !Ordered::is_minus(x));
    isneginf - isneginf_out [f32 f64 i64] (this) => |[x]| Bool::from(x.is_without_end() & Ordered::is_minus(x));
    signbit - signbit_out [f32 f64 i64] (this) => |[x]| Bool::from(Ordered::is_minus(x));
}

const NOT: Loops<'static, 1> = &loops!([i32 i64] | [x] | !x);
/// Of a boolean, the other one: its bits are more than one.
const OPPOSITE: Loops<'static, 1> = &loops!([i32 i64] | [x] | 1 - x);

fn inverting(this: &Tensor) -> Loops<'static, 1> {
    if this.dtype() == DType::Bool { OPPOSITE } else { NOT }
}

fusible! {
    #[op_impl(aten::bitwise_not, CPU)]
    fn bitwise_not(this: &Tensor) -> Result<Tensor> {
        fresh::<aten::bitwise_not, _>([this], inverting(this))
    }

    |this: &Tensor| Bound::of::<aten::bitwise_not, _>([this], inverting(this))
}

#[op_impl(aten::bitwise_not_, CPU)]
fn bitwise_not_(this: &mut Tensor) -> Result<()> {
    let loops = inverting(this);
    in_place::<aten::bitwise_not, aten::bitwise_not_, _>(this, [None], loops)
}

#[op_impl(aten::bitwise_not_out, CPU)]
fn bitwise_not_out(this: &Tensor, out: &mut Tensor) -> Result<()> {
    into::<aten::bitwise_not, _>(out, [this], inverting(this))
}

/// Narrower integers lose what is shifted out when they are stored.
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

impl Extent for i64 {
    #[inline(always)]
    fn is_without_end(self) -> bool {
        false
    }
}

macro_rules! extents {
    ($($ty:ty, $complex:ty;)*) => {$(
        impl Extent for $ty {
            #[inline(always)]
            fn is_without_end(self) -> bool {
                Real::abs(self) == Self::INFINITY
            }
        }

        impl Extent for $complex {
            #[inline(always)]
            fn is_without_end(self) -> bool {
                self.re.is_without_end() | self.im.is_without_end()
            }
        }
    )*};
}

extents! { f32, Complex32; f64, Complex64; }
