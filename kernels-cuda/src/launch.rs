//! Where and with what a kernel is launched.

use std::ffi::c_void;

use dispatch_runtime::{DType, Result, Storage, Tensor};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::kernel::Kernel;
use crate::machine::{Address, Grid, Queue};
use crate::memory::CudaBuffer;
use crate::stream;
use crate::users::Access;

/// Where a kernel is launched: a device and a stream.
#[derive(Clone, Copy)]
pub struct Launch {
    pub(crate) gpu: &'static Gpu,
    pub(crate) queue: Queue,
}

/// A place in the memory of the device that a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Place(Address);

impl Place {
    /// Nowhere.
    pub const NULL: Self = Self(0);

    /// So many bytes further.
    #[must_use]
    pub const fn offset(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// As a number.
    pub(crate) const fn address(self) -> Address {
        self.0
    }

    /// Whether it is a multiple of so many bytes.
    #[must_use]
    pub const fn is_aligned_to(self, bytes: u64) -> bool {
        self.0.is_multiple_of(bytes)
    }
}

impl Launch {
    /// In this thread's current stream of the device that a tensor is on.
    ///
    /// # Errors
    ///
    /// Where it is on none.
    #[inline]
    pub fn on(tensor: &Tensor) -> Result<Self, CudaError> {
        match tensor.storage().buffer::<CudaBuffer>() {
            Some(buffer) => Ok(Self { gpu: buffer.gpu, queue: stream::current(buffer.gpu) }),
            None => Err(CudaError::Elsewhere { found: tensor.device(), expected: crate::gpu::cuda(0) }),
        }
    }

    /// Where the first element of a tensor is, which is read, or was made for this launch. What other streams wrote to it comes first.
    ///
    /// # Errors
    ///
    /// Where it is not on this device.
    #[inline]
    pub fn place(&self, tensor: &Tensor) -> Result<Place, CudaError> {
        let offset = if tensor.geometry().count() == 0 { 0 } else { tensor.geometry().offset().unsigned_abs() };
        let start = self.buffer(tensor)?.enter(tensor.storage(), self.queue, Access::Read)?;
        Ok(Place(start).offset(offset * tensor.dtype().size() as u64))
    }

    /// That a tensor which was there before is written to, which counts as a write. Whatever other streams do to it comes first. Drop it
    /// when the kernel is launched.
    ///
    /// ```no_run
    /// use dispatch_runtime::{DType, Result, Storage, Tensor};
    /// use kernels_cuda::{Grid, Instances, Kernel, Launch};
    ///
    /// static NEGATE: Kernel = Kernel::new(
    ///     "negate",
    ///     "#include \"opdispatch.cuh\"
    ///     __global__ void negate(float *at, i64 count) {
    ///         i64 k = blockIdx.x * i64(blockDim.x) + threadIdx.x;
    ///         if (k < count) at[k] = -at[k];
    ///     }",
    ///     |instances: &mut Instances| instances.one("negate", &[]),
    /// );
    ///
    /// fn negate_(this: &mut Tensor) -> Result<()> {
    ///     let (launch, count) = (Launch::on(this)?, this.geometry().count());
    ///     let _writing = launch.writing(this)?;
    ///     Ok(launch.run(&NEGATE, "negate", &[], Grid::cover(count), (launch.place(this)?, count))?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Where it is not on this device.
    pub fn writing(&self, tensor: &Tensor) -> Result<Writing, CudaError> {
        let storage = tensor.storage();
        self.buffer(tensor)?.enter(storage, self.queue, Access::Write)?;
        // A recording has seen the version before.
        storage.bump_version();
        Ok(Writing { storage: storage.clone(), queue: self.queue })
    }

    #[inline]
    fn buffer<'a>(&self, tensor: &'a Tensor) -> Result<&'a CudaBuffer, CudaError> {
        match tensor.storage().buffer::<CudaBuffer>() {
            Some(buffer) if buffer.gpu.index == self.gpu.index => Ok(buffer),
            _ => Err(CudaError::Elsewhere { found: tensor.device(), expected: self.gpu.device() }),
        }
    }

    /// Where kernels note what they cannot compute with: their `Fault *`.
    #[must_use]
    pub fn faults(&self) -> Place {
        Place(self.gpu.faults.address())
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> dispatch_runtime::Device {
        self.gpu.device()
    }

    /// How many blocks the device runs at once, at least.
    #[must_use]
    pub fn multiprocessors(&self) -> u32 {
        self.gpu.machine.properties().multiprocessors
    }

    /// How many bytes a block can share.
    pub(crate) fn shared(&self) -> u32 {
        self.gpu.machine.properties().shared
    }

    /// To the CPU, with whatever kernels came upon before.
    pub(crate) fn copy_out(&self, from: Place, to: &mut [u8]) -> Result<(), CudaError> {
        self.gpu.copy_out(from.0, to, self.queue)
    }

    /// Launches an instance of a kernel's template. Without blocks there is nothing to do.
    ///
    /// # Errors
    ///
    /// Where the kernel does not compile, the device takes no such grid, or the driver refuses the launch.
    #[inline]
    pub fn run<A: Arguments>(
        &self,
        kernel: &'static Kernel,
        template: &'static str,
        dtypes: &[DType],
        grid: Grid,
        arguments: A,
    ) -> Result<(), CudaError> {
        if grid.blocks.contains(&0) {
            return Ok(());
        }
        if let Some((what, asked, most)) = grid.excess(self.shared()) {
            return Err(CudaError::Launch { kernel: kernel.name(), template, what, asked, most });
        }
        let function = kernel.function(self.gpu, template, dtypes)?;
        if grid.shared > 48 << 10 {
            self.gpu.machine.allow_shared(function, grid.shared)?;
        }
        arguments.with_places(|places, sizes| self.gpu.machine.launch(function, grid, places, sizes, self.queue))
    }
}

/// A write, while it is being launched.
#[must_use = "others wait for what was launched when this is dropped"]
#[derive(Debug)]
pub struct Writing {
    storage: Storage,
    queue: Queue,
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(buffer) = self.storage.buffer::<CudaBuffer>() {
            // Who entered meanwhile did not see the launch.
            _ = buffer.enter(&self.storage, self.queue, Access::Write);
        }
    }
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Launch({}, {:#x})", self.gpu.device(), self.queue)
    }
}

/// A value that a kernel takes as it is in memory.
///
/// Implement it for a `#[repr(C)]` struct that the kernel declares alike.
pub trait Parameter: Copy {}

macro_rules! parameters {
    ($($ty:ty)*) => { $(impl Parameter for $ty {})* };
}
parameters! { Place bool i8 u8 i32 u32 i64 u64 f32 f64 crate::Site }

/// The parameters of a launch: a tuple of them.
pub trait Arguments {
    /// Runs `launch` with the place of each, and its size.
    #[doc(hidden)]
    fn with_places<R>(self, launch: impl FnOnce(&mut [*mut c_void], &[usize]) -> R) -> R;
}

macro_rules! arguments {
    ($($name:ident)+) => {
        impl<$($name: Parameter),+> Arguments for ($($name,)+) {
            #[inline]
            #[allow(non_snake_case, reason = "a name for each type")]
            fn with_places<R>(self, launch: impl FnOnce(&mut [*mut c_void], &[usize]) -> R) -> R {
                const { assert!(true $(&& align_of::<$name>() <= 16)+, "a parameter is aligned to at most 16 bytes") };
                let sizes = const { &[$(size_of::<$name>()),+] };
                let ($(mut $name,)+) = self;
                launch(&mut [$((&raw mut $name).cast::<c_void>()),+], sizes)
            }
        }
    };
}

arguments! { A }
arguments! { A B }
arguments! { A B C }
arguments! { A B C D }
arguments! { A B C D E }
arguments! { A B C D E F }
arguments! { A B C D E F G }
arguments! { A B C D E F G H }
arguments! { A B C D E F G H I }
arguments! { A B C D E F G H I J }
arguments! { A B C D E F G H I J K }
arguments! { A B C D E F G H I J K L }
arguments! { A B C D E F G H I J K L M }
arguments! { A B C D E F G H I J K L M N }
arguments! { A B C D E F G H I J K L M N O }
arguments! { A B C D E F G H I J K L M N O P }
