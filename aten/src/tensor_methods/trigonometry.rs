//! Trigonometric and hyperbolic functions.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;

use super::in_place;

/// Trigonometric and hyperbolic functions of elements.
pub trait TrigonometryMethods: Borrow<Tensor> {
    /// Returns the sines.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).sin()?.allclose(&Tensor::from([0.0, 0.841470985]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn sin(&self) -> Result<Tensor> {
        crate::sin(self.borrow())
    }

    /// Computes [`sin`](Self::sin) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([0.0, 1.0]);
    /// x.sin_()?;
    /// assert!(x.allclose(&Tensor::from([0.0, 0.841470985]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn sin_(&self) -> Result<()> {
        in_place!(self, sin_())
    }

    /// Returns the cosines.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).cos()?.allclose(&Tensor::from([1.0, 0.540302306]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn cos(&self) -> Result<Tensor> {
        crate::cos(self.borrow())
    }

    /// Computes [`cos`](Self::cos) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([0.0, 1.0]);
    /// x.cos_()?;
    /// assert!(x.allclose(&Tensor::from([1.0, 0.540302306]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn cos_(&self) -> Result<()> {
        in_place!(self, cos_())
    }

    /// Returns the tangents.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).tan()?.allclose(&Tensor::from([0.0, 1.557407725]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn tan(&self) -> Result<Tensor> {
        crate::tan(self.borrow())
    }

    /// Returns the inverses of the sine.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).asin()?.allclose(&Tensor::from([0.0, 1.570796327]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn asin(&self) -> Result<Tensor> {
        crate::asin(self.borrow())
    }

    /// Returns the inverses of the cosine.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 0.0]).acos()?.allclose(&Tensor::from([0.0, 1.570796327]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn acos(&self) -> Result<Tensor> {
        crate::acos(self.borrow())
    }

    /// Returns the inverses of the tangent.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).atan()?.allclose(&Tensor::from([0.0, 0.785398163]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn atan(&self) -> Result<Tensor> {
        crate::atan(self.borrow())
    }

    /// Returns the hyperbolic sines.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).sinh()?.allclose(&Tensor::from([0.0, 1.175201194]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn sinh(&self) -> Result<Tensor> {
        crate::sinh(self.borrow())
    }

    /// Returns the hyperbolic cosines.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).cosh()?.allclose(&Tensor::from([1.0, 1.543080635]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn cosh(&self) -> Result<Tensor> {
        crate::cosh(self.borrow())
    }

    /// Returns the hyperbolic tangents.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).tanh()?.allclose(&Tensor::from([0.0, 0.761594156]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn tanh(&self) -> Result<Tensor> {
        crate::tanh(self.borrow())
    }

    /// Computes [`tanh`](Self::tanh) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([0.0, 1.0]);
    /// x.tanh_()?;
    /// assert!(x.allclose(&Tensor::from([0.0, 0.761594156]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn tanh_(&self) -> Result<()> {
        in_place!(self, tanh_())
    }

    /// Returns the inverses of the hyperbolic sine.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).asinh()?.allclose(&Tensor::from([0.0, 0.881373587]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn asinh(&self) -> Result<Tensor> {
        crate::asinh(self.borrow())
    }

    /// Returns the inverses of the hyperbolic cosine.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 2.0]).acosh()?.allclose(&Tensor::from([0.0, 1.316957897]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn acosh(&self) -> Result<Tensor> {
        crate::acosh(self.borrow())
    }

    /// Returns the inverses of the hyperbolic tangent.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 0.5]).atanh()?.allclose(&Tensor::from([0.0, 0.549306144]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn atanh(&self) -> Result<Tensor> {
        crate::atanh(self.borrow())
    }

    /// Returns `sin(pi x) / (pi x)`, which is 1 at 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 0.5]).sinc()?.allclose(&Tensor::from([1.0, 0.636619772]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn sinc(&self) -> Result<Tensor> {
        crate::sinc(self.borrow())
    }

    /// Converts degrees to radians.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 180.0]).deg2rad()?.allclose(&Tensor::from([0.0, 3.141592654]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn deg2rad(&self) -> Result<Tensor> {
        crate::deg2rad(self.borrow())
    }

    /// Converts radians to degrees.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 1.0]).rad2deg()?.allclose(&Tensor::from([0.0, 57.295779513]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn rad2deg(&self) -> Result<Tensor> {
        crate::rad2deg(self.borrow())
    }

    /// Returns the angles of the points with the coordinates `other` (x) and `self` (y).
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 0.0]).atan2(&Tensor::from([0.0, 1.0]))?.allclose(&Tensor::from([1.570796327, 0.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn atan2(&self, other: &Tensor) -> Result<Tensor> {
        crate::atan2(self.borrow(), other)
    }

    /// Returns the lengths of the hypotenuses: `sqrt(self^2 + other^2)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0]).hypot(&Tensor::from([4.0]))?.to_vec::<f64>()?, [5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn hypot(&self, other: &Tensor) -> Result<Tensor> {
        crate::hypot(self.borrow(), other)
    }
}

impl TrigonometryMethods for Tensor {}
