//! Products of vectors and matrices.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;
#[cfg(feature = "products")]
use dispatch_runtime::{IntoAxes, IntoInt};

/// Products of vectors and matrices, and distances between vectors.
pub trait ProductMethods: Borrow<Tensor> {
    /// Returns the matrix product. Dimensions before the last two broadcast. Candle: `broadcast_matmul`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.matmul(&Tensor::from([1.0, 1.0]))?.to_vec::<f64>()?, [3.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn matmul(&self, other: &Tensor) -> Result<Tensor> {
        crate::matmul(self.borrow(), other)
    }

    /// Returns the product of two matrices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.mm(&x)?.to_vec::<f64>()?, [7.0, 10.0, 15.0, 22.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn mm(&self, other: &Tensor) -> Result<Tensor> {
        crate::mm(self.borrow(), other)
    }

    /// Returns the products of two batches of matrices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[[1.0, 2.0], [3.0, 4.0]]]);
    /// assert_eq!(x.bmm(&x)?.to_vec::<f64>()?, [7.0, 10.0, 15.0, 22.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn bmm(&self, other: &Tensor) -> Result<Tensor> {
        crate::bmm(self.borrow(), other)
    }

    /// Returns the product of a matrix and a vector.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0], [3.0, 4.0]]).mv(&Tensor::from([1.0, 1.0]))?.to_vec::<f64>()?, [3.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn mv(&self, vector: &Tensor) -> Result<Tensor> {
        crate::mv(self.borrow(), vector)
    }

    /// Returns the scalar product of two vectors.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).dot(&Tensor::from([3.0, 4.0]))?.item::<f64>()?, 11.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn dot(&self, other: &Tensor) -> Result<Tensor> {
        crate::dot(self.borrow(), other)
    }

    /// Returns the scalar product of two vectors, the first one conjugated.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).vdot(&Tensor::from([3.0, 4.0]))?.item::<f64>()?, 11.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn vdot(&self, other: &Tensor) -> Result<Tensor> {
        crate::vdot(self.borrow(), other)
    }

    /// Returns the products over the last dimensions of both tensors.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0]]).inner(&Tensor::from([[3.0, 4.0]]))?.to_vec::<f64>()?, [11.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn inner(&self, other: &Tensor) -> Result<Tensor> {
        crate::inner(self.borrow(), other)
    }

    /// Returns the products of all pairs of elements of two vectors.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).outer(&Tensor::from([3.0, 4.0]))?.to_vec::<f64>()?, [3.0, 4.0, 6.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn outer(&self, other: &Tensor) -> Result<Tensor> {
        crate::outer(self.borrow(), other)
    }

    /// Returns `self + a @ b`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0]]);
    /// assert_eq!(x.addmm(&x, &x)?.to_vec::<f64>()?, [2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn addmm(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        crate::addmm(self.borrow(), a, b, 1.into(), 1.into())
    }

    /// Returns `self + matrix @ vector`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).addmv(&Tensor::from([[2.0]]), &Tensor::from([3.0]))?.to_vec::<f64>()?, [7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn addmv(&self, matrix: &Tensor, vector: &Tensor) -> Result<Tensor> {
        crate::addmv(self.borrow(), matrix, vector, 1.into(), 1.into())
    }

    /// Returns `self` plus the products of all pairs of elements of two vectors.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0]]).addr(&Tensor::from([2.0]), &Tensor::from([3.0]))?.to_vec::<f64>()?, [7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn addr(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        crate::addr(self.borrow(), a, b, 1.into(), 1.into())
    }

    /// Returns `self + a @ b` for batches of matrices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[[1.0]]]);
    /// assert_eq!(x.baddbmm(&x, &x)?.to_vec::<f64>()?, [2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn baddbmm(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        crate::baddbmm(self.borrow(), a, b, 1.into(), 1.into())
    }

    /// Returns `self` plus the sum of the products of a batch of matrices.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[[1.0]]]);
    /// assert_eq!(Tensor::from([[1.0]]).addbmm(&x, &x)?.to_vec::<f64>()?, [2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn addbmm(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        crate::addbmm(self.borrow(), a, b, 1.into(), 1.into())
    }

    /// Returns the Kronecker product.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).kron(&Tensor::from([1.0, 10.0]))?.to_vec::<f64>()?, [1.0, 10.0, 2.0, 20.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn kron(&self, other: &Tensor) -> Result<Tensor> {
        crate::kron(self.borrow(), other)
    }

    /// Returns the products over dimensions of both tensors. PyTorch: `torch.tensordot`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.tensordot(&x, 1, 0)?.to_vec::<f64>()?, [7.0, 10.0, 15.0, 22.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn tensordot(&self, other: &Tensor, dims: impl IntoAxes, other_dims: impl IntoAxes) -> Result<Tensor> {
        crate::tensordot(self.borrow(), other, &dims.into_axes(), &other_dims.into_axes())
    }

    /// Returns `self @ weight.T`. PyTorch: `F.linear`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0]]).linear(&Tensor::from([[3.0, 4.0]]))?.to_vec::<f64>()?, [11.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn linear(&self, weight: &Tensor) -> Result<Tensor> {
        crate::linear(self.borrow(), weight, None)
    }

    /// Returns `self @ weight.T + bias`. PyTorch: `F.linear(weight, bias)`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0]]).linear_bias(&Tensor::from([[3.0, 4.0]]), &Tensor::from([1.0]))?.to_vec::<f64>()?, [12.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn linear_bias(&self, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
        crate::linear(self.borrow(), weight, Some(bias))
    }

    /// Returns the sum of the diagonal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 2.0], [3.0, 4.0]]).trace()?.item::<f64>()?, 5.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn trace(&self) -> Result<Tensor> {
        crate::trace(self.borrow())
    }

    /// Returns the `n`th power of a matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 1.0], [0.0, 1.0]]).matrix_power(3)?.to_vec::<f64>()?, [1.0, 3.0, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn matrix_power(&self, n: impl IntoInt) -> Result<Tensor> {
        crate::matrix_power(self.borrow(), n.into_int())
    }

    /// Returns the vector products of vectors with three entries.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 0.0, 0.0]).cross(&Tensor::from([0.0, 1.0, 0.0]), -1)?.to_vec::<f64>()?, [0.0, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn cross(&self, other: &Tensor, dim: impl IntoInt) -> Result<Tensor> {
        crate::linalg_cross(self.borrow(), other, dim.into_int())
    }

    /// Returns the covariances of the variables in the rows.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 3.0], [2.0, 6.0]]).cov()?.to_vec::<f64>()?, [2.0, 4.0, 4.0, 8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn cov(&self) -> Result<Tensor> {
        crate::cov(self.borrow(), 1, None, None)
    }

    /// Returns the correlations of the variables in the rows.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([[1.0, 3.0], [2.0, 6.0]]).corrcoef()?.allclose(&Tensor::from([[1.0, 1.0], [1.0, 1.0]]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn corrcoef(&self) -> Result<Tensor> {
        crate::corrcoef(self.borrow())
    }

    /// Returns the distances between all rows of both tensors. PyTorch: `torch.cdist`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[0.0, 0.0]]).cdist(&Tensor::from([[3.0, 4.0]]))?.to_vec::<f64>()?, [5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn cdist(&self, other: &Tensor) -> Result<Tensor> {
        self.cdist_with(other, CdistOptions::default())
    }

    /// Returns the distances between all rows of both tensors, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::CdistOptions;
    /// assert_eq!(Tensor::from([[0.0, 0.0]]).cdist_with(&Tensor::from([[3.0, 4.0]]), CdistOptions { p: 1.0, ..CdistOptions::default() })?.to_vec::<f64>()?, [7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn cdist_with(&self, other: &Tensor, options: CdistOptions) -> Result<Tensor> {
        crate::cdist(self.borrow(), other, options.p, options.compute.code())
    }

    /// Returns the cosines of the angles between vectors along a dimension. PyTorch: `F.cosine_similarity`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0, 0.0]).cosine_similarity(&Tensor::from([2.0, 0.0]), 0)?.reshape(1)?.allclose(&Tensor::from([1.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "products")]
    fn cosine_similarity(&self, other: &Tensor, dim: impl IntoInt) -> Result<Tensor> {
        crate::cosine_similarity(self.borrow(), other, dim.into_int(), 1e-8)
    }
}

impl ProductMethods for Tensor {}

/// The options of [`ProductMethods::cdist_with`].
///
/// ```
/// assert_eq!(aten::CdistOptions::default().p, 2.0);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CdistOptions {
    /// The order of the norm. The default is 2.
    pub p: f64,
    /// When matrix products compute the distances.
    pub compute: crate::CdistCompute,
}

impl Default for CdistOptions {
    fn default() -> Self {
        Self { p: 2.0, compute: crate::CdistCompute::default() }
    }
}
