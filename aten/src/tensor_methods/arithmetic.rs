//! Arithmetic of elements. `+`, `-`, `*`, `/`, `%` and `-x` are Rust's operators; their in-place forms are methods.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ArithmeticOperand, BadArgument, Bounds, IntoBounds};

use super::in_place;
use crate::Rounding;

/// Arithmetic of elements, beyond Rust's operators.
pub trait ArithmeticMethods: Borrow<Tensor> {
    /// Returns the absolute values.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.5, 2.0]).abs()?.to_vec::<f64>()?, [1.5, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn abs(&self) -> Result<Tensor> {
        crate::abs(self.borrow())
    }

    /// Replaces each element by its absolute value.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([-1.5, 2.0]);
    /// x.abs_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.5, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn abs_(&self) -> Result<()> {
        in_place!(self, abs_())
    }

    /// Negates each element in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, -2.0]);
    /// x.neg_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [-1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn neg_(&self) -> Result<()> {
        in_place!(self, neg_())
    }

    /// Adds a tensor or a number in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.add_(&Tensor::from([10.0, 20.0]))?;
    /// x.add_(0.5)?;
    /// assert_eq!(x.to_vec::<f64>()?, [11.5, 22.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn add_(&self, other: impl ArithmeticOperand) -> Result<()> {
        other.call_with_tensor(|other| in_place!(self, add_(other, 1.into())))
    }

    /// Returns `self + alpha * other`. PyTorch: `add(other, alpha=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).add_scaled(&Tensor::from([2.0]), 10)?.to_vec::<f64>()?, [21.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn add_scaled(&self, other: &Tensor, alpha: impl Into<Scalar>) -> Result<Tensor> {
        crate::add(self.borrow(), other, alpha.into())
    }

    /// Adds `alpha * other` in place. PyTorch: `add_(other, alpha=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (parameter, gradient) = (Tensor::from([1.0]), Tensor::from([2.0]));
    /// parameter.add_scaled_(&gradient, -0.25)?;
    /// assert_eq!(parameter.to_vec::<f64>()?, [0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn add_scaled_(&self, other: &Tensor, alpha: impl Into<Scalar>) -> Result<()> {
        in_place!(self, add_(other, alpha.into()))
    }

    /// Subtracts a tensor or a number in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.sub_(0.5)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sub_(&self, other: impl ArithmeticOperand) -> Result<()> {
        other.call_with_tensor(|other| in_place!(self, sub_(other, 1.into())))
    }

    /// Multiplies by a tensor or a number in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.mul_(3)?;
    /// assert_eq!(x.to_vec::<f64>()?, [3.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mul_(&self, other: impl ArithmeticOperand) -> Result<()> {
        other.call_with_tensor(|other| in_place!(self, mul_(other)))
    }

    /// Divides by a tensor or a number in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.div_(2)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn div_(&self, other: impl ArithmeticOperand) -> Result<()> {
        other.call_with_tensor(|other| in_place!(self, div_(other)))
    }

    /// Divides, and rounds the quotients. PyTorch: `div(other, rounding_mode=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Rounding;
    /// assert_eq!(Tensor::from([-3.0, 3.0]).div_rounded(2, Rounding::Floor)?.to_vec::<f64>()?, [-2.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn div_rounded(&self, other: impl ArithmeticOperand, rounding: Rounding) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::div_tensor_mode(self.borrow(), other, Some(rounding.name())))
    }

    /// Divides in place, and rounds the quotients. PyTorch: `div_(other, rounding_mode=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([-3.0, 3.0]);
    /// x.div_rounded_(2, aten::Rounding::Trunc)?;
    /// assert_eq!(x.to_vec::<f64>()?, [-1.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn div_rounded_(&self, other: impl ArithmeticOperand, rounding: Rounding) -> Result<()> {
        other.call_with_tensor(|other| in_place!(self, div__tensor_mode(other, Some(rounding.name()))))
    }

    /// Divides, and rounds the quotients down.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-3, 3]).floor_divide(2)?.to_vec::<i32>()?, [-2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn floor_divide(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::floor_divide(self.borrow(), other))
    }

    /// Returns the remainders of a division. They have the sign of `other`, as those of `%`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-3, 3]).remainder(2)?.to_vec::<i32>()?, [1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn remainder(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::remainder(self.borrow(), other))
    }

    /// Replaces each element by the remainder of its division, with the sign of `other`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([-3, 3]);
    /// x.remainder_(2)?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn remainder_(&self, other: impl ArithmeticOperand) -> Result<()> {
        other.call_with_tensor(|other| in_place!(self, remainder_(other)))
    }

    /// Returns the remainders of a division, with the sign of the dividend.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-3, 3]).fmod(2)?.to_vec::<i32>()?, [-1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn fmod(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::fmod(self.borrow(), other))
    }

    /// Raises each element to a power. Candle: `powf`, `pow`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([2.0, 3.0]).pow(2)?.to_vec::<f64>()?, [4.0, 9.0]);
    /// assert_eq!(Tensor::from([2.0, 3.0]).pow(&Tensor::from([3.0, 0.0]))?.to_vec::<f64>()?, [8.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn pow(&self, exponent: impl ArithmeticOperand) -> Result<Tensor> {
        exponent.call_with_tensor(|exponent| {
            if exponent.is_number() {
                crate::pow_tensor_scalar(self.borrow(), exponent.to_scalar()?)
            } else {
                crate::pow_tensor_tensor(self.borrow(), exponent)
            }
        })
    }

    /// Raises each element to a power in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([2.0, 3.0]);
    /// x.pow_(2)?;
    /// assert_eq!(x.to_vec::<f64>()?, [4.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn pow_(&self, exponent: impl ArithmeticOperand) -> Result<()> {
        exponent.call_with_tensor(|exponent| in_place!(self, pow_(exponent)))
    }

    /// Returns the squares. Candle: `sqr`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([2.0, -3.0]).square()?.to_vec::<f64>()?, [4.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn square(&self) -> Result<Tensor> {
        crate::square(self.borrow())
    }

    /// Squares each element in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([2.0, -3.0]);
    /// x.square_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [4.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn square_(&self) -> Result<()> {
        in_place!(self, square_())
    }

    /// Returns one divided by each element. Candle: `recip`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([2.0, 4.0]).reciprocal()?.to_vec::<f64>()?, [0.5, 0.25]);
    /// # Ok::<(), Error>(())
    /// ```
    fn reciprocal(&self) -> Result<Tensor> {
        crate::reciprocal(self.borrow())
    }

    /// Replaces each element by one divided by it.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([2.0, 4.0]);
    /// x.reciprocal_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 0.25]);
    /// # Ok::<(), Error>(())
    /// ```
    fn reciprocal_(&self) -> Result<()> {
        in_place!(self, reciprocal_())
    }

    /// Returns -1, 0 or 1: the sign of each element.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-2.5, 0.0, 3.0]).sign()?.to_vec::<f64>()?, [-1.0, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sign(&self) -> Result<Tensor> {
        crate::sign(self.borrow())
    }

    /// Returns the sign of each element. That of a complex number has the same angle and the absolute value 1.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-2.5, 0.0]).sgn()?.to_vec::<f64>()?, [-1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn sgn(&self) -> Result<Tensor> {
        crate::sgn(self.borrow())
    }

    /// Returns whether the sign bit of each element is set. It is set for -0.0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{Bool, prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.0, -0.0, 0.0]).signbit()?.to_vec::<Bool>()?, [true, true, false]);
    /// # Ok::<(), Error>(())
    /// ```
    fn signbit(&self) -> Result<Tensor> {
        crate::signbit(self.borrow())
    }

    /// Returns each element with the sign of `other`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, -2.0]).copysign(-1)?.to_vec::<f64>()?, [-1.0, -2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn copysign(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| {
            if other.is_number() {
                crate::copysign_scalar(self.borrow(), other.to_scalar()?)
            } else {
                crate::copysign(self.borrow(), other)
            }
        })
    }

    /// Returns `self + value * tensor1 * tensor2`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (x, a) = (Tensor::from([1.0]), Tensor::from([2.0]));
    /// assert_eq!(x.addcmul(&a, &a, 0.5)?.to_vec::<f64>()?, [3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn addcmul(&self, tensor1: &Tensor, tensor2: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::addcmul(self.borrow(), tensor1, tensor2, value.into())
    }

    /// Adds `value * tensor1 * tensor2` in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (x, a) = (Tensor::from([1.0]), Tensor::from([2.0]));
    /// x.addcmul_(&a, &a, 0.5)?;
    /// assert_eq!(x.to_vec::<f64>()?, [3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn addcmul_(&self, tensor1: &Tensor, tensor2: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        in_place!(self, addcmul_(tensor1, tensor2, value.into()))
    }

    /// Returns `self + value * tensor1 / tensor2`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (x, a) = (Tensor::from([1.0]), Tensor::from([2.0]));
    /// assert_eq!(x.addcdiv(&a, &a, 0.5)?.to_vec::<f64>()?, [1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn addcdiv(&self, tensor1: &Tensor, tensor2: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::addcdiv(self.borrow(), tensor1, tensor2, value.into())
    }

    /// Adds `value * tensor1 / tensor2` in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (x, a) = (Tensor::from([1.0]), Tensor::from([2.0]));
    /// x.addcdiv_(&a, &a, 0.5)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn addcdiv_(&self, tensor1: &Tensor, tensor2: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        in_place!(self, addcdiv_(tensor1, tensor2, value.into()))
    }

    /// Interpolates linearly: `self + weight * (end - self)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.0, 10.0]).lerp(&Tensor::from([1.0, 20.0]), 0.5)?.to_vec::<f64>()?, [0.5, 15.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn lerp(&self, end: &Tensor, weight: impl ArithmeticOperand) -> Result<Tensor> {
        weight.call_with_tensor(|weight| {
            if weight.is_number() {
                crate::lerp_scalar(self.borrow(), end, weight.to_scalar()?)
            } else {
                crate::lerp(self.borrow(), end, weight)
            }
        })
    }

    /// Interpolates linearly in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([0.0, 10.0]);
    /// x.lerp_(&Tensor::from([1.0, 20.0]), 0.5)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.5, 15.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn lerp_(&self, end: &Tensor, weight: impl ArithmeticOperand) -> Result<()> {
        weight.call_with_tensor(|weight| {
            if weight.is_number() {
                in_place!(self, lerp__scalar(end, weight.to_scalar()?))
            } else {
                in_place!(self, lerp_(end, weight))
            }
        })
    }

    /// Returns the larger of two elements, or NaN if one is NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 5.0]).maximum(3)?.to_vec::<f64>()?, [3.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn maximum(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::maximum(self.borrow(), other))
    }

    /// Returns the smaller of two elements, or NaN if one is NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 5.0]).minimum(3)?.to_vec::<f64>()?, [1.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn minimum(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::minimum(self.borrow(), other))
    }

    /// Returns the larger of two elements, or the other one if one is NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([f64::NAN, 5.0]).fmax(3)?.to_vec::<f64>()?, [3.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn fmax(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::fmax(self.borrow(), other))
    }

    /// Returns the smaller of two elements, or the other one if one is NaN.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([f64::NAN, 5.0]).fmin(3)?.to_vec::<f64>()?, [3.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn fmin(&self, other: impl ArithmeticOperand) -> Result<Tensor> {
        other.call_with_tensor(|other| crate::fmin(self.borrow(), other))
    }

    /// Replaces elements outside of the bounds by the nearest bound.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([-1.0, 0.5, 2.0]);
    /// assert_eq!(x.clamp(0.0..=1.0)?.to_vec::<f64>()?, [0.0, 0.5, 1.0]);
    /// assert_eq!(x.clamp(..=1.0)?.to_vec::<f64>()?, [-1.0, 0.5, 1.0]);
    /// assert_eq!(x.clamp(&Tensor::from([0.0, 1.0, 3.0])..)?.to_vec::<f64>()?, [0.0, 1.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn clamp(&self, bounds: impl IntoBounds) -> Result<Tensor> {
        match bounds.into_bounds() {
            Bounds::Tensors(min, max) => crate::clamp_tensor(self.borrow(), min.as_ref(), max.as_ref()),
            Bounds::Numbers(min, max) => crate::clamp(self.borrow(), min, max),
            _ => Err(BadArgument::value("bounds", "an unknown kind", "numbers or tensors").into()),
        }
    }

    /// Replaces elements outside of the bounds in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([-1.0, 0.5, 2.0]);
    /// x.clamp_(0.0..=1.0)?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn clamp_(&self, bounds: impl IntoBounds) -> Result<()> {
        match bounds.into_bounds() {
            Bounds::Tensors(min, max) => in_place!(self, clamp__tensor(min.as_ref(), max.as_ref())),
            Bounds::Numbers(min, max) => in_place!(self, clamp_(min, max)),
            _ => Err(BadArgument::value("bounds", "an unknown kind", "numbers or tensors").into()),
        }
    }

    /// Replaces elements below `min` by it.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.0, 2.0]).clamp_min(0)?.to_vec::<f64>()?, [0.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn clamp_min(&self, min: impl ArithmeticOperand) -> Result<Tensor> {
        min.call_with_tensor(|min| {
            if min.is_number() {
                crate::clamp_min(self.borrow(), min.to_scalar()?)
            } else {
                crate::clamp_min_tensor(self.borrow(), min)
            }
        })
    }

    /// Replaces elements above `max` by it.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1.0, 2.0]).clamp_max(0)?.to_vec::<f64>()?, [-1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn clamp_max(&self, max: impl ArithmeticOperand) -> Result<Tensor> {
        max.call_with_tensor(|max| {
            if max.is_number() {
                crate::clamp_max(self.borrow(), max.to_scalar()?)
            } else {
                crate::clamp_max_tensor(self.borrow(), max)
            }
        })
    }

    /// Replaces NaN by 0, and infinities by the largest and the smallest finite number.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([f64::NAN, 1.0]).nan_to_num()?.to_vec::<f64>()?, [0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn nan_to_num(&self) -> Result<Tensor> {
        self.nan_to_num_with(NanToNumOptions::default())
    }

    /// Replaces NaN and infinities by the given numbers.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::NanToNumOptions;
    /// let x = Tensor::from([f64::NAN, f64::INFINITY]);
    /// let values = NanToNumOptions { nan: -1.0, positive_infinity: Some(9.0), ..NanToNumOptions::default() };
    /// assert_eq!(x.nan_to_num_with(values)?.to_vec::<f64>()?, [-1.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn nan_to_num_with(&self, values: NanToNumOptions) -> Result<Tensor> {
        crate::nan_to_num(self.borrow(), Some(values.nan), values.positive_infinity, values.negative_infinity)
    }

    /// Returns the greatest common divisors.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([12, 18]).gcd(&Tensor::from([8, 12]))?.to_vec::<i32>()?, [4, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn gcd(&self, other: &Tensor) -> Result<Tensor> {
        crate::gcd(self.borrow(), other)
    }

    /// Returns the least common multiples.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([4, 6]).lcm(&Tensor::from([6, 9]))?.to_vec::<i32>()?, [12, 18]);
    /// # Ok::<(), Error>(())
    /// ```
    fn lcm(&self, other: &Tensor) -> Result<Tensor> {
        crate::lcm(self.borrow(), other)
    }

    /// Returns 0 for negative elements, 1 for positive ones, and the element of `values` for 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-2.0, 0.0, 2.0]).heaviside(&Tensor::from([0.5, 0.5, 0.5]))?.to_vec::<f64>()?, [0.0, 0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn heaviside(&self, values: &Tensor) -> Result<Tensor> {
        crate::heaviside(self.borrow(), values)
    }

    /// Returns the next representable number in the direction of `other`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).nextafter(&Tensor::from([2.0]))?.to_vec::<f64>()?, [1.0 + f64::EPSILON]);
    /// # Ok::<(), Error>(())
    /// ```
    fn nextafter(&self, other: &Tensor) -> Result<Tensor> {
        crate::nextafter(self.borrow(), other)
    }
}

impl ArithmeticMethods for Tensor {}

/// The numbers that [`ArithmeticMethods::nan_to_num_with`] writes.
///
/// ```
/// assert_eq!(aten::NanToNumOptions::default().nan, 0.0);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NanToNumOptions {
    /// The number in place of NaN.
    pub nan: f64,
    /// The number in place of infinity. `None` is the dtype's largest number.
    pub positive_infinity: Option<f64>,
    /// The number in place of minus infinity. `None` is the dtype's smallest number.
    pub negative_infinity: Option<f64>,
}
