//! Sizes and the order of dimensions.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{IntoAxes, IntoInt, IntoSizes, MemoryFormat};

use crate::PadMode;

/// Sizes and the order of dimensions: `reshape`, `transpose`, `unsqueeze` and the like. Most results are views.
pub trait ShapeMethods: Borrow<Tensor> {
    /// Returns the number of dimensions. Candle: `rank`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.dim(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "ndim")]
    #[doc(alias = "rank")]
    fn dim(&self) -> usize {
        let this: &Tensor = self.borrow();
        this.sizes().len()
    }

    /// Returns the size of a dimension. Candle: `dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.size(-1)?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    fn size(&self, dim: impl IntoInt) -> Result<i64> {
        crate::size_int(self.borrow(), dim.into_int())
    }

    /// Returns the number of elements. Candle: `elem_count`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.numel(), 6);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "nelement")]
    #[doc(alias = "elem_count")]
    fn numel(&self) -> i64 {
        let this: &Tensor = self.borrow();
        this.geometry().count()
    }

    /// Returns the elements with other sizes: a view if possible, or else a copy. One size may be -1, and is computed.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::arange(0..6, ())?;
    /// assert_eq!(x.reshape((2, -1))?.sizes(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn reshape(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::reshape(self.borrow(), &sizes.into_sizes())
    }

    /// Returns the elements with the sizes of `other`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::arange(0..4, ())?.reshape_as(&Tensor::ones((2, 2), ())?)?.sizes(), [2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn reshape_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::reshape_as(self.borrow(), other)
    }

    /// Returns a view with other sizes, or an error if that needs a copy.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::arange(0..6, ())?.view((3, 2))?.sizes(), [3, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn view(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::view(self.borrow(), &sizes.into_sizes())
    }

    /// Returns a view with the sizes of `other`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::arange(0..4, ())?.view_as(&Tensor::ones((2, 2), ())?)?.sizes(), [2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn view_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::view_as(self.borrow(), other)
    }

    /// Returns all elements in one dimension. Candle: `flatten_all`. [`flatten_dims`](Self::flatten_dims) keeps the first dimensions:
    /// PyTorch's `flatten(1)` is `flatten_dims(1, -1)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.flatten()?.sizes(), [6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn flatten(&self) -> Result<Tensor> {
        crate::flatten_using_ints(self.borrow(), 0, -1)
    }

    /// Joins the dimensions from `start` to `end`, included. PyTorch: `flatten(start_dim, end_dim)`. Candle: `flatten`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3, 4), ())?.flatten_dims(1, -1)?.sizes(), [2, 12]);
    /// # Ok::<(), Error>(())
    /// ```
    fn flatten_dims(&self, start: impl IntoInt, end: impl IntoInt) -> Result<Tensor> {
        crate::flatten_using_ints(self.borrow(), start.into_int(), end.into_int())
    }

    /// Returns all elements in one dimension, contiguous.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.ravel()?.sizes(), [6]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ravel(&self) -> Result<Tensor> {
        crate::ravel(self.borrow())
    }

    /// Splits a dimension into several.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((6, 2), ())?.unflatten(0, (2, 3))?.sizes(), [2, 3, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn unflatten(&self, dim: impl IntoInt, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::unflatten_int(self.borrow(), dim.into_int(), &sizes.into_sizes())
    }

    /// Removes all dimensions of size 1.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 3, 1), ())?.squeeze()?.sizes(), [3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn squeeze(&self) -> Result<Tensor> {
        crate::squeeze(self.borrow())
    }

    /// Removes the given dimensions if their size is 1. PyTorch: `squeeze(dim)`. Candle: `squeeze`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 3, 1), ())?.squeeze_dims(0)?.sizes(), [3, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn squeeze_dims(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::squeeze_dims(self.borrow(), &dims.into_axes())
    }

    /// Inserts a dimension of size 1.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones(3, ())?.unsqueeze(-1)?.sizes(), [3, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn unsqueeze(&self, dim: impl IntoInt) -> Result<Tensor> {
        crate::unsqueeze(self.borrow(), dim.into_int())
    }

    /// Returns a view with dimensions of size 1 repeated. -1 keeps a size. Candle: `expand`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((3, 1), ())?.expand((-1, 4))?.sizes(), [3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn expand(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::expand(self.borrow(), &sizes.into_sizes(), false)
    }

    /// Returns a view expanded to the sizes of `other`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((3, 1), ())?.expand_as(&Tensor::ones((3, 4), ())?)?.sizes(), [3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn expand_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::expand_as(self.borrow(), other)
    }

    /// Returns a view broadcast to the sizes. Candle: `broadcast_as`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones(3, ())?.broadcast_to((2, 3))?.sizes(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn broadcast_to(&self, sizes: impl IntoSizes) -> Result<Tensor> {
        crate::broadcast_to(self.borrow(), &sizes.into_sizes())
    }

    /// Copies the tensor several times in each dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).repeat((2, 2))?.sizes(), [2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn repeat(&self, repeats: impl IntoSizes) -> Result<Tensor> {
        crate::repeat(self.borrow(), &repeats.into_sizes())
    }

    /// Copies the tensor several times in the last dimensions.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).tile(2)?.to_vec::<i32>()?, [1, 2, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn tile(&self, repeats: impl IntoSizes) -> Result<Tensor> {
        crate::tile(self.borrow(), &repeats.into_sizes())
    }

    /// Repeats each index of a dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).repeat_interleave(2, 0)?.to_vec::<i32>()?, [1, 1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn repeat_interleave(&self, repeats: impl IntoInt, dim: impl IntoInt) -> Result<Tensor> {
        crate::repeat_interleave_self_int(self.borrow(), repeats.into_int(), Some(dim.into_int()), None)
    }

    /// Returns a view with the dimensions in another order.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3, 4), ())?.permute((2, 0, 1))?.sizes(), [4, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn permute(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::permute(self.borrow(), &dims.into_axes())
    }

    /// Returns a view with two dimensions exchanged. Other names: `swapaxes`, `swapdims`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.transpose(0, 1)?.sizes(), [3, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn transpose(&self, dim0: impl IntoInt, dim1: impl IntoInt) -> Result<Tensor> {
        crate::transpose_int(self.borrow(), dim0.into_int(), dim1.into_int())
    }

    /// Returns the transposed matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3), ())?.t()?.sizes(), [3, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "T")]
    fn t(&self) -> Result<Tensor> {
        crate::t(self.borrow())
    }

    /// Transposes the last two dimensions. Candle: `t`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((5, 2, 3), ())?.mT()?.sizes(), [5, 3, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mT(&self) -> Result<Tensor> {
        crate::mT(self.borrow())
    }

    /// Transposes and conjugates the last two dimensions. Another name: `adjoint`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((5, 2, 3), ())?.mH()?.sizes(), [5, 3, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn mH(&self) -> Result<Tensor> {
        crate::mH(self.borrow())
    }

    /// Moves dimensions to other positions. Another name: `moveaxis`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 3, 4), ())?.movedim(0, -1)?.sizes(), [3, 4, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn movedim(&self, source: impl IntoAxes, destination: impl IntoAxes) -> Result<Tensor> {
        crate::movedim_intlist(self.borrow(), &source.into_axes(), &destination.into_axes())
    }

    /// Reverses the order of the elements in dimensions.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).flip(0)?.to_vec::<i32>()?, [3, 2, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn flip(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::flip(self.borrow(), &dims.into_axes())
    }

    /// Shifts the elements in dimensions; those beyond the end continue at the start.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).roll(1, 0)?.to_vec::<i32>()?, [3, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn roll(&self, shifts: impl IntoSizes, dims: impl IntoAxes) -> Result<Tensor> {
        crate::roll(self.borrow(), &shifts.into_sizes(), &dims.into_axes())
    }

    /// Rotates a plane by `k` times 90 degrees.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).rot90(1, [0, 1])?.to_vec::<i32>()?, [2, 4, 1, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn rot90(&self, k: impl IntoInt, dims: impl IntoAxes) -> Result<Tensor> {
        crate::rot90(self.borrow(), k.into_int(), &dims.into_axes())
    }

    /// Returns the tensor with its elements in order in memory: a clone of the handle if they are, or else a copy.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::ones((2, 3), ())?.t()?.contiguous()?;
    /// assert!(x.is_contiguous());
    /// # Ok::<(), Error>(())
    /// ```
    fn contiguous(&self) -> Result<Tensor> {
        crate::contiguous(self.borrow(), MemoryFormat::Contiguous)
    }

    /// Returns whether the elements are in order in memory.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(!Tensor::ones((2, 3), ())?.t()?.is_contiguous());
    /// # Ok::<(), Error>(())
    /// ```
    fn is_contiguous(&self) -> bool {
        let this: &Tensor = self.borrow();
        this.geometry().is_contiguous()
    }

    /// Adds a border with one value. `amounts` has the numbers before and after for the last dimension, then for the one before, and so on. PyTorch: `F.pad(amounts, value=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).pad((1, 2), 0)?.to_vec::<i32>()?, [0, 1, 2, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn pad(&self, amounts: impl IntoSizes, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::constant_pad_nd(self.borrow(), &amounts.into_sizes(), value.into())
    }

    /// Adds a border of existing elements. PyTorch: `F.pad(amounts, mode=...)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::PadMode;
    /// assert_eq!(Tensor::from([[1.0, 2.0, 3.0]]).pad_with((1, 1), PadMode::Replicate)?.to_vec::<f64>()?, [1.0, 1.0, 2.0, 3.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn pad_with(&self, amounts: impl IntoSizes, mode: PadMode) -> Result<Tensor> {
        crate::pad(self.borrow(), &amounts.into_sizes(), mode.name(), None)
    }

    /// Adds a dimension to a tensor without dimensions. PyTorch: `torch.atleast_1d`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from(1.0).atleast_1d()?.sizes(), [1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn atleast_1d(&self) -> Result<Tensor> {
        crate::atleast_1d(self.borrow())
    }

    /// Adds dimensions, so that there are at least two. PyTorch: `torch.atleast_2d`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).atleast_2d()?.sizes(), [1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn atleast_2d(&self) -> Result<Tensor> {
        crate::atleast_2d(self.borrow())
    }

    /// Adds dimensions, so that there are at least three. PyTorch: `torch.atleast_3d`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).atleast_3d()?.sizes(), [1, 1, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn atleast_3d(&self) -> Result<Tensor> {
        crate::atleast_3d(self.borrow())
    }

    /// Rearranges channels to larger images. PyTorch: `F.pixel_shuffle`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 4, 2, 2), ())?.pixel_shuffle(2)?.sizes(), [1, 1, 4, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn pixel_shuffle(&self, factor: impl IntoInt) -> Result<Tensor> {
        crate::pixel_shuffle(self.borrow(), factor.into_int())
    }

    /// Rearranges images to more channels. PyTorch: `F.pixel_unshuffle`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((1, 1, 4, 4), ())?.pixel_unshuffle(2)?.sizes(), [1, 4, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn pixel_unshuffle(&self, factor: impl IntoInt) -> Result<Tensor> {
        crate::pixel_unshuffle(self.borrow(), factor.into_int())
    }

    /// Exchanges channels between groups. PyTorch: `F.channel_shuffle`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[[1], [2], [3], [4]]]).channel_shuffle(2)?.to_vec::<i32>()?, [1, 3, 2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn channel_shuffle(&self, groups: impl IntoInt) -> Result<Tensor> {
        crate::channel_shuffle(self.borrow(), groups.into_int())
    }
}

impl ShapeMethods for Tensor {}
