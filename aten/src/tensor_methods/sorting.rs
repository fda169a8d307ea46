//! Sorting, selection and counting.

use std::borrow::Borrow;

use dispatch_runtime::IntoInt;
use dispatch_runtime::prelude::*;

use crate::QuantileInterpolation;

/// Sorting, selection of the largest or smallest elements, and counting of equal ones.
pub trait SortingMethods: Borrow<Tensor> {
    /// Sorts the last dimension. Returns the elements and their previous indices. Candle: `sort_last_dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([3.0, 1.0, 2.0]).sort()?;
    /// assert_eq!(values.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 2, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn sort(&self) -> Result<(Tensor, Tensor)> {
        crate::sort(self.borrow(), -1, false)
    }

    /// Sorts a dimension, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::SortOptions;
    /// let (values, _) = Tensor::from([3.0, 1.0, 2.0]).sort_with(SortOptions { descending: true, ..SortOptions::default() })?;
    /// assert_eq!(values.to_vec::<f64>()?, [3.0, 2.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn sort_with(&self, options: SortOptions) -> Result<(Tensor, Tensor)> {
        crate::sort_stable(self.borrow(), Some(options.stable), options.dim, options.descending)
    }

    /// Returns the indices that sort the last dimension. Candle: `arg_sort_last_dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0, 1.0, 2.0]).argsort()?.to_vec::<i64>()?, [1, 2, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn argsort(&self) -> Result<Tensor> {
        crate::argsort(self.borrow(), -1, false)
    }

    /// Returns the indices that sort a dimension, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::SortOptions;
    /// assert_eq!(Tensor::from([3.0, 1.0]).argsort_with(SortOptions { descending: true, ..SortOptions::default() })?.to_vec::<i64>()?, [0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn argsort_with(&self, options: SortOptions) -> Result<Tensor> {
        crate::argsort_stable(self.borrow(), options.stable, options.dim, options.descending)
    }

    /// Sorts the first dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0, 1.0]).msort()?.to_vec::<f64>()?, [1.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn msort(&self) -> Result<Tensor> {
        crate::msort(self.borrow())
    }

    /// Returns the `k` largest elements of the last dimension, and their indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, indices) = Tensor::from([3.0, 1.0, 2.0]).topk(2)?;
    /// assert_eq!(values.to_vec::<f64>()?, [3.0, 2.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn topk(&self, k: impl IntoInt) -> Result<(Tensor, Tensor)> {
        self.topk_with(k, TopkOptions::default())
    }

    /// Returns the `k` largest or smallest elements of a dimension, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::TopkOptions;
    /// let (values, _) = Tensor::from([3.0, 1.0, 2.0]).topk_with(2, TopkOptions { largest: false, ..TopkOptions::default() })?;
    /// assert_eq!(values.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn topk_with(&self, k: impl IntoInt, options: TopkOptions) -> Result<(Tensor, Tensor)> {
        crate::topk(self.borrow(), k.into_int(), options.dim, options.largest, options.sorted)
    }

    /// Returns the `k`th smallest elements along a dimension, counted from 1, and their indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (value, _) = Tensor::from([3.0, 1.0, 2.0]).kthvalue(2, 0)?;
    /// assert_eq!(value.item::<f64>()?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn kthvalue(&self, k: impl IntoInt, dim: impl IntoInt) -> Result<(Tensor, Tensor)> {
        crate::kthvalue(self.borrow(), k.into_int(), dim.into_int(), false)
    }

    /// Returns the element that a part `q` of all elements does not exceed.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0, 3.0]).quantile(0.5)?.item::<f64>()?, 2.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn quantile(&self, q: f64) -> Result<Tensor> {
        self.quantile_with(q, QuantileOptions::default())
    }

    /// Returns quantiles along a dimension, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::QuantileOptions;
    /// let options = QuantileOptions { dim: Some(1), ..QuantileOptions::default() };
    /// assert_eq!(Tensor::from([[1.0, 2.0], [3.0, 4.0]]).quantile_with(0.5, options)?.to_vec::<f64>()?, [1.5, 3.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn quantile_with(&self, q: f64, options: QuantileOptions) -> Result<Tensor> {
        crate::quantile_scalar(self.borrow(), q, options.dim, options.keepdim, options.interpolation.name())
    }

    /// Returns the different elements, sorted.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3, 1, 3]).unique()?.to_vec::<i32>()?, [1, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn unique(&self) -> Result<Tensor> {
        Ok(self.unique_with(UniqueOptions::default())?.0)
    }

    /// Returns the different elements, or slices of a dimension, the position of each element among them, and how often each occurs.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::UniqueOptions;
    /// let options = UniqueOptions { counts: true, ..UniqueOptions::default() };
    /// let (values, _, counts) = Tensor::from([3, 1, 3]).unique_with(options)?;
    /// assert_eq!(values.to_vec::<i32>()?, [1, 3]);
    /// assert_eq!(counts.to_vec::<i64>()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn unique_with(&self, options: UniqueOptions) -> Result<(Tensor, Tensor, Tensor)> {
        match options.dim {
            Some(dim) => crate::unique_dim(self.borrow(), dim, true, options.inverse, options.counts),
            None => crate::_unique2(self.borrow(), true, options.inverse, options.counts),
        }
    }

    /// Removes elements that are equal to the one before.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 1, 2, 1]).unique_consecutive()?.to_vec::<i32>()?, [1, 2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "sort")]
    fn unique_consecutive(&self) -> Result<Tensor> {
        Ok(crate::unique_consecutive(self.borrow(), false, false, None)?.0)
    }

    /// Counts the elements in `bins` equal parts of a range.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0.1, 0.2, 0.9]).histc(2, 0.0..=1.0)?.to_vec::<f64>()?, [2.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn histc(&self, bins: impl IntoInt, range: std::ops::RangeInclusive<f64>) -> Result<Tensor> {
        crate::histc(self.borrow(), bins.into_int(), (*range.start()).into(), (*range.end()).into())
    }
}

impl SortingMethods for Tensor {}

/// The options of [`SortingMethods::sort_with`] and [`SortingMethods::argsort_with`].
///
/// ```
/// assert_eq!(aten::SortOptions::default().dim, -1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SortOptions {
    /// The dimension. The default is the last one.
    pub dim: i64,
    /// Whether the largest element comes first.
    pub descending: bool,
    /// Whether equal elements keep their order.
    pub stable: bool,
}

impl Default for SortOptions {
    fn default() -> Self {
        Self { dim: -1, descending: false, stable: false }
    }
}

/// The options of [`SortingMethods::topk_with`].
///
/// ```
/// assert!(aten::TopkOptions::default().largest);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TopkOptions {
    /// The dimension. The default is the last one.
    pub dim: i64,
    /// Whether to select the largest elements, which is the default, or the smallest.
    pub largest: bool,
    /// Whether the results are sorted, which is the default.
    pub sorted: bool,
}

impl Default for TopkOptions {
    fn default() -> Self {
        Self { dim: -1, largest: true, sorted: true }
    }
}

/// The options of [`SortingMethods::quantile_with`].
///
/// ```
/// assert_eq!(aten::QuantileOptions::default().dim, None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuantileOptions {
    /// The dimension. `None` is the flattened tensor.
    pub dim: Option<i64>,
    /// Whether the dimension stays with size 1.
    pub keepdim: bool,
    /// The computation of a quantile between two elements.
    pub interpolation: QuantileInterpolation,
}

/// The options of [`SortingMethods::unique_with`].
///
/// ```
/// assert_eq!(aten::UniqueOptions::default().dim, None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UniqueOptions {
    /// The dimension whose slices are compared. `None` compares elements.
    pub dim: Option<i64>,
    /// Whether to return the position of each element among the different ones.
    pub inverse: bool,
    /// Whether to return how often each element occurs.
    pub counts: bool,
}
