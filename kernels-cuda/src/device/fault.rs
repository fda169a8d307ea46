//! Faults: errors that depend on elements. A kernel writes the first one to its device's memory, and the next wait for the device returns
//! it.

use std::ptr::NonNull;
use std::sync::Mutex;

use crate::device::driver::{DeviceAddress, DeviceDriver, StreamHandle};
use crate::error::CudaError;
use crate::lock::lock_ignoring_poison;

/// The size of the kernels' `struct Fault`.
const FAULT_RECORD_BYTES: usize = 32;

/// The fault record of a device, which kernels write.
pub(crate) struct FaultRecord {
    address: DeviceAddress,
}

/// The number by which kernels report an operator's argument. Zero means no argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct FaultSite(u32);

static FAULT_SITES: Mutex<Vec<(&'static str, &'static str)>> = Mutex::new(Vec::new());

impl FaultSite {
    /// Returns the number of an operator's argument. It is the same in each call with the same names.
    ///
    /// ```
    /// let index = kernels_cuda::FaultSite::for_argument("myops::pick", "index");
    /// assert_eq!(index, kernels_cuda::FaultSite::for_argument("myops::pick", "index"));
    /// ```
    #[must_use]
    pub fn for_argument(operator: &'static str, argument: &'static str) -> Self {
        let mut sites = lock_ignoring_poison(&FAULT_SITES);
        let at = sites.iter().position(|site| *site == (operator, argument)).unwrap_or_else(|| {
            sites.push((operator, argument));
            sites.len() - 1
        });
        Self(u32::try_from(at + 1).unwrap_or(u32::MAX))
    }

    fn describe(number: u32) -> String {
        let sites = lock_ignoring_poison(&FAULT_SITES);
        let site = usize::try_from(number).ok().and_then(|number| sites.get(number.checked_sub(1)?));
        site.map_or_else(|| "a kernel".to_owned(), |(operator, argument)| format!("{operator}, argument `{argument}`"))
    }
}

impl FaultRecord {
    pub(crate) fn allocate(driver: &dyn DeviceDriver, stream: StreamHandle) -> Result<Self, CudaError> {
        let address = driver.allocate(FAULT_RECORD_BYTES, stream)?;
        driver.fill_bytes(address, 0, FAULT_RECORD_BYTES, stream)?;
        driver.synchronize(stream)?;
        Ok(Self { address })
    }

    pub(crate) fn address(&self) -> DeviceAddress {
        self.address
    }

    /// Waits for the stream, and returns the recorded fault as an error. Clears the record.
    pub(crate) fn take_error(&self, driver: &dyn DeviceDriver, stream: StreamHandle) -> Result<(), CudaError> {
        let mut bytes = [0_u8; FAULT_RECORD_BYTES];
        let copied =
            driver.copy_device_to_host(self.address, NonNull::from(&mut bytes).cast(), FAULT_RECORD_BYTES, stream);
        // Waits even if this copy failed, as an earlier copy may still be running.
        driver.synchronize(stream).and(copied)?;
        let (words, _) = bytes.as_chunks::<4>();
        let [site, kind, low, high, limit_low, limit_high, ..] = words else { return Ok(()) };
        let [site, kind] = [site, kind].map(|word| u32::from_ne_bytes(*word));
        if site == 0 {
            return Ok(());
        }
        driver.fill_bytes(self.address, 0, FAULT_RECORD_BYTES, stream)?;
        let to_i64 = |low: &[u8; 4], high: &[u8; 4]| {
            i64::from(u32::from_ne_bytes(*low)) | i64::from(u32::from_ne_bytes(*high)) << 32
        };
        let (value, limit) = (to_i64(low, high), to_i64(limit_low, limit_high));
        let problem = match kind {
            1 => format!("index {value} is out of range for a dimension of size {limit}"),
            2 => "an integer is divided by zero".to_owned(),
            4 => {
                let [value, limit] = [value, limit].map(|bits| f64::from_bits(bits.cast_unsigned()));
                format!("{value} is not a valid value (the limit is {limit})")
            }
            5 => "the sum of a row is not a positive finite number".to_owned(),
            _ => format!("{value} is not a valid value (the limit is {limit})"),
        };
        Err(CudaError::InvalidValue { site: FaultSite::describe(site), problem })
    }
}
