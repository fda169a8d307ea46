//! The devices of this machine, opened at their first use.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock};

use dispatch_runtime::{Device, keys};

use crate::device::caching_allocator::CachingAllocator;
use crate::device::driver::{DeviceAddress, DeviceDriver, DeviceProperties, StreamHandle};
use crate::device::fault::FaultRecord;
use crate::device::memory;
use crate::device::nvidia;
use crate::device::pinned_memory::Transfers;
use crate::error::{CudaError, MissingRequirement};
use crate::lock::lock_ignoring_poison;

/// The maximum number of devices: more than any machine has.
const MAX_DEVICES: usize = 16;

/// An opened device, with its allocator, faults, memory usage and transfers.
pub(crate) struct Gpu {
    pub(crate) index: u8,
    pub(crate) driver: Box<dyn DeviceDriver>,
    /// The allocator of the default stream, for threads that entered no stream.
    pub(crate) allocator: &'static CachingAllocator,
    pub(crate) fault_record: FaultRecord,
    pub(crate) usage: memory::MemoryCounters,
    pub(crate) transfers: Transfers,
}

thread_local! {
    static CURRENT_DEVICE: Cell<u8> = const { Cell::new(0) };
}

/// The opened devices, by index. A device that failed to open is tried again at the next request.
static OPENED_DEVICES: [OnceLock<Gpu>; MAX_DEVICES] = [const { OnceLock::new() }; MAX_DEVICES];
static OPEN_LOCK: Mutex<()> = Mutex::new(());

impl Gpu {
    /// Returns the device with this index, and opens it at first use.
    pub(crate) fn get(index: u8) -> Result<&'static Self, CudaError> {
        let missing = || CudaError::from(MissingRequirement::Device { requested: index, count: device_count() });
        let slot = OPENED_DEVICES.get(usize::from(index)).ok_or_else(missing)?;
        slot.get().map_or_else(|| Self::open_once(slot, index), Ok)
    }

    #[cold]
    fn open_once(slot: &'static OnceLock<Self>, index: u8) -> Result<&'static Self, CudaError> {
        let _opening = lock_ignoring_poison(&OPEN_LOCK);
        if let Some(gpu) = slot.get() {
            return Ok(gpu);
        }
        let gpu = Self::open(index)?;
        Ok(slot.get_or_init(|| gpu))
    }

    /// Returns the device that `device` names: the current one if it has no index.
    pub(crate) fn for_device(device: Device) -> Result<&'static Self, CudaError> {
        Self::get(device.index().unwrap_or_else(|| CURRENT_DEVICE.get()))
    }

    pub(crate) fn device(&self) -> Device {
        cuda_device(self.index)
    }

    fn open(index: u8) -> Result<Self, CudaError> {
        #[cfg(feature = "emulator")]
        let driver: Box<dyn DeviceDriver> = if crate::device::emulator::is_enabled() {
            Box::new(crate::device::emulator::Emulator::open())
        } else {
            Box::new(nvidia::Nvidia::open(index)?)
        };
        #[cfg(not(feature = "emulator"))]
        let driver: Box<dyn DeviceDriver> = Box::new(nvidia::Nvidia::open(index)?);
        let stream = driver.create_stream()?;
        let fault_record = FaultRecord::allocate(&*driver, stream)?;
        let (usage, transfers) = (memory::MemoryCounters::default(), Transfers::default());
        Ok(Self { index, driver, allocator: CachingAllocator::for_stream(stream), fault_record, usage, transfers })
    }

    /// Returns the devices that were opened.
    pub(crate) fn opened_gpus() -> impl Iterator<Item = &'static Self> {
        OPENED_DEVICES.iter().filter_map(OnceLock::get)
    }

    /// Orders later work of `stream` after the earlier work of the streams in `before`.
    pub(crate) fn order_after(&self, before: &[StreamHandle], stream: StreamHandle) -> Result<(), CudaError> {
        before.iter().try_for_each(|before| self.driver.make_stream_wait(*before, stream))
    }

    /// Copies bytes from the CPU, and waits for the copy.
    pub(crate) fn copy_host_to_device(
        &self,
        from: &[u8],
        to: DeviceAddress,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        if from.is_empty() {
            return Ok(());
        }
        self.driver.copy_host_to_device(NonNull::from(from).cast(), to, from.len(), stream)?;
        self.driver.synchronize(stream)
    }

    /// Copies bytes to the CPU, and waits for the stream. Returns an error if a kernel reported a fault.
    pub(crate) fn copy_device_to_host(
        &self,
        from: DeviceAddress,
        to: &mut [u8],
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        if !to.is_empty() {
            let bytes = to.len();
            self.driver.copy_device_to_host(from, NonNull::from(to).cast(), bytes, stream)?;
        }
        self.fault_record.take_error(&*self.driver, stream)
    }
}

/// Returns the device `cuda:index`.
pub(crate) fn cuda_device(index: u8) -> Device {
    Device::new(keys::CUDA).and_then(|device| device.with_index(index)).unwrap_or(Device::CPU)
}

/// Returns the number of CUDA devices, or 0 if there is no driver.
///
/// ```
/// assert_eq!(kernels_cuda::device_count() > 0, kernels_cuda::is_available());
/// ```
#[must_use]
pub fn device_count() -> usize {
    #[cfg(feature = "emulator")]
    if crate::device::emulator::is_enabled() {
        return crate::device::emulator::DEVICE_COUNT;
    }
    nvidia::device_count().unwrap_or(0)
}

/// Whether there is a CUDA device.
#[must_use]
pub fn is_available() -> bool {
    device_count() > 0
}

/// Returns the properties of a device.
///
/// ```
/// match kernels_cuda::device_properties(0) {
///     Ok(device) => println!("{}", device.name),
///     Err(missing) => println!("{missing}"),
/// }
/// ```
///
/// # Errors
///
/// Returns [`CudaError::Unavailable`] if there is no such device or no driver.
pub fn device_properties(index: u8) -> Result<&'static DeviceProperties, CudaError> {
    Ok(Gpu::get(index)?.driver.properties())
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({})", self.index)
    }
}
