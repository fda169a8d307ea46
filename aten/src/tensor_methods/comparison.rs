//! Comparisons, and logic of booleans and bits.

use std::borrow::Borrow;

use dispatch_runtime::ArithmeticOperand;
use dispatch_runtime::prelude::*;

/// Comparisons of elements, and logic of booleans and bits. The other operand is a tensor or a number.
pub trait ComparisonMethods: Borrow<Tensor> {
    /// Returns whether elements are equal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).eq(2)?.to_vec::<Bool>()?, [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn eq(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::eq(self.borrow(), other))
    }

    /// Returns whether elements differ.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).ne(2)?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ne(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::ne(self.borrow(), other))
    }

    /// Returns whether elements are smaller.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).lt(2)?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn lt(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::lt(self.borrow(), other))
    }

    /// Returns whether elements are smaller or equal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).le(2)?.to_vec::<Bool>()?, [true, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn le(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::le(self.borrow(), other))
    }

    /// Returns whether elements are larger.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).gt(&Tensor::from([0.0, 3.0]))?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn gt(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::gt(self.borrow(), other))
    }

    /// Returns whether elements are larger or equal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).ge(2)?.to_vec::<Bool>()?, [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ge(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::ge(self.borrow(), other))
    }

    /// Returns whether both tensors have the same sizes and elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 2.0]).equal(&Tensor::from([1.0, 2.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn equal(&self, other: &Tensor) -> Result<bool> {
        crate::equal(self.borrow(), other)
    }

    /// Returns whether elements differ by at most `1e-8 + 1e-5 * |other|`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).isclose(&Tensor::from([1.000001, 2.1]))?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isclose(&self, other: &Tensor) -> Result<Tensor> {
        self.isclose_with(other, Tolerance::default())
    }

    /// Returns whether elements differ by at most a tolerance.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// use aten::Tolerance;
    /// let tolerance = Tolerance { absolute: 0.2, ..Tolerance::default() };
    /// assert_eq!(Tensor::from([1.0, 2.0]).isclose_with(&Tensor::from([1.1, 2.5]), tolerance)?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isclose_with(&self, other: &Tensor, tolerance: Tolerance) -> Result<Tensor> {
        crate::isclose(self.borrow(), other, tolerance.relative, tolerance.absolute, tolerance.equal_nan)
    }

    /// Returns whether all elements differ by at most `1e-8 + 1e-5 * |other|`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 2.0]).allclose(&Tensor::from([1.000001, 2.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn allclose(&self, other: &Tensor) -> Result<bool> {
        self.allclose_with(other, Tolerance::default())
    }

    /// Returns whether all elements differ by at most a tolerance.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Tolerance;
    /// let tolerance = Tolerance { equal_nan: true, ..Tolerance::default() };
    /// assert!(Tensor::from([f64::NAN]).allclose_with(&Tensor::from([f64::NAN]), tolerance)?);
    /// # Ok::<(), Error>(())
    /// ```
    fn allclose_with(&self, other: &Tensor, tolerance: Tolerance) -> Result<bool> {
        crate::allclose(self.borrow(), other, tolerance.relative, tolerance.absolute, tolerance.equal_nan)
    }

    /// Returns whether elements are NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, f64::NAN]).isnan()?.to_vec::<Bool>()?, [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isnan(&self) -> Result<Tensor> {
        crate::isnan(self.borrow())
    }

    /// Returns whether elements are infinite.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, f64::INFINITY]).isinf()?.to_vec::<Bool>()?, [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isinf(&self) -> Result<Tensor> {
        crate::isinf(self.borrow())
    }

    /// Returns whether elements are finite.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, f64::NAN]).isfinite()?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isfinite(&self) -> Result<Tensor> {
        crate::isfinite(self.borrow())
    }

    /// Returns whether elements are positive infinity.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([f64::NEG_INFINITY, f64::INFINITY]).isposinf()?.to_vec::<Bool>()?, [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isposinf(&self) -> Result<Tensor> {
        crate::isposinf(self.borrow())
    }

    /// Returns whether elements are negative infinity.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([f64::NEG_INFINITY, f64::INFINITY]).isneginf()?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isneginf(&self) -> Result<Tensor> {
        crate::isneginf(self.borrow())
    }

    /// Returns whether the imaginary parts of elements are 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).isreal()?.to_vec::<Bool>()?, [true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isreal(&self) -> Result<Tensor> {
        crate::isreal(self.borrow())
    }

    /// Returns whether the only element is not 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from(2.0).is_nonzero()?);
    /// # Ok::<(), Error>(())
    /// ```
    fn is_nonzero(&self) -> Result<bool> {
        crate::is_nonzero(self.borrow())
    }

    /// Returns whether both elements are not 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([true, true]).logical_and(&Tensor::from([true, false]))?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logical_and(&self, other: &Tensor) -> Result<Tensor> {
        crate::logical_and(self.borrow(), other)
    }

    /// Returns whether one of both elements is not 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([true, false]).logical_or(&Tensor::from([false, false]))?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logical_or(&self, other: &Tensor) -> Result<Tensor> {
        crate::logical_or(self.borrow(), other)
    }

    /// Returns whether exactly one of both elements is not 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([true, true]).logical_xor(&Tensor::from([true, false]))?.to_vec::<Bool>()?, [false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logical_xor(&self, other: &Tensor) -> Result<Tensor> {
        crate::logical_xor(self.borrow(), other)
    }

    /// Returns whether elements are 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 2.0]).logical_not()?.to_vec::<Bool>()?, [true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn logical_not(&self) -> Result<Tensor> {
        crate::logical_not(self.borrow())
    }

    /// Returns the bits that both elements have, as `&` does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([6, 5]).bitwise_and(3)?.to_vec::<i32>()?, [2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bitwise_and(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::bitwise_and(self.borrow(), other))
    }

    /// Returns the bits that one of both elements has, as `|` does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([6, 5]).bitwise_or(3)?.to_vec::<i32>()?, [7, 7]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bitwise_or(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::bitwise_or(self.borrow(), other))
    }

    /// Returns the bits that exactly one of both elements has, as `^` does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([6, 5]).bitwise_xor(3)?.to_vec::<i32>()?, [5, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bitwise_xor(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::bitwise_xor(self.borrow(), other))
    }

    /// Inverts the bits, as `!x` does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0, 1]).bitwise_not()?.to_vec::<i32>()?, [-1, -2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bitwise_not(&self) -> Result<Tensor> {
        crate::bitwise_not(self.borrow())
    }

    /// Shifts the bits to the left, as `<<` does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).bitwise_left_shift(2)?.to_vec::<i32>()?, [4, 8]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bitwise_left_shift(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::bitwise_left_shift(self.borrow(), other))
    }

    /// Shifts the bits to the right, as `>>` does.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([4, 8]).bitwise_right_shift(2)?.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bitwise_right_shift(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::bitwise_right_shift(self.borrow(), other))
    }

    /// Returns whether each element occurs in `elements`. PyTorch: `torch.isin`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).isin(&Tensor::from([3, 1]))?.to_vec::<Bool>()?, [true, false, true]);
    /// # Ok::<(), Error>(())
    /// ```
    fn isin(&self, elements: &Tensor) -> Result<Tensor> {
        crate::isin_tensor_tensor(self.borrow(), elements, false, false)
    }
}

impl ComparisonMethods for Tensor {}

/// The largest difference of two elements that count as close: `absolute + relative * |other|`.
///
/// ```
/// assert_eq!(aten::Tolerance::default().relative, 1e-5);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// The part of the other element's absolute value.
    pub relative: f64,
    /// The fixed part.
    pub absolute: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 1e-5, absolute: 1e-8, equal_nan: false }
    }
}
