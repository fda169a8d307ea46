//! Fourier transforms. PyTorch has these functions in `torch.fft`.

use std::borrow::Borrow;

use dispatch_runtime::IntoAxes;
use dispatch_runtime::prelude::*;

use crate::{FftNorm, IntList};

/// Fourier transforms. PyTorch: `torch.fft`.
pub trait FourierMethods: Borrow<Tensor> {
    /// Returns the Fourier transform of a dimension. PyTorch: `torch.fft.fft`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftOptions;
    /// assert_eq!(Tensor::ones(4, DType::F64)?.fft(FftOptions::default())?.sizes(), [4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn fft(&self, options: FftOptions) -> Result<Tensor> {
        let (n, dim, norm) = options.arguments();
        crate::fft_fft(self.borrow(), n, dim, norm)
    }

    /// Returns the inverse Fourier transform of a dimension. PyTorch: `torch.fft.ifft`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftOptions;
    /// assert_eq!(Tensor::ones(4, DType::F64)?.ifft(FftOptions::default())?.sizes(), [4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn ifft(&self, options: FftOptions) -> Result<Tensor> {
        let (n, dim, norm) = options.arguments();
        crate::fft_ifft(self.borrow(), n, dim, norm)
    }

    /// Returns the half of the Fourier transform of real numbers that determines the rest. PyTorch: `torch.fft.rfft`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftOptions;
    /// assert_eq!(Tensor::ones(4, DType::F64)?.rfft(FftOptions::default())?.sizes(), [3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn rfft(&self, options: FftOptions) -> Result<Tensor> {
        let (n, dim, norm) = options.arguments();
        crate::fft_rfft(self.borrow(), n, dim, norm)
    }

    /// Returns the real numbers of a half Fourier transform: the inverse of `rfft`. PyTorch: `torch.fft.irfft`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftOptions;
    /// assert_eq!(Tensor::ones(4, DType::F64)?.irfft(FftOptions::default())?.sizes(), [6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn irfft(&self, options: FftOptions) -> Result<Tensor> {
        let (n, dim, norm) = options.arguments();
        crate::fft_irfft(self.borrow(), n, dim, norm)
    }

    /// Returns the Fourier transform of a signal that is symmetric and conjugated. PyTorch: `torch.fft.hfft`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftOptions;
    /// assert_eq!(Tensor::ones(4, DType::F64)?.hfft(FftOptions::default())?.sizes(), [6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn hfft(&self, options: FftOptions) -> Result<Tensor> {
        let (n, dim, norm) = options.arguments();
        crate::fft_hfft(self.borrow(), n, dim, norm)
    }

    /// Returns the inverse of `hfft`. PyTorch: `torch.fft.ihfft`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftOptions;
    /// assert_eq!(Tensor::ones(4, DType::F64)?.ihfft(FftOptions::default())?.sizes(), [3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn ihfft(&self, options: FftOptions) -> Result<Tensor> {
        let (n, dim, norm) = options.arguments();
        crate::fft_ihfft(self.borrow(), n, dim, norm)
    }

    /// Computes `fft` over several dimensions. PyTorch: `torch.fft.fftn`, `torch.fft.fft2`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftnOptions;
    /// assert_eq!(Tensor::ones((2, 4), DType::F64)?.fftn(FftnOptions::default())?.sizes(), [2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn fftn(&self, options: FftnOptions) -> Result<Tensor> {
        crate::fft_fftn(
            self.borrow(),
            options.sizes.if_not_empty(),
            options.dims.if_not_empty(),
            Some(options.norm.name()),
        )
    }

    /// Computes `ifft` over several dimensions. PyTorch: `torch.fft.ifftn`, `torch.fft.ifft2`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftnOptions;
    /// assert_eq!(Tensor::ones((2, 4), DType::F64)?.ifftn(FftnOptions::default())?.sizes(), [2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn ifftn(&self, options: FftnOptions) -> Result<Tensor> {
        crate::fft_ifftn(
            self.borrow(),
            options.sizes.if_not_empty(),
            options.dims.if_not_empty(),
            Some(options.norm.name()),
        )
    }

    /// Computes `rfft` over several dimensions. PyTorch: `torch.fft.rfftn`, `torch.fft.rfft2`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftnOptions;
    /// assert_eq!(Tensor::ones((2, 4), DType::F64)?.rfftn(FftnOptions::default())?.sizes(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn rfftn(&self, options: FftnOptions) -> Result<Tensor> {
        crate::fft_rfftn(
            self.borrow(),
            options.sizes.if_not_empty(),
            options.dims.if_not_empty(),
            Some(options.norm.name()),
        )
    }

    /// Computes `irfft` over several dimensions. PyTorch: `torch.fft.irfftn`, `torch.fft.irfft2`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// use aten::FftnOptions;
    /// assert_eq!(Tensor::ones((2, 4), DType::F64)?.irfftn(FftnOptions::default())?.sizes(), [2, 6]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn irfftn(&self, options: FftnOptions) -> Result<Tensor> {
        crate::fft_irfftn(
            self.borrow(),
            options.sizes.if_not_empty(),
            options.dims.if_not_empty(),
            Some(options.norm.name()),
        )
    }

    /// Moves the frequency 0 to the middle of dimensions. PyTorch: `torch.fft.fftshift`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([0, 1, -1]).fftshift(0)?.to_vec::<i32>()?, [-1, 0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn fftshift(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::fft_fftshift(self.borrow(), Some(&dims.into_axes()))
    }

    /// Undoes `fftshift`. PyTorch: `torch.fft.ifftshift`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([-1, 0, 1]).ifftshift(0)?.to_vec::<i32>()?, [0, 1, -1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "fft")]
    fn ifftshift(&self, dims: impl IntoAxes) -> Result<Tensor> {
        crate::fft_ifftshift(self.borrow(), Some(&dims.into_axes()))
    }
}

impl FourierMethods for Tensor {}

/// The options of [`FourierMethods::fft`] and the other transforms of one dimension.
///
/// ```
/// assert_eq!(aten::FftOptions::default().dim, -1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FftOptions {
    /// The length of the signal, which is cut or padded by zeros. `None` is that of the dimension.
    pub n: Option<i64>,
    /// The dimension. The default is the last one.
    pub dim: i64,
    /// The scaling.
    pub norm: FftNorm,
}

impl Default for FftOptions {
    fn default() -> Self {
        Self { n: None, dim: -1, norm: FftNorm::default() }
    }
}

impl FftOptions {
    /// Returns the arguments of the operators.
    fn arguments(self) -> (Option<i64>, i64, Option<&'static str>) {
        (self.n, self.dim, Some(self.norm.name()))
    }
}

/// The options of [`FourierMethods::fftn`] and the other transforms of several dimensions.
///
/// ```
/// assert!(aten::FftnOptions::default().dims.is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FftnOptions {
    /// The lengths of the signal. An empty list, the default, is those of the dimensions.
    pub sizes: IntList,
    /// The dimensions. An empty list, the default, is all dimensions.
    pub dims: IntList,
    /// The scaling.
    pub norm: FftNorm,
}
