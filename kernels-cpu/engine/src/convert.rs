//! Conversion of elements between dtypes, a row at a time.
//!
//! Loops compute in few types: 16-bit floats in `f32`, integers and booleans in `i64`. Operands and results of other dtypes are converted
//! here, through a block that stays in the processor's cache. No other module of the backend lists every dtype.
#![expect(unsafe_code, reason = "casts between elements and bytes")]

mod floats;

use std::cmp::Ordering;

use dispatch_runtime::{
    Bool, Complex32, Complex64, DType, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu, bf16,
    f16,
};

use crate::math::vectorised;
use floats::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
pub use floats::{round_through_bf16, round_through_f16};

/// Returns the dtype that elements of `dtype` are computed in.
#[must_use]
pub fn compute_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        _ if dtype.is_float8() => DType::F32,
        DType::Bool => DType::I64,
        _ if dtype.is_integral() => DType::I64,
        _ => dtype,
    }
}

/// A function that copies `count` elements and converts them. Strides are in bytes.
pub type ConvertFn = unsafe fn(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, count: usize);

/// Conversion of an element to another type, with PyTorch's rules.
trait ConvertTo<T>: Sized {
    fn to(self) -> T;

    /// Converts contiguous elements by a method faster than one at a time. Returns whether such a method exists.
    ///
    /// # Safety
    ///
    /// `from` and `to` each point to `count` elements.
    #[inline(always)]
    unsafe fn try_convert_contiguous(_from: *const Self, _to: *mut T, _count: usize) -> bool {
        false
    }
}

macro_rules! impl_primitive_conversions {
    ($from:ty => $($to:ty)*) => {$(
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "some of the conversions are lossless")]
            #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_precision_loss, trivial_numeric_casts, reason = "the conversion is lossy on purpose")]
            fn to(self) -> $to {
                self as $to
            }
        }
    )*};
}

/// Converts floating-point numbers to integers through `i64`, so that values out of range wrap.
macro_rules! impl_float_to_integer_conversions {
    ($($from:ty)* => $to:tt) => {$( impl_float_to_integer_conversions! { @ $from => $to } )*};
    (@ $from:ty => [$($to:ty)*]) => {$(
        #[expect(clippy::allow_attributes, reason = "some of the conversions are lossless")]
        #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_sign_loss, trivial_numeric_casts, reason = "the conversion is lossy on purpose")]
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                self as i64 as $to
            }

            /// Converts floats to integers through `i32` instead of `i64` if the magnitude of every number of a block is below 2^31, because
            /// machines have few vector instructions for `i64`.
            unsafe fn try_convert_contiguous(from: *const Self, to: *mut $to, count: usize) -> bool {
                // SAFETY: guaranteed by the caller.
                let from = unsafe { std::slice::from_raw_parts(from, count) };
                for (block, from) in from.chunks(ELEMENTS_PER_CHECK).enumerate() {
                    let to = to.wrapping_add(block * ELEMENTS_PER_CHECK);
                    vectorised(#[inline(always)] move || {
                        // SAFETY: `to` has room for as many elements, and a number below 2^31 is not NaN and fits `i32`.
                        unsafe {
                            if from.iter().fold(true, |near, x| near & (x.abs() < 2_147_483_648.0)) {
                                for (i, x) in from.iter().enumerate() {
                                    to.add(i).write(x.to_int_unchecked::<i32>() as $to);
                                }
                            } else {
                                from.iter().enumerate().for_each(|(i, x)| to.add(i).write(x.to()));
                            }
                        }
                    });
                }
                true
            }
        }
    )*};
}

/// The number of elements that are checked and then converted together.
const ELEMENTS_PER_CHECK: usize = 1024;

impl_primitive_conversions! { u8 => u8 i8 i16 i32 i64 f32 f64 }
impl_primitive_conversions! { i8 => u8 i8 i16 i32 i64 f32 f64 }
impl_primitive_conversions! { i16 => u8 i8 i16 i32 i64 f32 f64 }
impl_primitive_conversions! { i32 => u8 i8 i16 i32 i64 f32 f64 }
impl_primitive_conversions! { i64 => u8 i8 i16 i32 i64 f32 f64 }
impl_primitive_conversions! { f32 => f32 f64 }
impl_primitive_conversions! { f64 => f32 f64 }
impl_float_to_integer_conversions! { f32 f64 => [u8 i8 i16 i32 i64] }

/// Implements conversions through an intermediate type.
macro_rules! impl_conversions {
    ($($from:ty, $to:ty : |$x:ident| $body:expr;)*) => {$(
        impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn to(self) -> $to {
                let $x = self;
                $body
            }
        }
    )*};
}

/// Implements conversions between each real type and `Bool`, `f16`, `bf16` and the complex types.
macro_rules! impl_conversions_with_reals {
    ($($real:ty)*) => {$(
        impl_conversions! {
            Bool, $real: |x| { let x: u8 = u8::from(x.0 != 0); x.to() };
            $real, Bool: |x| Bool(u8::from(x.partial_cmp(&<$real>::default()) != Some(Ordering::Equal)));
            f16, $real: |x| { let x = f16_to_f32(x); x.to() };
            $real, f16: |x| { let x: f32 = x.to(); f32_to_f16(x) };
            bf16, $real: |x| { let x = bf16_to_f32(x); x.to() };
            $real, bf16: |x| { let x: f32 = x.to(); f32_to_bf16(x) };
            Complex32, $real: |x| x.re.to();
            $real, Complex32: |x| Complex32::new(x.to(), 0.0);
            Complex64, $real: |x| x.re.to();
            $real, Complex64: |x| Complex64::new(x.to(), 0.0);
        }
    )*};
}

impl_conversions_with_reals! { u8 i8 i16 i32 i64 f64 }

impl_conversions! {
    Bool, f32: |x| { let x: u8 = u8::from(x.0 != 0); x.to() };
    f32, Bool: |x| Bool(u8::from(x.partial_cmp(&0.0) != Some(Ordering::Equal)));
    bf16, f32: |x| bf16_to_f32(x);
    f32, bf16: |x| f32_to_bf16(x);
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
    Bool, f16: |x| { let x: f32 = x.to(); f32_to_f16(x) };
    f16, Bool: |x| Bool(u8::from(f16_to_f32(x) != 0.0));
    Bool, bf16: |x| { let x: f32 = x.to(); f32_to_bf16(x) };
    bf16, Bool: |x| { let x: f32 = x.to(); x.to() };
    f16, bf16: |x| f32_to_bf16(f16_to_f32(x));
    bf16, f16: |x| { let x: f32 = x.to(); f32_to_f16(x) };
    Bool, Complex32: |x| { let x: f32 = x.to(); x.to() };
    Bool, Complex64: |x| { let x: f64 = x.to(); x.to() };
    f16, Complex32: |x| { let x: f32 = x.to(); x.to() };
    f16, Complex64: |x| { let x: f32 = x.to(); x.to() };
    bf16, Complex32: |x| { let x: f32 = x.to(); x.to() };
    bf16, Complex64: |x| { let x: f32 = x.to(); x.to() };
    Complex32, f16: |x| f32_to_f16(x.re);
    Complex64, f16: |x| { let x: f32 = x.re.to(); f32_to_f16(x) };
    Complex32, bf16: |x| f32_to_bf16(x.re);
    Complex64, bf16: |x| { let x: f32 = x.re.to(); f32_to_bf16(x) };
}

impl ConvertTo<f32> for f16 {
    #[inline(always)]
    fn to(self) -> f32 {
        f16_to_f32(self)
    }

    unsafe fn try_convert_contiguous(from: *const Self, to: *mut f32, count: usize) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { floats::try_widen_f16(from, to, count) }
    }
}

impl ConvertTo<f16> for f32 {
    #[inline(always)]
    fn to(self) -> f16 {
        f32_to_f16(self)
    }

    unsafe fn try_convert_contiguous(from: *const Self, to: *mut f16, count: usize) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { floats::try_narrow_to_f16(from, to, count) }
    }
}

unsafe fn convert_row<A: ConvertTo<B> + Copy, B>(
    from: *const u8,
    from_stride: isize,
    to: *mut u8,
    to_stride: isize,
    count: usize,
) {
    let side_by_side = from_stride.unsigned_abs() == size_of::<A>() && to_stride.unsigned_abs() == size_of::<B>();
    // SAFETY: the caller guarantees `count` elements at `from` and at `to`.
    if side_by_side && unsafe { A::try_convert_contiguous(from.cast(), to.cast(), count) } {
        return;
    }
    // The closure captures by value: through a reference, the compiler would reload the pointers after each write.
    vectorised(
        #[inline(always)]
        move || {
            if side_by_side {
                for i in 0..count {
                    // SAFETY: the caller guarantees `count` elements at `from` and at `to`.
                    unsafe { to.cast::<B>().add(i).write(from.cast::<A>().add(i).read().to()) };
                }
            } else {
                let (mut from, mut to) = (from, to);
                for _ in 0..count {
                    // SAFETY: the caller guarantees `count` elements, a stride apart.
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

/// A float8 type. It is converted through `f32`, one element at a time, because the type is for storage.
trait Float8: Copy {
    fn round(number: f32) -> Self;

    fn widen(self) -> f32;
}

/// Converts elements through `f32`.
///
/// # Safety
///
/// `from` and `to` point to `count` elements, each a stride apart.
unsafe fn convert_row_by<A: Copy, B>(
    from: *const u8,
    from_stride: isize,
    to: *mut u8,
    to_stride: isize,
    count: usize,
    convert: impl Fn(A) -> B,
) {
    let (mut from, mut to) = (from, to);
    for _ in 0..count {
        // SAFETY: guaranteed by the caller.
        unsafe { to.cast::<B>().write(convert(from.cast::<A>().read())) };
        (from, to) = (from.wrapping_offset(from_stride), to.wrapping_offset(to_stride));
    }
}

unsafe fn widen_row<A: Float8, B>(from: *const u8, from_stride: isize, to: *mut u8, to_stride: isize, count: usize)
where
    f32: ConvertTo<B>,
{
    // SAFETY: guaranteed by the caller.
    unsafe { convert_row_by(from, from_stride, to, to_stride, count, |x: A| x.widen().to()) };
}

unsafe fn narrow_row<A: ConvertTo<f32> + Copy, B: Float8>(
    from: *const u8,
    from_stride: isize,
    to: *mut u8,
    to_stride: isize,
    count: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { convert_row_by(from, from_stride, to, to_stride, count, |x: A| B::round(x.to())) };
}

unsafe fn requantise_row<A: Float8, B: Float8>(
    from: *const u8,
    from_stride: isize,
    to: *mut u8,
    to_stride: isize,
    count: usize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { convert_row_by(from, from_stride, to, to_stride, count, |x: A| B::round(x.widen())) };
}

macro_rules! define_conversion_functions {
    ([$($variant:ident $ty:ty),*] [$($variant8:ident $ty8:ty),*]) => {
        /// Returns the function that converts elements of `from` to `to`.
        pub fn conversion_function(from: DType, to: DType) -> ConvertFn {
            match from {
                $(DType::$variant => conversion_function_from::<$ty>(to),)*
                $(DType::$variant8 => conversion_function_from_float8::<$ty8>(to),)*
            }
        }

        fn conversion_function_from<A>(to: DType) -> ConvertFn
        where
            A: Copy $(+ ConvertTo<$ty>)*,
        {
            match to {
                $(DType::$variant => convert_row::<A, $ty>,)*
                $(DType::$variant8 => narrow_row::<A, $ty8>,)*
            }
        }

        fn conversion_function_from_float8<A: Float8>(to: DType) -> ConvertFn {
            match to {
                $(DType::$variant => widen_row::<A, $ty>,)*
                $(DType::$variant8 => requantise_row::<A, $ty8>,)*
            }
        }

        $(
            impl Float8 for $ty8 {
                #[inline(always)]
                fn round(number: f32) -> Self {
                    Self::from_f32(number)
                }

                #[inline(always)]
                fn widen(self) -> f32 {
                    self.to_f32()
                }
            }
        )*
    };
}

define_conversion_functions! {
    [U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64, C64 Complex32, C128 Complex64, Bool Bool]
    [F8E5M2 Float8E5M2, F8E4M3FN Float8E4M3Fn, F8E5M2FNUZ Float8E5M2Fnuz, F8E4M3FNUZ Float8E4M3Fnuz, F8E8M0FNU Float8E8M0Fnu]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_respects_both_strides() {
        let from = [1.5_f32, 9.0, -2.5, 9.0, 300.0];
        let mut to = [0_u8; 6];
        // SAFETY: three elements, two apart on either side.
        unsafe { conversion_function(DType::F32, DType::U8)(from.as_ptr().cast(), 8, to.as_mut_ptr(), 2, 3) };
        assert_eq!(to, [1, 0, 254, 0, 44, 0]);
    }

    #[test]
    fn floats_convert_to_wrapping_integers_in_every_block() {
        let near: Vec<f32> = (0..1500_i16).map(|i| f32::from(i) * -1.75).collect();
        for large in [None, Some(3e9_f32), Some(f32::NAN), Some(f32::INFINITY)] {
            let mut from = near.clone();
            from[1100] = large.unwrap_or(0.5);
            let (mut bytes, mut wide) = ([9_u8; 1500], [9_i64; 1500]);
            // SAFETY: there are 1500 elements on either side.
            unsafe {
                conversion_function(DType::F32, DType::U8)(from.as_ptr().cast(), 4, bytes.as_mut_ptr(), 1, 1500);
                conversion_function(DType::F32, DType::I64)(from.as_ptr().cast(), 4, wide.as_mut_ptr().cast(), 8, 1500);
            }
            for (x, (byte, wide)) in from.iter().zip(bytes.iter().zip(&wide)) {
                assert_eq!((*byte, *wide), (ConvertTo::<u8>::to(*x), ConvertTo::<i64>::to(*x)), "{x}");
            }
        }
    }

    #[test]
    fn nonzero_bytes_and_numbers_convert_to_true() {
        let (from, mut to) = ([0_u8, 1, 2, 255].map(Bool), [7_i64; 4]);
        // SAFETY: four elements side by side.
        unsafe { conversion_function(DType::Bool, DType::I64)(from.as_ptr().cast(), 1, to.as_mut_ptr().cast(), 8, 4) };
        assert_eq!(to, [0, 1, 1, 1]);
        let (from, mut to) = ([0.0, -0.0, f64::NAN, 0.5], [Bool(9); 4]);
        // SAFETY: four elements side by side.
        unsafe { conversion_function(DType::F64, DType::Bool)(from.as_ptr().cast(), 8, to.as_mut_ptr().cast(), 1, 4) };
        assert_eq!(to.map(|truth| truth.0), [0, 0, 1, 1]);
    }
}
