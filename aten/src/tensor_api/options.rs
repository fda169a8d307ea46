//! What a new tensor is to be: its dtype, and where it is to live.

use std::cell::Cell;
use std::marker::PhantomData;

use dispatch_runtime::prelude::*;

/// A dtype and a device, each of which can be left open.
///
/// ```
/// use aten::Options;
/// use dispatch_runtime::{DType, Device};
///
/// assert_eq!(Options::from(DType::F64).device, None);
/// assert_eq!(Options::from((DType::F64, Device::META)).device, Some(Device::META));
/// assert_eq!(Options::from(()), Options::default());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The type of the elements; each factory knows what is usual where there is none.
    pub dtype: Option<DType>,
    /// Where the memory is to be; the default device, see [`default_device`], where there is none.
    pub device: Option<Device>,
}

impl From<()> for Options {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<DType> for Options {
    fn from(dtype: DType) -> Self {
        Self { dtype: Some(dtype), device: None }
    }
}

impl From<Device> for Options {
    fn from(device: Device) -> Self {
        Self { dtype: None, device: Some(device) }
    }
}

impl From<(DType, Device)> for Options {
    fn from((dtype, device): (DType, Device)) -> Self {
        Self { dtype: Some(dtype), device: Some(device) }
    }
}

/// As this tensor is.
impl From<&Tensor> for Options {
    fn from(tensor: &Tensor) -> Self {
        (tensor.dtype(), tensor.device()).into()
    }
}

thread_local! {
    static DEFAULT: Cell<Device> = const { Cell::new(Device::CPU) };
}

impl Options {
    /// The device that was named, or else this thread's default.
    pub(super) fn place(self) -> Device {
        self.device.unwrap_or_else(|| DEFAULT.get())
    }
}

/// Makes `device` the one on which [`Factories`](crate::Factories) puts tensors that name none, on this thread, until the guard is dropped.
///
/// ```
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// {
///     let _shapes_only = aten::default_device(Device::META);
///     assert_eq!(Tensor::zeros(&[1_000_000, 1_000_000], ())?.device(), Device::META);
/// }
/// # use kernels_cpu as _;
/// assert_eq!(Tensor::zeros(&[2], ())?.device(), Device::CPU);
/// # Ok(())
/// # }
/// ```
pub fn default_device(device: Device) -> DefaultDevice {
    DefaultDevice { before: DEFAULT.replace(device), not_send: PhantomData }
}

/// Puts back the default device that was there before, see [`default_device`].
#[must_use = "a guard that is not bound to a name is dropped at once"]
#[derive(Debug)]
pub struct DefaultDevice {
    before: Device,
    /// The default is the thread's own.
    not_send: PhantomData<*const ()>,
}

impl Drop for DefaultDevice {
    fn drop(&mut self) {
        DEFAULT.set(self.before);
    }
}
