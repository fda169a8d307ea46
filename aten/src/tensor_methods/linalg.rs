//! Linear algebra. PyTorch has these functions in `torch.linalg`.

use std::borrow::Borrow;

use dispatch_runtime::prelude::*;

use crate::{LstsqDriver, NormOrder, QrMode, Triangle};

/// Decompositions, linear systems and matrix norms, of matrices and batches of them. PyTorch: `torch.linalg`.
pub trait LinalgMethods: Borrow<Tensor> {
    /// Returns the determinant.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[2.0, 0.0], [0.0, 3.0]]).det()?.item::<f64>()?, 6.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn det(&self) -> Result<Tensor> {
        crate::linalg_det(self.borrow())
    }

    /// Returns the sign of the determinant, and the logarithm of its absolute value.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (sign, log) = Tensor::from([[1.0, 0.0], [0.0, -1.0]]).slogdet()?;
    /// assert_eq!((sign.item::<f64>()?, log.item::<f64>()?), (-1.0, 0.0));
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn slogdet(&self) -> Result<(Tensor, Tensor)> {
        crate::linalg_slogdet(self.borrow())
    }

    /// Returns the logarithm of the determinant.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 0.0], [0.0, 1.0]]).logdet()?.item::<f64>()?, 0.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn logdet(&self) -> Result<Tensor> {
        crate::logdet(self.borrow())
    }

    /// Returns the inverse. PyTorch: `torch.linalg.inv`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[2.0, 0.0], [0.0, 4.0]]).inverse()?.to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.25]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn inverse(&self) -> Result<Tensor> {
        crate::linalg_inv(self.borrow())
    }

    /// Returns the pseudo-inverse. Singular values below `rcond` times the largest are 0. PyTorch: `torch.linalg.pinv`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([[2.0, 0.0], [0.0, 4.0]]).pinverse(1e-15)?.allclose(&Tensor::from([[0.5, 0.0], [0.0, 0.25]]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn pinverse(&self, rcond: f64) -> Result<Tensor> {
        crate::linalg_pinv(self.borrow(), rcond, false)
    }

    /// Returns the lower triangular factor of a positive definite matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[4.0, 0.0], [0.0, 9.0]]).cholesky()?.to_vec::<f64>()?, [2.0, 0.0, 0.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn cholesky(&self) -> Result<Tensor> {
        crate::linalg_cholesky(self.borrow(), false)
    }

    /// Returns an orthogonal and an upper triangular factor.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::QrMode;
    /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    /// let (q, r) = x.qr(QrMode::Reduced)?;
    /// assert!(q.matmul(&r)?.allclose(&x)?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn qr(&self, mode: QrMode) -> Result<(Tensor, Tensor)> {
        crate::linalg_qr(self.borrow(), mode.name())
    }

    /// Returns the reduced singular value decomposition: `U`, the singular values, and `V` transposed and conjugated.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (_, values, _) = Tensor::from([[3.0, 0.0], [0.0, 2.0]]).svd()?;
    /// assert!(values.allclose(&Tensor::from([3.0, 2.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn svd(&self) -> Result<(Tensor, Tensor, Tensor)> {
        self.svd_with(SvdOptions::default())
    }

    /// Returns the singular values.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([[3.0, 0.0], [0.0, 2.0]]).svdvals()?.allclose(&Tensor::from([3.0, 2.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn svdvals(&self) -> Result<Tensor> {
        crate::linalg_svdvals(self.borrow(), None)
    }

    /// Returns the singular value decomposition, with options.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::SvdOptions;
    /// let (u, _, _) = Tensor::from([[3.0], [0.0]]).svd_with(SvdOptions { full_matrices: true, driver: None })?;
    /// assert_eq!(u.sizes(), [2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn svd_with(&self, options: SvdOptions) -> Result<(Tensor, Tensor, Tensor)> {
        crate::linalg_svd(self.borrow(), options.full_matrices, options.driver.map(crate::SvdDriver::name))
    }

    /// Returns the eigenvalues and eigenvectors of a symmetric matrix, of which one triangle is read.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Triangle;
    /// let (values, _) = Tensor::from([[2.0, 0.0], [0.0, 3.0]]).eigh(Triangle::Lower)?;
    /// assert!(values.allclose(&Tensor::from([2.0, 3.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn eigh(&self, triangle: Triangle) -> Result<(Tensor, Tensor)> {
        crate::linalg_eigh(self.borrow(), triangle.name())
    }

    /// Returns the eigenvalues of a symmetric matrix, of which one triangle is read.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Triangle;
    /// assert!(Tensor::from([[2.0, 0.0], [0.0, 3.0]]).eigvalsh(Triangle::Lower)?.allclose(&Tensor::from([2.0, 3.0]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn eigvalsh(&self, triangle: Triangle) -> Result<Tensor> {
        crate::linalg_eigvalsh(self.borrow(), triangle.name())
    }

    /// Returns the complex eigenvalues and eigenvectors of a square matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (values, _) = Tensor::from([[2.0, 0.0], [0.0, 3.0]]).eig()?;
    /// assert_eq!(values.sizes(), [2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn eig(&self) -> Result<(Tensor, Tensor)> {
        crate::linalg_eig(self.borrow())
    }

    /// Returns the complex eigenvalues of a square matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[2.0, 0.0], [0.0, 3.0]]).eigvals()?.sizes(), [2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn eigvals(&self) -> Result<Tensor> {
        crate::linalg_eigvals(self.borrow())
    }

    /// Solves the linear system `self @ x = b`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[2.0, 0.0], [0.0, 4.0]]).solve(&Tensor::from([2.0, 4.0]))?.to_vec::<f64>()?, [1.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn solve(&self, b: &Tensor) -> Result<Tensor> {
        crate::linalg_solve(self.borrow(), b, true)
    }

    /// Solves a linear system with a triangular matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::Triangle;
    /// assert_eq!(Tensor::from([[2.0, 0.0], [0.0, 4.0]]).solve_triangular(&Tensor::from([[2.0], [4.0]]), Triangle::Lower)?.to_vec::<f64>()?, [1.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn solve_triangular(&self, b: &Tensor, triangle: Triangle) -> Result<Tensor> {
        crate::linalg_solve_triangular(self.borrow(), b, triangle == Triangle::Upper, true, false)
    }

    /// Solves a linear system in the sense of least squares.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([[2.0, 0.0], [0.0, 4.0]]).lstsq(&Tensor::from([[2.0], [4.0]]))?.allclose(&Tensor::from([[1.0], [1.0]]))?);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn lstsq(&self, b: &Tensor) -> Result<Tensor> {
        Ok(self.lstsq_with(b, LstsqOptions::default())?.0)
    }

    /// Solves a linear system in the sense of least squares. Returns the solution, the residuals, the rank and the singular values.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::{LstsqDriver, LstsqOptions};
    /// let options = LstsqOptions { driver: Some(LstsqDriver::Gelsd), ..LstsqOptions::default() };
    /// let (_, _, rank, _) = Tensor::from([[2.0, 0.0], [0.0, 4.0]]).lstsq_with(&Tensor::from([[2.0], [4.0]]), options)?;
    /// assert_eq!(rank.item::<i64>()?, 2);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn lstsq_with(&self, b: &Tensor, options: LstsqOptions) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        crate::linalg_lstsq(self.borrow(), b, options.rcond, options.driver.map(LstsqDriver::name))
    }

    /// Returns a permutation, a lower and an upper triangular factor.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let (_, l, u) = Tensor::from([[2.0, 0.0], [0.0, 4.0]]).lu()?;
    /// assert_eq!(l.matmul(&u)?.to_vec::<f64>()?, [2.0, 0.0, 0.0, 4.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn lu(&self) -> Result<(Tensor, Tensor, Tensor)> {
        crate::linalg_lu(self.borrow(), true)
    }

    /// Returns the exponential of a matrix.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[0.0, 0.0], [0.0, 0.0]]).matrix_exp()?.to_vec::<f64>()?, [1.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn matrix_exp(&self) -> Result<Tensor> {
        crate::linalg_matrix_exp(self.borrow())
    }

    /// Returns the rank.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([[1.0, 1.0], [1.0, 1.0]]).matrix_rank()?.item::<i64>()?, 1);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn matrix_rank(&self) -> Result<Tensor> {
        crate::linalg_matrix_rank_atol_rtol_float(self.borrow(), None, None, false)
    }

    /// Returns the norm of a matrix: Frobenius, nuclear, or of an order.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::NormOrder;
    /// assert_eq!(Tensor::from([[3.0, 0.0], [0.0, 4.0]]).matrix_norm(NormOrder::Frobenius)?.item::<f64>()?, 5.0);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn matrix_norm(&self, order: NormOrder) -> Result<Tensor> {
        match order {
            NormOrder::Number(number) => {
                crate::linalg_matrix_norm(self.borrow(), number.into(), &[-2, -1], false, None)
            }
            word => crate::linalg_matrix_norm_str_ord(self.borrow(), word.name(), &[-2, -1], false, None),
        }
    }

    /// Returns the norm of all elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([3.0, -4.0]).vector_norm(1.0)?.item::<f64>()?, 7.0);
    /// # Ok::<(), Error>(())
    /// ```
    fn vector_norm(&self, order: f64) -> Result<Tensor> {
        crate::linalg_vector_norm(self.borrow(), order.into(), None, false, None)
    }

    /// Returns the condition number in a norm.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([[2.0, 0.0], [0.0, 4.0]]);
    /// assert!((x.cond(2.0.into())?.item::<f64>()? - 2.0).abs() < 1e-6);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "linalg")]
    fn cond(&self, order: NormOrder) -> Result<Tensor> {
        match order {
            NormOrder::Number(number) => crate::linalg_cond(self.borrow(), Some(number.into())),
            word => crate::linalg_cond_p_str(self.borrow(), word.name()),
        }
    }
}

impl LinalgMethods for Tensor {}

/// The options of [`LinalgMethods::svd_with`].
///
/// ```
/// assert!(!aten::SvdOptions::default().full_matrices);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SvdOptions {
    /// Whether `U` and `V` are square.
    pub full_matrices: bool,
    /// The algorithm of cuSOLVER. The CPU has one, and refuses a choice.
    pub driver: Option<crate::SvdDriver>,
}

/// The options of [`LinalgMethods::lstsq_with`].
///
/// ```
/// assert_eq!(aten::LstsqOptions::default().rcond, None);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LstsqOptions {
    /// The part of the largest singular value below which others count as 0. `None` depends on the dtype and the sizes.
    pub rcond: Option<f64>,
    /// The algorithm. `None` is the default of the device.
    pub driver: Option<LstsqDriver>,
}
