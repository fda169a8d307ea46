//! Rounding.

use std::borrow::Borrow;

use dispatch_runtime::IntoInt;
use dispatch_runtime::prelude::*;

use super::in_place;

/// Rounding of elements.
pub trait RoundingMethods: Borrow<Tensor> {
    /// Rounds down.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.5, -1.5]).floor()?.to_vec::<f64>()?, [1.0, -2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn floor(&self) -> Result<Tensor> {
        crate::floor(self.borrow())
    }

    /// Computes [`floor`](Self::floor) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.5, -1.5]);
    /// x.floor_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, -2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn floor_(&self) -> Result<()> {
        in_place!(self, floor_())
    }

    /// Rounds up.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.5, -1.5]).ceil()?.to_vec::<f64>()?, [2.0, -1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ceil(&self) -> Result<Tensor> {
        crate::ceil(self.borrow())
    }

    /// Computes [`ceil`](Self::ceil) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.5, -1.5]);
    /// x.ceil_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [2.0, -1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ceil_(&self) -> Result<()> {
        in_place!(self, ceil_())
    }

    /// Rounds to the nearest integer, and halves to the even one.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.4, 2.5]).round()?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn round(&self) -> Result<Tensor> {
        crate::round(self.borrow())
    }

    /// Computes [`round`](Self::round) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.4, 2.5]);
    /// x.round_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn round_(&self) -> Result<()> {
        in_place!(self, round_())
    }

    /// Rounds towards 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.5, -1.5]).trunc()?.to_vec::<f64>()?, [1.0, -1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn trunc(&self) -> Result<Tensor> {
        crate::trunc(self.borrow())
    }

    /// Computes [`trunc`](Self::trunc) in place.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.5, -1.5]);
    /// x.trunc_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, -1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn trunc_(&self) -> Result<()> {
        in_place!(self, trunc_())
    }

    /// Returns the fractions, with the sign of the elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.5, -1.5]).frac()?.to_vec::<f64>()?, [0.5, -0.5]);
    /// # Ok::<(), Error>(())
    /// ```
    fn frac(&self) -> Result<Tensor> {
        crate::frac(self.borrow())
    }

    /// Rounds to a number of decimals. PyTorch: `round(decimals=...)`. Candle: `round_to`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.234]).round_decimals(1)?.to_vec::<f64>()?, [1.2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn round_decimals(&self, decimals: impl IntoInt) -> Result<Tensor> {
        crate::round_decimals(self.borrow(), decimals.into_int())
    }
}

impl RoundingMethods for Tensor {}
