//! Between dtypes, a run of elements at a time.
//!
//! Loops compute in few types: narrow floats in `f32`, integers and booleans in `i64`. What comes and goes in other types passes
//! through here, by way of a block that stays in the processor's cache. This is the one place of the backend that knows every dtype.

use std::cmp::Ordering;

use dispatch_runtime::{Bool, Complex32, Complex64, DType, bf16, f16};

use crate::math::vectorised;

/// The dtype that elements of `dtype` are computed in.
#[must_use]
pub(crate) fn computed_in(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::Bool => DType::I64,
        _ if dtype.is_integral() => DType::I64,
        _ => dtype,
    }
}

/// Copies `count` elements, converting them; strides are in bytes.
pub(crate) type Convert = unsafe fn(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, count: usize);

/// An element that becomes one of another type as PyTorch has it.
trait To<T> {
    fn to(self) -> T;
}

macro_rules! numbers {
    ($from:ty => $($to:ty)*) => {$(
        impl To<$to> for $from {
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "some of the pairs lose nothing")]
            #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_precision_loss, trivial_numeric_casts, reason = "losing is what is asked for")]
            fn to(self) -> $to {
                self as $to
            }
        }
    )*};
}

/// Numbers with a fraction become narrow integers by way of wide ones, so that what does not fit wraps.
macro_rules! floats_to_integers {
    ($($from:ty)* => $to:tt) => {$( floats_to_integers! { @ $from => $to } )*};
    (@ $from:ty => [$($to:ty)*]) => {$(
        impl To<$to> for $from {
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "some of the pairs lose nothing")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, trivial_numeric_casts, reason = "losing is what is asked for")]
            fn to(self) -> $to {
                self as i64 as $to
            }
        }
    )*};
}

numbers! { u8 => u8 i8 i16 i32 i64 f32 f64 }
numbers! { i8 => u8 i8 i16 i32 i64 f32 f64 }
numbers! { i16 => u8 i8 i16 i32 i64 f32 f64 }
numbers! { i32 => u8 i8 i16 i32 i64 f32 f64 }
numbers! { i64 => u8 i8 i16 i32 i64 f32 f64 }
numbers! { f32 => f32 f64 }
numbers! { f64 => f32 f64 }
floats_to_integers! { f32 f64 => [u8 i8 i16 i32 i64] }

/// The other types, by way of a type that holds them.
macro_rules! by_way_of {
    ($($from:ty, $to:ty : |$x:ident| $body:expr;)*) => {$(
        impl To<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                let $x = self;
                $body
            }
        }
    )*};
}

/// The real types, each way, for one type that is none.
macro_rules! with_reals {
    ($($real:ty)*) => {$(
        by_way_of! {
            Bool, $real: |x| { let x: u8 = u8::from(x.0 != 0); x.to() };
            $real, Bool: |x| Bool(u8::from(x.partial_cmp(&<$real>::default()) != Some(Ordering::Equal)));
            f16, $real: |x| { let x: f32 = widen(x); x.to() };
            $real, f16: |x| { let x: f32 = x.to(); to_f16(x) };
            bf16, $real: |x| { let x: f32 = f32::from_bits(u32::from(x.to_bits()) << 16); x.to() };
            $real, bf16: |x| { let x: f32 = x.to(); to_bf16(x) };
            Complex32, $real: |x| x.re.to();
            $real, Complex32: |x| Complex32::new(x.to(), 0.0);
            Complex64, $real: |x| x.re.to();
            $real, Complex64: |x| Complex64::new(x.to(), 0.0);
        }
    )*};
}

with_reals! { u8 i8 i16 i32 i64 f64 }

by_way_of! {
    Bool, f32: |x| { let x: u8 = u8::from(x.0 != 0); x.to() };
    f32, Bool: |x| Bool(u8::from(x.partial_cmp(&0.0) != Some(Ordering::Equal)));
    f16, f32: |x| widen(x);
    f32, f16: |x| to_f16(x);
    bf16, f32: |x| f32::from_bits(u32::from(x.to_bits()) << 16);
    f32, bf16: |x| to_bf16(x);
    Complex32, f32: |x| x.re;
    f32, Complex32: |x| Complex32::new(x, 0.0);
    Complex64, f32: |x| x.re.to();
    f32, Complex64: |x| Complex64::new(x.into(), 0.0);
    Bool, Bool: |x| x;
    f16, f16: |x| x;
    bf16, bf16: |x| x;
    Complex32, Complex32: |x| x;
    Complex64, Complex64: |x| x;
    Complex32, Complex64: |x| Complex64::new(x.re.into(), x.im.into());
    Complex64, Complex32: |x| Complex32::new(x.re.to(), x.im.to());
    Complex32, Bool: |x| Bool(u8::from(x.re != 0.0 || x.im != 0.0));
    Complex64, Bool: |x| Bool(u8::from(x.re != 0.0 || x.im != 0.0));
    Bool, f16: |x| { let x: f32 = x.to(); to_f16(x) };
    f16, Bool: |x| Bool(u8::from(widen(x) != 0.0));
    Bool, bf16: |x| { let x: f32 = x.to(); to_bf16(x) };
    bf16, Bool: |x| { let x: f32 = x.to(); x.to() };
    f16, bf16: |x| to_bf16(widen(x));
    bf16, f16: |x| { let x: f32 = x.to(); to_f16(x) };
    Bool, Complex32: |x| { let x: f32 = x.to(); x.to() };
    Bool, Complex64: |x| { let x: f64 = x.to(); x.to() };
    f16, Complex32: |x| { let x: f32 = x.to(); x.to() };
    f16, Complex64: |x| { let x: f32 = x.to(); x.to() };
    bf16, Complex32: |x| { let x: f32 = x.to(); x.to() };
    bf16, Complex64: |x| { let x: f32 = x.to(); x.to() };
    Complex32, f16: |x| to_f16(x.re);
    Complex64, f16: |x| { let x: f32 = x.re.to(); to_f16(x) };
    Complex32, bf16: |x| to_bf16(x.re);
    Complex64, bf16: |x| { let x: f32 = x.re.to(); to_bf16(x) };
}

/// In arithmetic alone, so that a loop over it is packed.
#[inline(always)]
fn widen(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let (sign, rest) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    // The exponents are 112 apart, and the product also gets subnormal numbers right.
    let finite = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
    let special = f32::from_bits(rest | 0x7f80_0000);
    f32::from_bits(sign | if bits & 0x7c00 == 0x7c00 { special } else { finite }.to_bits())
}

/// To the nearest, and the even one of two, in arithmetic alone.
#[inline(always)]
fn to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let bits = if x.is_nan() { bits >> 16 | 0x40 } else { rounded };
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is shifted down")]
    bf16::from_bits(bits as u16)
}

/// The same; what lies between two places of the result's is rounded in those.
#[inline(always)]
fn to_f16(x: f32) -> f16 {
    let (sign, rest) = (x.to_bits() >> 16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    // The exponents are 112 apart, and a carry out of the fraction is right to reach them.
    let normal = rest.wrapping_sub((112 << 23) - 0xfff - (rest >> 13 & 1)) >> 13;
    // The last place of one half is that of subnormal numbers.
    let subnormal = (f32::from_bits(rest) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let special = if x.is_nan() { 0x7e00 | rest >> 13 & 0x3ff } else { 0x7c00 };
    let finite = if rest < 113 << 23 { subnormal } else { normal };
    #[expect(clippy::cast_possible_truncation, reason = "no more than sixteen bits are set")]
    f16::from_bits((sign | if rest < 143 << 23 { finite } else { special }) as u16)
}

unsafe fn copy<A: To<B> + Copy, B>(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, count: usize) {
    let side_by_side = from_stride.unsigned_abs() == size_of::<A>() && to_stride.unsigned_abs() == size_of::<B>();
    // By value: what is borrowed might be where results are written, and would be looked at again for every element.
    vectorised(
        #[inline(always)]
        move || {
            if side_by_side {
                for i in 0..count {
                    // SAFETY: the caller says that there are `count` elements at either end.
                    unsafe { to.cast::<B>().add(i).write(from.cast::<A>().add(i).read().to()) };
                }
            } else {
                let (mut from, mut to) = (from, to);
                for _ in 0..count {
                    // SAFETY: as above, a stride apart.
                    unsafe {
                        to.cast::<B>().write(from.cast::<A>().read().to());
                        from = from.wrapping_offset(from_stride);
                        to = to.wrapping_offset(to_stride);
                    }
                }
            }
        },
    );
}

macro_rules! table {
    ($($variant:ident $ty:ty),*) => {
        /// The function that turns `from` into `to`.
        pub(crate) fn conversion(from: DType, to: DType) -> Convert {
            match from {
                $(DType::$variant => from_type::<$ty>(to),)*
            }
        }

        fn from_type<A>(to: DType) -> Convert
        where
            A: Copy $(+ To<$ty>)*,
        {
            match to {
                $(DType::$variant => copy::<A, $ty>,)*
            }
        }
    };
}

table! { U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64, C64 Complex32, C128 Complex64, Bool Bool }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_widens_and_narrows_as_the_standard_has_it() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            assert!(
                widen(half).to_bits() == half.to_f32().to_bits() || half.is_nan() && widen(half).is_nan(),
                "{bits:#x}"
            );
            let brain = bf16::from_bits(bits);
            assert_eq!(to_bf16(brain.to_f32()).is_nan(), brain.is_nan());
            for step in [0x1_u32, 0xfff, 0x1000, 0x1001, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let x = f32::from_bits(u32::from(bits) << 16 | step);
                assert!(to_bf16(x) == bf16::from_f32(x) || x.is_nan() && to_bf16(x).is_nan(), "{x}");
                let (half, expected) = (to_f16(x), f16::from_f32_const(x));
                assert!(half.to_bits() == expected.to_bits() || x.is_nan() && half.is_nan(), "{x}");
            }
        }
    }

    #[test]
    fn strides_are_walked_on_both_sides() {
        let from = [1.5_f32, 9.0, -2.5, 9.0, 300.0];
        let mut to = [0_u8; 6];
        // SAFETY: three elements, two apart on either side.
        unsafe { conversion(DType::F32, DType::U8)(from.as_ptr().cast(), 8, to.as_mut_ptr(), 2, 3) };
        assert_eq!(to, [1, 0, 254, 0, 44, 0]);
    }

    #[test]
    fn truth_is_one_byte_and_any_byte_but_zero_is_true() {
        let (from, mut to) = ([0_u8, 1, 2, 255].map(Bool), [7_i64; 4]);
        // SAFETY: four elements side by side.
        unsafe { conversion(DType::Bool, DType::I64)(from.as_ptr().cast(), 1, to.as_mut_ptr().cast(), 8, 4) };
        assert_eq!(to, [0, 1, 1, 1]);
        let (from, mut to) = ([0.0, -0.0, f64::NAN, 0.5], [Bool(9); 4]);
        // SAFETY: as above.
        unsafe { conversion(DType::F64, DType::Bool)(from.as_ptr().cast(), 8, to.as_mut_ptr().cast(), 1, 4) };
        assert_eq!(to.map(|truth| truth.0), [0, 0, 1, 1]);
    }
}
