//! All real floating-point types, for formulas that round after every operation.

use std::ops::{Add, Div, Mul, Neg, Sub};

use dispatch_runtime::{bf16, f16};

use crate::inlined::inlined;

/// A floating-point type, including the 16-bit ones.
///
/// Most kernels compute narrow types in `f32` and round once. A formula over `T: AnyFloat` with `T = bf16` rounds after each
/// operation, as PyTorch does in kernels that are templates over the scalar type.
pub trait AnyFloat:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Returns the nearest value of this type. The call folds to a constant.
    fn from_f64(value: f64) -> Self;
}

inlined! {
    impl AnyFloat for f32 {
        #[expect(clippy::cast_possible_truncation, reason = "the conversion rounds")]
        fn from_f64(value: f64) -> Self = value as Self;
    }

    impl AnyFloat for f64 {
        fn from_f64(value: f64) -> Self = value;
    }

    impl AnyFloat for bf16, f16 {
        fn from_f64(value: f64) -> Self = Self::from_f64(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_of_a_narrow_type_rounds() {
        fn times_three<T: AnyFloat>(x: f64) -> T {
            T::from_f64(x) + T::from_f64(x) + T::from_f64(x)
        }
        // 1.0078125 is the first bf16 value above one. Twice that value is a bf16 value; three times that value lies between two bf16
        // values.
        assert_eq!(times_three::<bf16>(1.007_812_5).to_f64(), 3.03125);
        assert_eq!(times_three::<f64>(1.007_812_5), 3.023_437_5);
    }
}
