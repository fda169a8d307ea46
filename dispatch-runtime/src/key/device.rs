//! Where a tensor lives.

use std::fmt;

use super::key_set::KeySet;
use super::layer::DENSE;
use super::places::backend_name;
use super::slot::Slot;
use super::{Key, layer_bit};

/// A backend and, where it has several devices, which one.
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

/// The index of a device that was named by its backend alone.
const CURRENT: u8 = u8::MAX;

impl Device {
    /// The CPU.
    pub const CPU: Self = Self { backend: 0, index: CURRENT };

    /// The device without memory, on which operators compute only shapes.
    pub const META: Self = Self { backend: 15, index: CURRENT };

    /// The current device of a backend, given the backend's key. None where `backend` is not one.
    #[must_use]
    pub fn new(backend: Key) -> Option<Self> {
        backend.backend().map(|backend| Self { backend, index: CURRENT })
    }

    /// The current device of the backend with this number, which is less than [`BACKENDS`](super::layer::BACKENDS).
    #[inline]
    pub(crate) const fn of_backend(backend: u8) -> Self {
        Self { backend, index: CURRENT }
    }

    /// The same backend's device number `index`. None for 255, which no device has.
    ///
    /// ```
    /// use dispatch_runtime::Device;
    /// assert_eq!(Device::CPU.with_index(1).unwrap().to_string(), "cpu:1");
    /// assert_eq!(Device::CPU.with_index(255), None);
    /// ```
    #[must_use]
    pub const fn with_index(self, index: u8) -> Option<Self> {
        if index == CURRENT { None } else { Some(Self { index, ..self }) }
    }

    /// The number of the device, if one was named.
    #[must_use]
    pub const fn index(self) -> Option<u8> {
        if self.index == CURRENT { None } else { Some(self.index) }
    }

    /// The key of the backend.
    #[must_use]
    pub fn key(self) -> Key {
        Key::of_slot(Slot::on_backend(DENSE, self.backend))
    }

    /// The keys that naming this device adds to a call which has no tensors.
    #[inline]
    pub(crate) const fn keys(self) -> KeySet {
        KeySet::from_bits(layer_bit(DENSE) | 1 << self.backend)
    }

    #[inline]
    pub(crate) const fn backend(self) -> u8 {
        self.backend
    }
}

/// A text does not name a device.
///
/// ```
/// let error = "cdua:0".parse::<dispatch_runtime::Device>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown device `cdua:0`; did you mean `cuda`? In this program linked are cpu, meta");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownDevice {
    /// The text.
    pub name: String,
    /// The backend that was probably meant.
    pub suggestion: Option<String>,
    /// The devices there are.
    pub linked: Vec<Device>,
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown device `{}`", self.name)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?")?,
            None => f.write_str("; write a backend, or a backend and a number, such as `cpu` or `cuda:0`.")?,
        }
        write!(f, " In this program {}", listed(&self.linked))
    }
}

impl std::error::Error for UnknownDevice {}

pub(crate) fn lower_name(backend: u8) -> String {
    backend_name(backend).to_ascii_lowercase()
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lower_name(self.backend))?;
        self.index().map_or(Ok(()), |index| write!(f, ":{index}"))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeySet {
    /// The backend that a call with this set belongs to: of several, the highest, and none where the set is of layers alone.
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

/// The devices that a program can put tensors on.
pub(crate) fn listed(linked: &[Device]) -> String {
    format!("linked are {}", linked.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}
