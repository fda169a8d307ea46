//! Reading and writing at indices, masks and sorted positions.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ArithmeticOperand, IntoInt};

use super::in_place;
use crate::{BagMode, ReductionType, Side};

/// Reading and writing at indices and masks. `x.i(..)` and `x.set(..)` do this with ranges and index tensors.
pub trait IndexingMethods: Borrow<Tensor> {
    /// Returns, for each element of `index`, the element at that index of a dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).gather(1, &Tensor::from([[1_i64], [0]]))?.to_vec::<i32>()?, [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn gather(&self, dim: impl IntoInt, index: &Tensor) -> Result<Tensor> {
        crate::gather(self.borrow(), dim.into_int(), index, false)
    }

    /// Returns a copy with the elements of `source`, or a number, written at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).scatter(0, &Tensor::from([2_i64]), 9)?.to_vec::<i32>()?, [1, 2, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scatter(&self, dim: impl IntoInt, index: &Tensor, source: impl ArithmeticOperand) -> Result<Tensor> {
        source.call_with_tensor(|source| {
            if source.is_number() {
                crate::scatter_value(self.borrow(), dim.into_int(), index, source.to_scalar()?)
            } else {
                crate::scatter_src(self.borrow(), dim.into_int(), index, source)
            }
        })
    }

    /// Writes the elements of `source`, or a number, at the indices. Candle: `scatter_set`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2, 3]);
    /// x.scatter_(0, &Tensor::from([2_i64]), &Tensor::from([9]))?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 2, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scatter_(&self, dim: impl IntoInt, index: &Tensor, source: impl ArithmeticOperand) -> Result<()> {
        source.call_with_tensor(|source| {
            if source.is_number() {
                in_place!(self, scatter__value(dim.into_int(), index, source.to_scalar()?))
            } else {
                in_place!(self, scatter__src(dim.into_int(), index, source))
            }
        })
    }

    /// Returns a copy with the elements of `source` added at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).scatter_add(0, &Tensor::from([0_i64, 0]), &Tensor::from([10, 20]))?.to_vec::<i32>()?, [31, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scatter_add(&self, dim: impl IntoInt, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::scatter_add(self.borrow(), dim.into_int(), index, source)
    }

    /// Adds the elements of `source` at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.scatter_add_(0, &Tensor::from([0_i64, 0]), &Tensor::from([10, 20]))?;
    /// assert_eq!(x.to_vec::<i32>()?, [31, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scatter_add_(&self, dim: impl IntoInt, index: &Tensor, source: &Tensor) -> Result<()> {
        in_place!(self, scatter_add_(dim.into_int(), index, source))
    }

    /// Returns a copy with the elements of `source` combined with those at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::ReductionType;
    /// let (index, source) = (Tensor::from([0_i64, 0]), Tensor::from([10, 20]));
    /// assert_eq!(Tensor::from([1, 2]).scatter_reduce(0, &index, &source, ReductionType::Max)?.to_vec::<i32>()?, [20, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scatter_reduce(
        &self,
        dim: impl IntoInt,
        index: &Tensor,
        source: &Tensor,
        reduction: ReductionType,
    ) -> Result<Tensor> {
        crate::scatter_reduce_two(self.borrow(), dim.into_int(), index, source, reduction.name(), true)
    }

    /// Combines the elements of `source` with those at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.scatter_reduce_(0, &Tensor::from([0_i64]), &Tensor::from([10]), "prod".parse()?)?;
    /// assert_eq!(x.to_vec::<i32>()?, [10, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn scatter_reduce_(
        &self,
        dim: impl IntoInt,
        index: &Tensor,
        source: &Tensor,
        reduction: ReductionType,
    ) -> Result<()> {
        in_place!(self, scatter_reduce__two(dim.into_int(), index, source, reduction.name(), true))
    }

    /// Returns the given indices of a dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).index_select(0, &Tensor::from([2_i64, 0]))?.to_vec::<i32>()?, [3, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_select(&self, dim: impl IntoInt, index: &Tensor) -> Result<Tensor> {
        crate::index_select(self.borrow(), dim.into_int(), index)
    }

    /// Returns a copy with slices of `source` added at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).index_add(0, &Tensor::from([1_i64]), &Tensor::from([10]))?.to_vec::<i32>()?, [1, 12]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_add(&self, dim: impl IntoInt, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::index_add(self.borrow(), dim.into_int(), index, source, 1.into())
    }

    /// Adds slices of `source` at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.index_add_(0, &Tensor::from([1_i64]), &Tensor::from([10]))?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 12]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_add_(&self, dim: impl IntoInt, index: &Tensor, source: &Tensor) -> Result<()> {
        in_place!(self, index_add_(dim.into_int(), index, source, 1.into()))
    }

    /// Returns a copy with slices of `source` written at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).index_copy(0, &Tensor::from([1_i64]), &Tensor::from([10]))?.to_vec::<i32>()?, [1, 10]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_copy(&self, dim: impl IntoInt, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::index_copy(self.borrow(), dim.into_int(), index, source)
    }

    /// Writes slices of `source` at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.index_copy_(0, &Tensor::from([1_i64]), &Tensor::from([10]))?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 10]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_copy_(&self, dim: impl IntoInt, index: &Tensor, source: &Tensor) -> Result<()> {
        in_place!(self, index_copy_(dim.into_int(), index, source))
    }

    /// Returns a copy with a number written at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).index_fill(0, &Tensor::from([1_i64]), 9)?.to_vec::<i32>()?, [1, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_fill(&self, dim: impl IntoInt, index: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::index_fill_int_scalar(self.borrow(), dim.into_int(), index, value.into())
    }

    /// Writes a number at the indices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.index_fill_(0, &Tensor::from([1_i64]), 9)?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_fill_(&self, dim: impl IntoInt, index: &Tensor, value: impl Into<Scalar>) -> Result<()> {
        in_place!(self, index_fill__int_scalar(dim.into_int(), index, value.into()))
    }

    /// Returns a copy with slices of `source` combined with those at the indices. Sums are [`index_add`](Self::index_add).
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::ReductionType;
    /// let (index, source) = (Tensor::from([1_i64]), Tensor::from([10.0]));
    /// assert_eq!(Tensor::from([1.0, 2.0]).index_reduce(0, &index, &source, ReductionType::Product)?.to_vec::<f64>()?, [1.0, 20.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_reduce(
        &self,
        dim: impl IntoInt,
        index: &Tensor,
        source: &Tensor,
        reduction: ReductionType,
    ) -> Result<Tensor> {
        crate::index_reduce(self.borrow(), dim.into_int(), index, source, reduction.name(), true)
    }

    /// Writes `values` at index tensors of the first dimensions, or adds them. [`set`](crate::Indexing::set) is the shorter form.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.index_put_(&[Some(Tensor::from([1_i64]))], &Tensor::from([10]), true)?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 12]);
    /// # Ok::<(), Error>(())
    /// ```
    fn index_put_(&self, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<()> {
        in_place!(self, index_put_(indices, values, accumulate))
    }

    /// Returns a copy with `value` where the mask is true.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// assert_eq!(x.masked_fill(&x.gt(1)?, 0)?.to_vec::<f64>()?, [1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn masked_fill(&self, mask: &Tensor, value: impl ArithmeticOperand) -> Result<Tensor> {
        value.call_with_tensor(|value| {
            if value.is_number() {
                crate::masked_fill_scalar(self.borrow(), mask, value.to_scalar()?)
            } else {
                crate::masked_fill(self.borrow(), mask, value)
            }
        })
    }

    /// Writes `value` where the mask is true.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.masked_fill_(&x.gt(1)?, 0)?;
    /// assert_eq!(x.to_vec::<f64>()?, [1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn masked_fill_(&self, mask: &Tensor, value: impl ArithmeticOperand) -> Result<()> {
        value.call_with_tensor(|value| {
            if value.is_number() {
                in_place!(self, masked_fill__scalar(mask, value.to_scalar()?))
            } else {
                in_place!(self, masked_fill_(mask, value))
            }
        })
    }

    /// Returns the elements where the mask is true.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0, 3.0]);
    /// assert_eq!(x.masked_select(&x.gt(1)?)?.to_vec::<f64>()?, [2.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        crate::masked_select(self.borrow(), mask)
    }

    /// Returns a copy with the elements of `source`, in order, where the mask is true.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).masked_scatter(&Tensor::from([true, false, true]), &Tensor::from([8, 9]))?.to_vec::<i32>()?, [8, 2, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn masked_scatter(&self, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        crate::masked_scatter(self.borrow(), mask, source)
    }

    /// Returns the element of `this` where the tensor is true, and that of `other` where it is false. PyTorch: `torch.where(condition, x, y)`. Candle: `where_cond`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, -2.0]);
    /// assert_eq!(x.gt(0)?.where_(&x, 0.0)?.to_vec::<f64>()?, [1.0, 0.0]);
    /// assert_eq!(Tensor::where_(&x.gt(0)?, &x, &Tensor::from([10.0, 20.0]))?.to_vec::<f64>()?, [1.0, 20.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn where_(&self, this: impl ArithmeticOperand, other: impl ArithmeticOperand) -> Result<Tensor> {
        this.call_with_tensor(|this| other.call_with_tensor(|other| crate::where_self(self.borrow(), this, other)))
    }

    /// Returns the elements at indices of the flattened tensor.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).take(&Tensor::from([3_i64, 0]))?.to_vec::<i32>()?, [4, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn take(&self, index: &Tensor) -> Result<Tensor> {
        crate::take(self.borrow(), index)
    }

    /// Returns the elements at the indices of a dimension, as `argsort` and `argmax` give them.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([3, 1, 2]);
    /// assert_eq!(x.take_along_dim(&x.argsort()?, 0)?.to_vec::<i32>()?, [1, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn take_along_dim(&self, indices: &Tensor, dim: impl IntoInt) -> Result<Tensor> {
        crate::take_along_dim(self.borrow(), indices, Some(dim.into_int()))
    }

    /// Writes elements at indices of the flattened tensor, or adds them.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1, 2]);
    /// x.put_(&Tensor::from([1_i64]), &Tensor::from([10]), false)?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 10]);
    /// # Ok::<(), Error>(())
    /// ```
    fn put_(&self, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<()> {
        in_place!(self, put_(index, source, accumulate))
    }

    /// Returns the indices of all elements that are not 0, one per row. Another name: `argwhere`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0, 5]).nonzero()?.to_vec::<i64>()?, [1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn nonzero(&self) -> Result<Tensor> {
        crate::nonzero(self.borrow())
    }

    /// Returns a copy with one index of a dimension replaced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).select_scatter(&Tensor::from([8, 9]), 0, 1)?.to_vec::<i32>()?, [1, 2, 8, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn select_scatter(&self, source: &Tensor, dim: impl IntoInt, index: impl IntoInt) -> Result<Tensor> {
        crate::select_scatter(self.borrow(), source, dim.into_int(), index.into_int())
    }

    /// Returns a copy with the diagonal replaced.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).diagonal_scatter(&Tensor::from([8, 9]))?.to_vec::<i32>()?, [8, 2, 3, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diagonal_scatter(&self, source: &Tensor) -> Result<Tensor> {
        crate::diagonal_scatter(self.borrow(), source, 0, 0, 1)
    }

    /// Returns a row for each index, with 1 at the index and 0 elsewhere. -1 computes the number of classes. PyTorch: `F.one_hot`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([2_i64, 0]).one_hot(3)?.to_vec::<i64>()?, [0, 0, 1, 1, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn one_hot(&self, classes: impl IntoInt) -> Result<Tensor> {
        crate::one_hot(self.borrow(), classes.into_int())
    }

    /// Returns the rows of the tensor, which is a table, at the indices. PyTorch: `F.embedding`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0], [3.0, 4.0]]).embedding(&Tensor::from([1_i64]))?.to_vec::<f64>()?, [3.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn embedding(&self, indices: &Tensor) -> Result<Tensor> {
        crate::embedding(self.borrow(), indices, -1, false, false)
    }

    /// Reduces rows of the tensor, which is a table. A bag is a range of `indices`, and `offsets` has the start of each. PyTorch: `F.embedding_bag`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::BagMode;
    /// let table = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(table.embedding_bag(&Tensor::from([0_i64, 1]), &Tensor::from([0_i64]), BagMode::Sum)?.to_vec::<f64>()?, [4.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn embedding_bag(&self, indices: &Tensor, offsets: &Tensor, mode: BagMode) -> Result<Tensor> {
        let results = crate::embedding_bag(self.borrow(), indices, offsets, false, mode.code(), false, None, false)?;
        Ok(results.0)
    }

    /// Reduces ranges of the first dimension with the given lengths. PyTorch: `torch.segment_reduce`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::ReductionType;
    /// assert_eq!(Tensor::from([1.0, 2.0, 3.0]).segment_reduce(&Tensor::from([2_i64, 1]), ReductionType::Sum)?.to_vec::<f64>()?, [3.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn segment_reduce(&self, lengths: &Tensor, reduction: ReductionType) -> Result<Tensor> {
        crate::segment_reduce(self.borrow(), reduction.name(), Some(lengths), None, None, 0, false, None)
    }

    /// Counts how often each integer occurs.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0_i64, 2, 2]).bincount()?.to_vec::<i64>()?, [1, 0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bincount(&self) -> Result<Tensor> {
        crate::bincount(self.borrow(), None, 0)
    }

    /// Returns the positions in the sorted tensor at which `values` keep it sorted. PyTorch: `torch.searchsorted`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Side;
    /// assert_eq!(Tensor::from([1.0, 3.0, 5.0]).searchsorted(&Tensor::from([3.0]), Side::Left)?.to_vec::<i64>()?, [1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn searchsorted(&self, values: &Tensor, side: Side) -> Result<Tensor> {
        crate::searchsorted(self.borrow(), values, false, false, Some(side.name()), None)
    }

    /// Returns the bucket of each element, where `boundaries` are sorted. PyTorch: `torch.bucketize`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Side;
    /// assert_eq!(Tensor::from([0.5, 3.0]).bucketize(&Tensor::from([1.0, 3.0]), Side::Right)?.to_vec::<i64>()?, [0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn bucketize(&self, boundaries: &Tensor, side: Side) -> Result<Tensor> {
        crate::bucketize(self.borrow(), boundaries, false, side == Side::Right)
    }
}

impl IndexingMethods for Tensor {}
