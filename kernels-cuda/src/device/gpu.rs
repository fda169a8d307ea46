//! The devices of this machine, found when they are first asked for.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock};

use dispatch_runtime::{Device, keys};

use crate::device::caching_allocator::CachingAllocator;
use crate::device::fault::Faults;
use crate::device::machine::{Address, Machine, Properties, Queue};
use crate::device::memory;
use crate::device::nvidia;
use crate::device::pinned_memory::Transfers;
use crate::error::{CudaError, Missing};
use crate::lock::locked;

/// More than any machine has.
const MOST: usize = 16;

/// A device that can compute.
pub(crate) struct Gpu {
    pub(crate) index: u8,
    pub(crate) machine: Box<dyn Machine>,
    /// That of the queue of those who asked for none.
    pub(crate) allocator: &'static CachingAllocator,
    pub(crate) faults: Faults,
    pub(crate) usage: memory::Usage,
    pub(crate) transfers: Transfers,
}

thread_local! {
    static CURRENT: Cell<u8> = const { Cell::new(0) };
}

/// Those that could be opened. What was in the way of another may be gone when it is asked for again.
static FOUND: [OnceLock<Gpu>; MOST] = [const { OnceLock::new() }; MOST];
static OPENING: Mutex<()> = Mutex::new(());

impl Gpu {
    /// The device of this number.
    pub(crate) fn get(index: u8) -> Result<&'static Self, CudaError> {
        let missing = || CudaError::from(Missing::Device { asked: index, count: count() });
        let slot = FOUND.get(usize::from(index)).ok_or_else(missing)?;
        slot.get().map_or_else(|| Self::find(slot, index), Ok)
    }

    #[cold]
    fn find(slot: &'static OnceLock<Self>, index: u8) -> Result<&'static Self, CudaError> {
        let _opening = locked(&OPENING);
        if let Some(gpu) = slot.get() {
            return Ok(gpu);
        }
        let gpu = Self::open(index)?;
        Ok(slot.get_or_init(|| gpu))
    }

    /// The device that `device` means: the current one where it has no number.
    pub(crate) fn of(device: Device) -> Result<&'static Self, CudaError> {
        Self::get(device.index().unwrap_or_else(|| CURRENT.get()))
    }

    pub(crate) fn device(&self) -> Device {
        cuda(self.index)
    }

    fn open(index: u8) -> Result<Self, CudaError> {
        #[cfg(feature = "emulator")]
        let machine: Box<dyn Machine> = if crate::device::emulator::is_on() {
            Box::new(crate::device::emulator::Emulator::open())
        } else {
            Box::new(nvidia::Nvidia::open(index)?)
        };
        #[cfg(not(feature = "emulator"))]
        let machine: Box<dyn Machine> = Box::new(nvidia::Nvidia::open(index)?);
        let queue = machine.open_queue()?;
        let faults = Faults::on(&*machine, queue)?;
        let (usage, transfers) = (memory::Usage::default(), Transfers::default());
        Ok(Self { index, machine, allocator: CachingAllocator::of(queue), faults, usage, transfers })
    }

    /// Those that somebody used already.
    pub(crate) fn opened() -> impl Iterator<Item = &'static Self> {
        FOUND.iter().filter_map(OnceLock::get)
    }

    /// Lets later work of a queue come after the work of others so far.
    pub(crate) fn order(&self, before: &[Queue], queue: Queue) -> Result<(), CudaError> {
        before.iter().try_for_each(|before| self.machine.order(*before, queue))
    }

    /// Copies from the CPU, and waits for it.
    pub(crate) fn copy_in(&self, from: &[u8], to: Address, queue: Queue) -> Result<(), CudaError> {
        if from.is_empty() {
            return Ok(());
        }
        self.machine.copy_in(NonNull::from(from).cast(), to, from.len(), queue)?;
        self.machine.wait(queue)
    }

    /// Copies to the CPU, waits for the queue, and tells what kernels came upon before.
    pub(crate) fn copy_out(&self, from: Address, to: &mut [u8], queue: Queue) -> Result<(), CudaError> {
        if !to.is_empty() {
            let bytes = to.len();
            self.machine.copy_out(from, NonNull::from(to).cast(), bytes, queue)?;
        }
        self.faults.take(&*self.machine, queue)
    }
}

/// `cuda:index`.
pub(crate) fn cuda(index: u8) -> Device {
    Device::new(keys::CUDA).and_then(|device| device.with_index(index)).unwrap_or(Device::CPU)
}

/// How many devices there are.
///
/// ```
/// assert_eq!(kernels_cuda::count() > 0, kernels_cuda::is_available());
/// ```
#[must_use]
pub fn count() -> usize {
    #[cfg(feature = "emulator")]
    if crate::device::emulator::is_on() {
        return crate::device::emulator::DEVICES;
    }
    nvidia::count().unwrap_or(0)
}

/// Whether there is a device to compute on.
#[must_use]
pub fn is_available() -> bool {
    count() > 0
}

/// What a device says about itself.
///
/// ```
/// match kernels_cuda::properties(0) {
///     Ok(device) => println!("{}", device.name),
///     Err(missing) => println!("{missing}"),
/// }
/// ```
///
/// # Errors
///
/// Where there is no such device, or no driver.
pub fn properties(index: u8) -> Result<&'static Properties, CudaError> {
    Ok(Gpu::get(index)?.machine.properties())
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({})", self.index)
    }
}
