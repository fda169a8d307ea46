//! Scans: results for each prefix of a dimension.

use std::borrow::Borrow;

use dispatch_runtime::IntoInt;
use dispatch_runtime::prelude::*;

use super::in_place;

/// Scans along a dimension: the result for each prefix, and differences.
pub trait ScanMethods: Borrow<Tensor> {
    /// Returns the sums of all prefixes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0, 3.0]).cumsum(0)?.to_vec::<f64>()?, [1.0, 3.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn cumsum(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::cumsum(self.borrow(), dim.into_int(), None)
    }

    /// Replaces each element by the sum of its prefix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0, 3.0]);
    /// x.cumsum_(0)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 3.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn cumsum_(&self, dim: impl IntoInt) -> Result<()> {
        in_place!(self, cumsum_(dim.into_int(), None))
    }

    /// Returns the products of all prefixes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0, 3.0]).cumprod(0)?.to_vec::<f64>()?, [1.0, 2.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn cumprod(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::cumprod(self.borrow(), dim.into_int(), None)
    }

    /// Returns the largest elements of all prefixes, and their indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([1.0, 3.0, 2.0]).cummax(0)?;
    /// assert_eq!(values.to_vec::<f64>()?, [1.0, 3.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn cummax(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::cummax(self.borrow(), dim.into_int())
    }

    /// Returns the smallest elements of all prefixes, and their indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([2.0, 3.0, 1.0]).cummin(0)?;
    /// assert_eq!(values.to_vec::<f64>()?, [2.0, 2.0, 1.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn cummin(&self, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::cummin(self.borrow(), dim.into_int())
    }

    /// Returns the logarithms of the sums of exponentials of all prefixes.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([0.0, 0.0]).logcumsumexp(0)?.allclose(&Tensor::from([0.0, 0.693147181]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn logcumsumexp(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::logcumsumexp(self.borrow(), dim.into_int())
    }

    /// Returns the differences of neighbours in the last dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 3.0, 7.0]).diff()?.to_vec::<f64>()?, [2.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diff(&self) -> Result<Tensor> {
        self.diff_with(DiffOptions::default())
    }

    /// Returns the differences of neighbours, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::DiffOptions;
    /// assert_eq!(Tensor::from([1.0, 3.0, 7.0]).diff_with(DiffOptions { n: 2, ..DiffOptions::default() })?.to_vec::<f64>()?, [2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diff_with(&self, options: DiffOptions<'_>) -> Result<Tensor> {
        crate::diff(self.borrow(), options.n, options.dim, options.prepend, options.append)
    }
}

impl ScanMethods for Tensor {}

/// The options of [`ScanMethods::diff_with`].
///
/// ```
/// assert_eq!(aten::DiffOptions::default().n, 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions<'a> {
    /// How often to compute differences of the previous result. The default is 1.
    pub n: i64,
    /// The dimension. The default is the last one.
    pub dim: i64,
    /// Elements before the first.
    pub prepend: Option<&'a Tensor>,
    /// Elements after the last.
    pub append: Option<&'a Tensor>,
}

impl Default for DiffOptions<'_> {
    fn default() -> Self {
        Self { n: 1, dim: -1, prepend: None, append: None }
    }
}
