//! The options of new tensors: dtype and device, and the thread's default device.

use std::cell::Cell;
use std::marker::PhantomData;

use dispatch_runtime::prelude::*;

/// The dtype and the device of a new tensor, each optional.
///
/// ```
/// use aten::{IntoOptions, TensorOptions};
/// use dispatch_runtime::DType;
///
/// assert_eq!(TensorOptions { dtype: Some(DType::F64), device: None }, DType::F64.into_options());
/// assert_eq!(TensorOptions::default(), ().into_options());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TensorOptions {
    /// The dtype. If it is `None`, each factory uses its own default.
    pub dtype: Option<DType>,
    /// The device. If it is `None`, factories use the thread's default device, see [`set_default_device`].
    pub device: Option<Device>,
}

/// The argument of factories and of [`Convert::to`](crate::Convert::to) for the dtype and the device: a [`DType`], a [`Device`], both in
/// a tuple, `&tensor` for those of the tensor, or `()` for the defaults.
///
/// ```
/// use aten::IntoOptions;
/// use dispatch_runtime::{DType, Device, Tensor};
/// let both = (DType::F64, Device::META).into_options();
/// assert_eq!((both.dtype, both.device), (Some(DType::F64), Some(Device::META)));
/// assert_eq!((Device::META, DType::F64).into_options(), both);
/// assert_eq!((&Tensor::from(1.5)).into_options().dtype, Some(DType::F64));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype or a device",
    label = "write a dtype, a device, `(dtype, device)`, `&tensor`, or `()` for the defaults; several sizes are a tuple `(2, 3)`",
    note = "a name is parsed first: `\"float32\".parse::<DType>()?`"
)]
pub trait IntoOptions {
    /// Converts the argument to options.
    fn into_options(self) -> TensorOptions;
}

impl IntoOptions for TensorOptions {
    fn into_options(self) -> TensorOptions {
        self
    }
}

impl IntoOptions for () {
    fn into_options(self) -> TensorOptions {
        TensorOptions::default()
    }
}

impl IntoOptions for DType {
    fn into_options(self) -> TensorOptions {
        TensorOptions { dtype: Some(self), device: None }
    }
}

impl IntoOptions for Device {
    fn into_options(self) -> TensorOptions {
        TensorOptions { dtype: None, device: Some(self) }
    }
}

impl IntoOptions for (DType, Device) {
    fn into_options(self) -> TensorOptions {
        let (dtype, device) = self;
        TensorOptions { dtype: Some(dtype), device: Some(device) }
    }
}

impl IntoOptions for (Device, DType) {
    fn into_options(self) -> TensorOptions {
        let (device, dtype) = self;
        (dtype, device).into_options()
    }
}

/// The dtype and the device of this tensor.
impl IntoOptions for &Tensor {
    fn into_options(self) -> TensorOptions {
        (self.dtype(), self.device()).into_options()
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
