//! Devices: a backend and the index of one of its devices.

use std::fmt;

use super::index_assignment::backend_name;
use super::key_set::KeySet;
use super::layer::DENSE;
use super::slot::Slot;
use super::{Key, layer_bit};

/// The device of a tensor: a backend, and the index of one of its devices if one was named.
///
/// ```
/// use dispatch_runtime::Device;
///
/// assert_eq!("cuda:1".parse::<Device>().unwrap().to_string(), "cuda:1");
/// assert_eq!(Device::CPU.to_string(), "cpu");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device {
    backend: u8,
    index: u8,
}

/// The `index` of a device that was named by its backend alone.
const CURRENT_DEVICE_INDEX: u8 = u8::MAX;

impl Device {
    /// The CPU.
    pub const CPU: Self = Self { backend: 0, index: CURRENT_DEVICE_INDEX };

    /// The device without memory. Operators compute only dtypes and shapes on it.
    pub const META: Self = Self { backend: 15, index: CURRENT_DEVICE_INDEX };

    /// Returns the GPU with this index. Index 255 means the current GPU.
    ///
    /// ```
    /// use dispatch_runtime::Device;
    /// assert_eq!(Device::cuda(1), "cuda:1".parse().unwrap());
    /// ```
    #[must_use]
    pub const fn cuda(index: u8) -> Self {
        Self { backend: 1, index }
    }

    /// Returns the current device of a backend, or `None` if `backend` is not a backend's key.
    #[must_use]
    pub fn new(backend: Key) -> Option<Self> {
        backend.backend_index().map(|backend| Self { backend, index: CURRENT_DEVICE_INDEX })
    }

    /// Returns the current device of the backend with this index, which is less than [`BACKEND_COUNT`](super::layer::BACKEND_COUNT).
    #[inline]
    pub(crate) const fn of_backend(backend: u8) -> Self {
        Self { backend, index: CURRENT_DEVICE_INDEX }
    }

    /// Returns the device of the same backend with this index, or `None` for 255, which is reserved.
    ///
    /// ```
    /// use dispatch_runtime::Device;
    /// assert_eq!(Device::CPU.with_index(1).unwrap().to_string(), "cpu:1");
    /// assert_eq!(Device::CPU.with_index(255), None);
    /// ```
    #[must_use]
    pub const fn with_index(self, index: u8) -> Option<Self> {
        if index == CURRENT_DEVICE_INDEX { None } else { Some(Self { index, ..self }) }
    }

    /// The index of the device, if one was named.
    #[must_use]
    pub const fn index(self) -> Option<u8> {
        if self.index == CURRENT_DEVICE_INDEX { None } else { Some(self.index) }
    }

    /// Returns the key of the backend.
    #[must_use]
    pub fn key(self) -> Key {
        Key::from_slot(Slot::for_layer_on_backend(DENSE, self.backend))
    }

    /// Returns the keys that a `device` argument with this device adds to a call without tensors.
    #[inline]
    pub(crate) const fn keys(self) -> KeySet {
        KeySet::from_bits(layer_bit(DENSE) | 1 << self.backend)
    }

    #[inline]
    pub(crate) const fn backend_index(self) -> u8 {
        self.backend
    }
}

/// The error of parsing a text that does not name a device.
///
/// ```
/// let error = "cdua:0".parse::<dispatch_runtime::Device>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown device `cdua:0`; did you mean `cuda`? Linked devices: cpu, meta");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownDevice {
    /// The text that was parsed.
    pub name: String,
    /// The most similar device name, if one is similar.
    pub suggestion: Option<String>,
    /// The devices of the linked backends.
    pub linked_devices: Vec<Device>,
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown device `{}`", self.name)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?")?,
            None => f.write_str("; write a backend, or a backend and a number, such as `cpu` or `cuda:0`.")?,
        }
        write!(f, " Linked devices: {}", devices_text(&self.linked_devices))
    }
}

impl std::error::Error for UnknownDevice {}

pub(crate) fn device_name(backend: u8) -> String {
    backend_name(backend).to_ascii_lowercase()
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&device_name(self.backend))?;
        self.index().map_or(Ok(()), |index| write!(f, ":{index}"))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeySet {
    /// Returns the current device of the highest backend in the set, or `None` if the set has only layers.
    ///
    /// ```
    /// use dispatch_runtime::Device;
    /// use dispatch_runtime::keys::*;
    /// assert_eq!((CPU | AutogradMeta).device(), Some(Device::META));
    /// ```
    #[must_use]
    pub fn device(self) -> Option<Device> {
        self.backends().bits().checked_ilog2().and_then(|backend| u8::try_from(backend).ok()).map(Device::of_backend)
    }
}

/// Returns the end of an error message that lists the devices of the linked backends.
pub(crate) fn linked_devices_text(linked_devices: &[Device]) -> String {
    format!("linked devices: {}", devices_text(linked_devices))
}

fn devices_text(devices: &[Device]) -> String {
    devices.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
