//! Parts of a tensor, and other interpretations of its elements. All are views unless the text says otherwise.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{IntoInt, IntoSizes};

/// Parts of a tensor, and other interpretations of its elements. `x.i((.., 1..3))` also selects parts.
pub trait ViewMethods: Borrow<Tensor> {
    /// Returns the elements at one index of a dimension. Candle: `get_on_dim`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).select(1, -1)?.to_vec::<i32>()?, [2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn select(&self, dim: impl IntoInt, index: impl IntoInt) -> Result<Tensor> {
        crate::select_int(self.borrow(), dim.into_int(), index.into_int())
    }

    /// Returns a range of indices of a dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3, 4]).narrow(0, 1, 2)?.to_vec::<i32>()?, [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn narrow(&self, dim: impl IntoInt, start: impl IntoInt, length: impl IntoInt) -> Result<Tensor> {
        crate::narrow(self.borrow(), dim.into_int(), start.into_int(), length.into_int())
    }

    /// Returns the elements at each index of a dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let rows = Tensor::from([[1, 2], [3, 4]]).unbind(0)?;
    /// assert_eq!(rows[1].to_vec::<i32>()?, [3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn unbind(&self, dim: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::unbind_int(self.borrow(), dim.into_int())
    }

    /// Splits a dimension into at most `chunks` parts. All but the last have the same size.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let parts = Tensor::from([1, 2, 3]).chunk(2, 0)?;
    /// assert_eq!(parts[1].to_vec::<i32>()?, [3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn chunk(&self, chunks: impl IntoInt, dim: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::chunk(self.borrow(), chunks.into_int(), dim.into_int())
    }

    /// Splits a dimension into parts of one size; the last may be smaller.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let parts = Tensor::from([1, 2, 3]).split(2, 0)?;
    /// assert_eq!(parts[0].to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn split(&self, size: impl IntoInt, dim: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::split(self.borrow(), size.into_int(), dim.into_int())
    }

    /// Splits a dimension into parts of the given sizes. PyTorch: `split([2, 1])`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let parts = Tensor::from([1, 2, 3]).split_sizes([1, 2], 0)?;
    /// assert_eq!(parts[1].to_vec::<i32>()?, [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn split_sizes(&self, sizes: impl IntoSizes, dim: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::split_with_sizes(self.borrow(), &sizes.into_sizes(), dim.into_int())
    }

    /// Splits a dimension into parts of nearly equal size.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).tensor_split(2, 0)?.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    fn tensor_split(&self, sections: impl IntoInt, dim: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::tensor_split_sections(self.borrow(), sections.into_int(), dim.into_int())
    }

    /// Splits a dimension before each of the indices. PyTorch: `tensor_split(indices)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let parts = Tensor::from([1, 2, 3]).tensor_split_at([1], 0)?;
    /// assert_eq!(parts[1].to_vec::<i32>()?, [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn tensor_split_at(&self, indices: impl IntoSizes, dim: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::tensor_split_indices(self.borrow(), &indices.into_sizes(), dim.into_int())
    }

    /// Returns the diagonal of a matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).diagonal()?.to_vec::<i32>()?, [1, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diagonal(&self) -> Result<Tensor> {
        self.diagonal_with(DiagonalOptions::default())
    }

    /// Returns a diagonal of two dimensions, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::DiagonalOptions;
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).diagonal_with(DiagonalOptions { offset: 1, ..DiagonalOptions::default() })?.to_vec::<i32>()?, [2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diagonal_with(&self, options: DiagonalOptions) -> Result<Tensor> {
        crate::diagonal(self.borrow(), options.offset, options.dim1, options.dim2)
    }

    /// Copies a diagonal of a matrix, or makes a matrix with this diagonal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).diag(0)?.to_vec::<i32>()?, [1, 0, 0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diag(&self, diagonal: impl IntoInt) -> Result<Tensor> {
        crate::diag(self.borrow(), diagonal.into_int())
    }

    /// Makes matrices with the last dimension as their diagonals.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2]]).diag_embed(0)?.sizes(), [1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diag_embed(&self, offset: impl IntoInt) -> Result<Tensor> {
        crate::diag_embed(self.borrow(), offset.into_int(), -2, -1)
    }

    /// Makes a matrix with all elements in its diagonal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).diagflat(0)?.sizes(), [2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn diagflat(&self, offset: impl IntoInt) -> Result<Tensor> {
        crate::diagflat(self.borrow(), offset.into_int())
    }

    /// Copies the lower triangle of matrices; elements above the diagonal become 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).tril(0)?.to_vec::<i32>()?, [1, 0, 3, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn tril(&self, diagonal: impl IntoInt) -> Result<Tensor> {
        crate::tril(self.borrow(), diagonal.into_int())
    }

    /// Copies the upper triangle of matrices; elements below the diagonal become 0.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).triu(0)?.to_vec::<i32>()?, [1, 2, 0, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    fn triu(&self, diagonal: impl IntoInt) -> Result<Tensor> {
        crate::triu(self.borrow(), diagonal.into_int())
    }

    /// Returns overlapping ranges of a dimension, each as a new last dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).unfold(0, 2, 1)?.to_vec::<i32>()?, [1, 2, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn unfold(&self, dim: impl IntoInt, size: impl IntoInt, step: impl IntoInt) -> Result<Tensor> {
        crate::unfold(self.borrow(), dim.into_int(), size.into_int(), step.into_int())
    }

    /// Returns a view of the storage with any sizes, strides and offset.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2, 3]).as_strided((2, 2), (1, 1), 0)?.to_vec::<i32>()?, [1, 2, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    fn as_strided(&self, sizes: impl IntoSizes, strides: impl IntoSizes, offset: impl IntoInt) -> Result<Tensor> {
        crate::as_strided(self.borrow(), &sizes.into_sizes(), &strides.into_sizes(), Some(offset.into_int()))
    }

    /// Returns the same memory as elements of another dtype. PyTorch: `view(dtype)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0_f32]).view_dtype(DType::I32)?.to_vec::<i32>()?, [0x3f80_0000]);
    /// # Ok::<(), Error>(())
    /// ```
    fn view_dtype(&self, dtype: DType) -> Result<Tensor> {
        crate::view_dtype(self.borrow(), dtype)
    }

    /// Returns complex numbers as pairs of real ones. PyTorch: `torch.view_as_real`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).to(DType::C128)?.view_as_real()?.to_vec::<f64>()?, [1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn view_as_real(&self) -> Result<Tensor> {
        crate::view_as_real(self.borrow())
    }

    /// Returns pairs of real numbers as complex ones. PyTorch: `torch.view_as_complex`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 0.0]]).view_as_complex()?.sizes(), [1]);
    /// # Ok::<(), Error>(())
    /// ```
    fn view_as_complex(&self) -> Result<Tensor> {
        crate::view_as_complex(self.borrow())
    }

    /// Returns the real parts.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0]]).view_as_complex()?.real()?.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn real(&self) -> Result<Tensor> {
        crate::real(self.borrow())
    }

    /// Returns the imaginary parts.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0]]).view_as_complex()?.imag()?.to_vec::<f64>()?, [2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn imag(&self) -> Result<Tensor> {
        crate::imag(self.borrow())
    }

    /// Returns the conjugates.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0]]).view_as_complex()?.conj()?.imag()?.resolve_neg()?.to_vec::<f64>()?, [-2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn conj(&self) -> Result<Tensor> {
        crate::conj(self.borrow())
    }

    /// Computes the elements of a conjugated view.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).resolve_conj()?.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn resolve_conj(&self) -> Result<Tensor> {
        crate::resolve_conj(self.borrow())
    }

    /// Computes the elements of a negated view.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).resolve_neg()?.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn resolve_neg(&self) -> Result<Tensor> {
        crate::resolve_neg(self.borrow())
    }

    /// Returns the angles of complex numbers, or 0 or pi for real ones. The result is a copy.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([-1.0, 1.0]).angle()?.allclose(&Tensor::from([3.141592654, 0.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    fn angle(&self) -> Result<Tensor> {
        crate::angle(self.borrow())
    }

    /// Returns the elements without their history: gradients stop here.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(!Tensor::from([1.0]).detach()?.requires_grad());
    /// # Ok::<(), Error>(())
    /// ```
    fn detach(&self) -> Result<Tensor> {
        crate::detach(self.borrow())
    }

    /// Splits horizontally.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 4), ())?.hsplit(2)?.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    fn hsplit(&self, sections: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::hsplit_int(self.borrow(), sections.into_int())
    }

    /// Splits vertically.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 4), ())?.vsplit(2)?.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    fn vsplit(&self, sections: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::vsplit_int(self.borrow(), sections.into_int())
    }

    /// Splits the third dimension.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::ones((2, 4, 2), ())?.dsplit(2)?.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    fn dsplit(&self, sections: impl IntoInt) -> Result<Vec<Tensor>> {
        crate::dsplit_int(self.borrow(), sections.into_int())
    }
}

impl ViewMethods for Tensor {}

/// The options of [`ViewMethods::diagonal_with`].
///
/// ```
/// assert_eq!(aten::DiagonalOptions::default().dim2, 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiagonalOptions {
    /// How far the diagonal is to the right of the main one. The default is 0.
    pub offset: i64,
    /// The dimension of rows. The default is 0.
    pub dim1: i64,
    /// The dimension of columns. The default is 1.
    pub dim2: i64,
}

impl Default for DiagonalOptions {
    fn default() -> Self {
        Self { offset: 0, dim1: 0, dim2: 1 }
    }
}
