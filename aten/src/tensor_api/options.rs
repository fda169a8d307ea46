//! The options of new tensors: dtype and device, and the thread's default device.

use std::cell::Cell;
use std::marker::PhantomData;

use dispatch_runtime::prelude::*;

/// The dtype and the device of a new tensor, each optional.
///
/// ```
/// use aten::TensorOptions;
/// use dispatch_runtime::{DType, Device};
///
/// assert_eq!(TensorOptions::from(DType::F64).device, None);
/// assert_eq!(TensorOptions::from((DType::F64, Device::META)).device, Some(Device::META));
/// assert_eq!(TensorOptions::from(()), TensorOptions::default());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TensorOptions {
    /// The dtype. If it is `None`, each factory uses its own default.
    pub dtype: Option<DType>,
    /// The device. If it is `None`, factories use the thread's default device, see [`set_default_device`].
    pub device: Option<Device>,
}

impl From<()> for TensorOptions {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<DType> for TensorOptions {
    fn from(dtype: DType) -> Self {
        Self { dtype: Some(dtype), device: None }
    }
}

impl From<Device> for TensorOptions {
    fn from(device: Device) -> Self {
        Self { dtype: None, device: Some(device) }
    }
}

impl From<(DType, Device)> for TensorOptions {
    fn from((dtype, device): (DType, Device)) -> Self {
        Self { dtype: Some(dtype), device: Some(device) }
    }
}

/// The dtype and the device of this tensor.
impl From<&Tensor> for TensorOptions {
    fn from(tensor: &Tensor) -> Self {
        (tensor.dtype(), tensor.device()).into()
    }
}

thread_local! {
    static DEFAULT_DEVICE: Cell<Device> = const { Cell::new(Device::CPU) };
}

impl TensorOptions {
    /// Returns the given device, or else this thread's default device.
    pub(super) fn device_or_default(self) -> Device {
        self.device.unwrap_or_else(|| DEFAULT_DEVICE.get())
    }
}

/// Sets this thread's default device until the guard is dropped. [`Factories`](crate::Factories) use it for new tensors without a device.
///
/// ```
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// {
///     let _shapes_only = aten::set_default_device(Device::META);
///     assert_eq!(Tensor::zeros([1_000_000, 1_000_000], ())?.device(), Device::META);
/// }
/// # use kernels_cpu as _;
/// assert_eq!(Tensor::zeros(2, ())?.device(), Device::CPU);
/// # Ok(())
/// # }
/// ```
pub fn set_default_device(device: Device) -> DefaultDeviceGuard {
    DefaultDeviceGuard { previous: DEFAULT_DEVICE.replace(device), not_send: PhantomData }
}

/// A guard that restores the thread's previous default device when it is dropped, see [`set_default_device`].
#[must_use = "a guard that is not bound to a name is dropped at once"]
#[derive(Debug)]
pub struct DefaultDeviceGuard {
    previous: Device,
    /// Keeps the guard on its thread, because the default device is thread-local.
    not_send: PhantomData<*const ()>,
}

impl Drop for DefaultDeviceGuard {
    fn drop(&mut self) {
        DEFAULT_DEVICE.set(self.previous);
    }
}
