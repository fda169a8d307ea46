//! The devices of linked backends: their names, their memory, and allocation on them.

mod allocate;

use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::key::{BACKEND_COUNT, Device, UnknownDevice, device_name};
use crate::memory::{BACKENDS_BY_KEY, Backend, linked_devices};
use crate::registration::registry;

/// Parses a device name, such as `cpu` or `cuda:1`.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
///
/// #[dispatch_key(backend)]
/// static NPU: Key;
///
/// assert_eq!("npu:1".parse(), Ok(Device::new(NPU).unwrap().with_index(1).unwrap()));
/// ```
impl FromStr for Device {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        let (name, index) = text.split_once(':').map_or((text, None), |(name, index)| (name, Some(index)));
        let unknown =
            |suggestion| UnknownDevice { name: text.to_owned(), suggestion, linked_devices: Self::all_linked() };
        #[expect(clippy::cast_possible_truncation, reason = "BACKEND_COUNT is 16")]
        let found = (0..BACKEND_COUNT as u8).find(|&backend| device_name(backend) == name);
        let Some(backend) = found else {
            #[expect(clippy::cast_possible_truncation, reason = "BACKEND_COUNT is 16")]
            let names: Vec<String> = (0..BACKEND_COUNT as u8).map(device_name).collect();
            return Err(unknown(dispatch_schema::suggest(name, names.iter().map(String::as_str)).map(str::to_owned)));
        };
        let current = Self::of_backend(backend);
        let Some(index) = index else { return Ok(current) };
        // Only the canonical form of a number: no sign and no leading zeros.
        let numbered = index.parse().ok().filter(|number: &u8| number.to_string() == index);
        numbered.and_then(|number| current.with_index(number)).ok_or_else(|| unknown(None))
    }
}

impl Device {
    /// Returns the backend that manages this device's memory, or an error if no linked crate provides one. The CPU and Meta have no such
    /// backend: the runtime contains their memory.
    ///
    /// ```
    /// use dispatch_runtime::Device;
    /// let error = "hpu".parse::<Device>().unwrap().memory_backend().err().unwrap();
    /// assert!(error.to_string().starts_with("no linked backend can allocate memory on hpu"));
    /// ```
    pub fn memory_backend(self) -> Result<&'static dyn Backend> {
        let slot = &BACKENDS_BY_KEY[usize::from(self.backend_index())];
        let found = slot.get().or_else(|| {
            registry::load_records();
            slot.get()
        });
        found.map(|record| record.backend as &dyn Backend).ok_or_else(|| no_backend_error(self))
    }

    /// Returns the backend that manages this device's memory, if the backend has a device of this index.
    pub(crate) fn checked_memory_backend(self) -> Result<&'static dyn Backend> {
        let backend = self.memory_backend()?;
        match self.index() {
            Some(index) if usize::from(index) >= backend.device_count() => {
                Err(no_device_error(self, backend.device_count()))
            }
            _ => Ok(backend),
        }
    }

    /// Returns the devices on which this program can create tensors: those of linked backends.
    ///
    /// ```
    /// use dispatch_runtime::Device;
    /// assert!(Device::all_linked().contains(&Device::CPU));
    /// ```
    #[must_use]
    pub fn all_linked() -> Vec<Self> {
        registry::load_records();
        linked_devices()
    }

    /// Waits until this device has completed all work that it was given.
    ///
    /// ```
    /// dispatch_runtime::Device::CPU.synchronize().unwrap();
    /// ```
    pub fn synchronize(self) -> Result<()> {
        if self.is_built_in() { Ok(()) } else { self.memory_backend()?.synchronize(self) }
    }

    pub(crate) fn is_built_in(self) -> bool {
        [Self::CPU.backend_index(), Self::META.backend_index()].contains(&self.backend_index())
    }
}

#[cold]
fn no_device_error(device: Device, count: usize) -> Error {
    ErrorKind::NoDevice { device, count, linked_devices: Device::all_linked() }.into()
}

#[cold]
fn no_backend_error(device: Device) -> Error {
    ErrorKind::NoBackend { device, linked_devices: Device::all_linked() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_printed_form_of_a_device_parses() {
        for text in ["cpu", "cuda:0", "meta:254"] {
            assert_eq!(text.parse::<Device>().unwrap().to_string(), text);
        }
        for text in ["cuda:+1", "cuda:01", "cuda:-1", "cuda: 1", "cuda:", "cuda:255", "cuda:256", "cuda:1:1"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }
}
