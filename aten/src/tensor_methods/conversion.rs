//! Copies, constants, and questions about dtypes.

use std::borrow::Borrow;

use dispatch_runtime::ArithmeticOperand;
use dispatch_runtime::prelude::*;

use super::in_place;

/// Copies, constants with the sizes of a tensor, and questions about dtypes.
pub trait ConversionMethods: Borrow<Tensor> {
    /// Copies the elements to new memory. `clone` makes another handle to the same tensor. PyTorch: `clone`. Candle: `copy`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0]);
    /// let copy = x.deep_clone()?;
    /// x.fill_(2)?;
    /// assert_eq!(copy.to_vec::<f64>()?, [1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn deep_clone(&self) -> Result<Tensor> {
        crate::clone(self.borrow(), None)
    }

    /// Writes the elements of another tensor, which broadcasts, in place of all elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.copy_(&Tensor::from([5]))?;
    /// assert_eq!(x.to_vec::<f64>()?, [5.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn copy_(&self, source: &Tensor) -> Result<()> {
        in_place!(self, copy_(source, false))
    }

    /// Writes a number to all elements.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.fill_(3)?;
    /// assert_eq!(x.to_vec::<f64>()?, [3.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn fill_(&self, value: impl ArithmeticOperand) -> Result<()> {
        value.call_with_tensor(|value| {
            if value.is_number() {
                in_place!(self, fill__scalar(value.to_scalar()?))
            } else {
                in_place!(self, fill_(value))
            }
        })
    }

    /// Writes 0 to all elements. Candle: `zero_set`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.zero_()?;
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn zero_(&self) -> Result<()> {
        in_place!(self, zero_())
    }

    /// Writes a number to the diagonal.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// let x = Tensor::zeros((2, 2), ())?;
    /// x.fill_diagonal_(1)?;
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn fill_diagonal_(&self, value: impl Into<Scalar>) -> Result<()> {
        in_place!(self, fill_diagonal_(value.into(), false))
    }

    /// Returns zeros with the sizes, dtype and device of the tensor. PyTorch: `torch.zeros_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).zeros_like()?.to_vec::<f64>()?, [0.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn zeros_like(&self) -> Result<Tensor> {
        crate::zeros_like(self.borrow(), None, None, None, None, None)
    }

    /// Returns ones with the sizes, dtype and device of the tensor. PyTorch: `torch.ones_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([5.0, 2.0]).ones_like()?.to_vec::<f64>()?, [1.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn ones_like(&self) -> Result<Tensor> {
        crate::ones_like(self.borrow(), None, None, None, None, None)
    }

    /// Returns a number in each element, with the sizes, dtype and device of the tensor. PyTorch: `torch.full_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).full_like(7)?.to_vec::<f64>()?, [7.0, 7.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn full_like(&self, value: impl Into<Scalar>) -> Result<Tensor> {
        crate::full_like(self.borrow(), value.into(), None, None, None, None, None)
    }

    /// Returns arbitrary elements, with the sizes, dtype and device of the tensor. PyTorch: `torch.empty_like`.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0, 2.0]).empty_like()?.sizes(), [2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn empty_like(&self) -> Result<Tensor> {
        crate::empty_like(self.borrow(), None, None, None, None, None)
    }

    /// Converts to the dtype and device of another tensor.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1, 2]).type_as(&Tensor::from([0.5]))?.to_vec::<f64>()?, [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn type_as(&self, other: &Tensor) -> Result<Tensor> {
        crate::type_as(self.borrow(), other)
    }

    /// Returns whether the dtype is a floating one.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0]).is_floating_point());
    /// # Ok::<(), Error>(())
    /// ```
    fn is_floating_point(&self) -> bool {
        let this: &Tensor = self.borrow();
        this.dtype().is_floating()
    }

    /// Returns whether the dtype is a complex one.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(!Tensor::from([1.0]).is_complex());
    /// # Ok::<(), Error>(())
    /// ```
    fn is_complex(&self) -> bool {
        let this: &Tensor = self.borrow();
        this.dtype().is_complex()
    }

    /// Returns the number of bytes of an element.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert_eq!(Tensor::from([1.0]).element_size(), 8);
    /// # Ok::<(), Error>(())
    /// ```
    fn element_size(&self) -> usize {
        let this: &Tensor = self.borrow();
        this.dtype().size()
    }

    /// Returns whether the memory is page-locked, so that devices read it directly.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(!Tensor::from([1.0]).is_pinned()?);
    /// # Ok::<(), Error>(())
    /// ```
    fn is_pinned(&self) -> Result<bool> {
        crate::is_pinned(self.borrow(), None)
    }

    /// Copies to page-locked memory, if the tensor is not in it.
    ///
    /// ```
    /// # use {aten::prelude::*, dispatch_runtime::{prelude::*}, kernels_cpu as _};
    /// assert!(Tensor::from([1.0]).pin_memory().is_err(), "this program links no backend with such memory");
    /// # Ok::<(), Error>(())
    /// ```
    fn pin_memory(&self) -> Result<Tensor> {
        crate::pin_memory(self.borrow(), None)
    }
}

impl ConversionMethods for Tensor {}
