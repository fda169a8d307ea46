//! The autocast dtype of each backend, packed into one word of the thread's state.

use crate::key::Device;
use crate::scalar::DType;

/// The dtype of each backend for which autocast is on. Each backend has four bits, which store the dtype's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AutocastDTypes(u64);

/// The four bits of a backend for which autocast is off. No floating dtype has this number.
const OFF_BITS: u64 = 0;

impl AutocastDTypes {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn get(self, device: Device) -> Option<DType> {
        match self.0 >> bit_offset(device) & 15 {
            OFF_BITS => None,
            number => DType::from_number(number.cast_signed()),
        }
    }

    /// Returns the set with the dtype of one backend replaced. A dtype that is not floating, or is a float8 dtype, turns autocast off.
    pub(super) fn with_dtype(self, device: Device, dtype: Option<DType>) -> Self {
        let number = dtype.filter(|dtype| is_autocast_dtype(*dtype)).map_or(OFF_BITS, |dtype| dtype as u64);
        Self(self.0 & !(15 << bit_offset(device)) | number << bit_offset(device))
    }
}

fn is_autocast_dtype(dtype: DType) -> bool {
    dtype.is_floating() && !dtype.is_float8()
}

fn bit_offset(device: Device) -> u32 {
    4 * u32::from(device.backend_index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_has_a_dtype_of_its_own() {
        let floating = || DType::ALL.into_iter().filter(|dtype| is_autocast_dtype(*dtype));
        for dtype in floating() {
            let autocast_dtypes =
                AutocastDTypes::NONE.with_dtype(Device::META, Some(dtype)).with_dtype(Device::CPU, Some(DType::F16));
            assert_eq!(
                (autocast_dtypes.get(Device::META), autocast_dtypes.get(Device::CPU)),
                (Some(dtype), Some(DType::F16))
            );
            assert_eq!(autocast_dtypes.get("cuda:1".parse().unwrap()), None);
            assert_eq!(
                autocast_dtypes.with_dtype(Device::META, None).with_dtype(Device::CPU, None),
                AutocastDTypes::NONE
            );
        }
        for dtype in DType::ALL.into_iter().filter(|dtype| !is_autocast_dtype(*dtype)) {
            assert_eq!(AutocastDTypes::NONE.with_dtype(Device::CPU, Some(dtype)), AutocastDTypes::NONE);
        }
    }
}
