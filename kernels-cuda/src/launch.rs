//! Kernel launches: the device and stream, the grid and the arguments.
#![expect(unsafe_code, reason = "native code is called, as whoever declared the kernel promised it can be")]

use std::ffi::c_void;

use dispatch_runtime::{DType, Result, Storage, Tensor};

use crate::device::gpu::Gpu;
use crate::device::machine::{Address, Grid, Queue};
use crate::device::memory::CudaBuffer;
use crate::device::recent_launches;
use crate::device::stream;
use crate::device::stream_uses::Access;
use crate::error::CudaError;
use crate::kernel::Kernel;

/// The device and the stream that a kernel is launched on.
#[derive(Clone, Copy)]
pub struct Launch {
    pub(crate) gpu: &'static Gpu,
    pub(crate) queue: Queue,
}

/// An address in the memory of the device that a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(transparent)]
pub struct Place(Address);

impl Place {
    /// The null address.
    pub const NULL: Self = Self(0);

    /// Returns the address `bytes` bytes further.
    #[must_use]
    pub const fn offset(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Returns the address as an integer.
    pub(crate) const fn address(self) -> Address {
        self.0
    }

    /// Whether the address is a multiple of `bytes`.
    #[must_use]
    pub const fn is_aligned_to(self, bytes: u64) -> bool {
        self.0.is_multiple_of(bytes)
    }
}

impl Launch {
    /// Selects the tensor's device and this thread's current stream of it.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Elsewhere`] if the tensor is not on a CUDA device.
    #[inline]
    pub fn on(tensor: &Tensor) -> Result<Self, CudaError> {
        match tensor.storage().buffer::<CudaBuffer>() {
            Some(buffer) => Ok(Self { gpu: buffer.gpu, queue: stream::current(buffer.gpu) }),
            None => Err(CudaError::Elsewhere { found: tensor.device(), expected: crate::device::gpu::cuda(0) }),
        }
    }

    /// Returns the address of a tensor's first element. The tensor may be read, or written if it was allocated for this launch. The launch
    /// runs after writes to it in other streams.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Elsewhere`] if the tensor is not on this device.
    #[inline]
    pub fn place(&self, tensor: &Tensor) -> Result<Place, CudaError> {
        let offset = if tensor.geometry().count() == 0 { 0 } else { tensor.geometry().offset().unsigned_abs() };
        let start = self.buffer(tensor)?.enter(tensor.storage(), self.queue, Access::Read)?;
        Ok(Place(start).offset(offset * tensor.dtype().size() as u64))
    }

    /// Returns the address of a tensor's first element, or [`Place::NULL`] for `None`.
    pub(crate) fn place_or_null(&self, tensor: Option<&Tensor>) -> Result<Place, CudaError> {
        tensor.map_or(Ok(Place::NULL), |tensor| self.place(tensor))
    }

    /// Declares that the kernel writes to a tensor which existed before the launch, and increases the tensor's version. The launch runs
    /// after work in other streams that uses the tensor. Drop the returned guard after the launch.
    ///
    /// ```no_run
    /// use dispatch_runtime::{DType, Result, Storage, Tensor};
    /// use kernels_cuda::{Grid, Kernel, Launch, kernel};
    ///
    /// kernel! {
    ///     // SAFETY: `negate_` below is the only launch, of a tensor that is contiguous and of float32.
    ///     static NEGATE = unsafe { Kernel::new("negate", "#include \"opdispatch.cuh\"
    ///         __global__ void negate(float *at, i64 count) {
    ///             i64 k = blockIdx.x * i64(blockDim.x) + threadIdx.x;
    ///             if (k < count) at[k] = -at[k];
    ///         }", |instances| instances.one("negate", &[])) };
    /// }
    ///
    /// fn negate_(this: &mut Tensor) -> Result<()> {
    ///     if this.dtype() != DType::F32 || !this.geometry().is_contiguous() {
    ///         return Err("`negate_` takes a contiguous tensor of float32".into());
    ///     }
    ///     let (launch, count) = (Launch::on(this)?, this.geometry().count());
    ///     let _writing = launch.writing(this)?;
    ///     Ok(launch.run(&NEGATE, "negate", &[], Grid::cover(count), (launch.place(this)?, count))?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Elsewhere`] if the tensor is not on this device.
    pub fn writing(&self, tensor: &Tensor) -> Result<Writing, CudaError> {
        let storage = tensor.storage();
        self.buffer(tensor)?.enter(storage, self.queue, Access::Write)?;
        // A recording compares versions, so it must have read the version before this increase.
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

    /// Returns the address of the device's `Fault`, where kernels report invalid values.
    #[must_use]
    pub fn faults(&self) -> Place {
        Place(self.gpu.faults.address())
    }

    /// Returns the device that kernels are launched on.
    #[must_use]
    pub fn device(&self) -> dispatch_runtime::Device {
        self.gpu.device()
    }

    /// Returns the number of the device's multiprocessors. It runs at least that many blocks at once.
    #[must_use]
    pub fn multiprocessors(&self) -> u32 {
        self.gpu.machine.properties().multiprocessors
    }

    /// Returns the maximum shared memory of a block, in bytes.
    pub(crate) fn shared(&self) -> u32 {
        self.gpu.machine.properties().shared
    }

    /// Copies from the device to the CPU. Returns an error if an earlier kernel reported an invalid value.
    pub(crate) fn copy_out(&self, from: Place, to: &mut [u8]) -> Result<(), CudaError> {
        self.gpu.copy_out(from.0, to, self.queue)
    }

    /// Launches an instance of a kernel's template. Does nothing if the grid has no blocks.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Compile`] if the kernel does not compile or has no such instance, [`CudaError::Launch`] if the grid exceeds the
    /// device's limits, [`CudaError::Parameters`] if the kernel declares other parameters, and the driver's error if it refuses the launch.
    #[inline]
    pub fn run<A: Arguments>(
        &self,
        kernel: &'static Kernel,
        template: &'static str,
        dtypes: &[DType],
        grid: Grid,
        arguments: A,
    ) -> Result<(), CudaError> {
        arguments.with_places(self, |places, sizes| {
            if grid.blocks.contains(&0) {
                return Ok(());
            }
            let kernel_name = kernel.source().name();
            if let Some((what, asked, most)) = grid.excess(self.shared()) {
                return Err(CudaError::Launch { kernel: kernel_name, template, what, asked, most });
            }
            let entry = kernel.entry(self.gpu, template, dtypes)?;
            if grid.shared > 48 << 10 {
                self.gpu.machine.allow_shared(entry.function, grid.shared)?;
            }
            if *sizes != *entry.parameters {
                return Err(CudaError::Parameters {
                    kernel: kernel_name,
                    template,
                    takes: entry.parameters.to_vec(),
                    given: sizes.to_vec(),
                });
            }
            recent_launches::record(kernel);
            // SAFETY: the pointers are to values of these sizes, and the check above found that the kernel's parameters have the same
            // sizes. What the kernel does with them was promised for every launch by the caller of `Kernel::new`.
            unsafe { self.gpu.machine.launch(entry, grid, places, self.queue) }
        })
    }

    /// Launches an instance of a kernel's template with a thread for each of `count` elements.
    pub(crate) fn cover<A: Arguments>(
        &self,
        kernel: &'static Kernel,
        template: &'static str,
        dtypes: &[DType],
        count: i64,
        arguments: A,
    ) -> Result<()> {
        Ok(self.run(kernel, template, dtypes, Grid::cover(count), arguments)?)
    }
}

/// A guard of a write to a tensor. Drop it after the kernel was launched.
#[must_use = "others wait for what was launched when this is dropped"]
#[derive(Debug)]
pub struct Writing {
    storage: Storage,
    queue: Queue,
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(buffer) = self.storage.buffer::<CudaBuffer>() {
            // Another thread may have used the tensor between `writing` and the launch, without waiting for the launch.
            _ = buffer.enter(&self.storage, self.queue, Access::Write);
        }
    }
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Launch({}, {:#x})", self.gpu.device(), self.queue)
    }
}

/// A type that a launch copies bytewise into a kernel's parameter.
///
/// Implement it for a `#[repr(C)]` struct if the kernel declares a struct with the same fields.
pub trait Parameter: Copy {}

macro_rules! numbers {
    ($($ty:ty)*) => { $(impl Parameter for $ty {})* };
}
numbers! { Place bool i8 u8 i32 u32 i64 u64 f32 f64 crate::Site }

/// Declares `#[repr(C)]` structs that are kernel parameters; the kernels declare structs with the same fields.
macro_rules! parameters {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name { $($fields)* }

        impl $crate::launch::Parameter for $name {}
    )*};
}
pub(crate) use parameters;

/// An argument of a launch, which is converted to a kernel's parameter.
trait Argument {
    type Value: Parameter;

    fn value(self, launch: &Launch) -> Result<Self::Value, CudaError>;
}

impl<P: Parameter> Argument for P {
    type Value = P;

    #[inline]
    fn value(self, _: &Launch) -> Result<P, CudaError> {
        Ok(self)
    }
}

/// A tensor argument becomes the address of its first element.
impl Argument for &Tensor {
    type Value = Place;

    #[inline]
    fn value(self, launch: &Launch) -> Result<Place, CudaError> {
        launch.place(self)
    }
}

impl Argument for &mut Tensor {
    type Value = Place;

    #[inline]
    fn value(self, launch: &Launch) -> Result<Place, CudaError> {
        launch.place(self)
    }
}

impl Argument for Option<&Tensor> {
    type Value = Place;

    #[inline]
    fn value(self, launch: &Launch) -> Result<Place, CudaError> {
        launch.place_or_null(self)
    }
}

/// The arguments of a launch: a tuple of one to sixteen. A tensor becomes [the address of its first element](Launch::place), and `None`
/// becomes [`Place::NULL`].
#[expect(private_bounds, reason = "only tuples are it, as places that another type gave could be of nothing")]
pub trait Arguments: Places {}

/// The conversion of arguments to pointers. Private, so that only this module implements it.
trait Places {
    /// Calls `run` with a pointer to each argument's value and with the values' sizes.
    fn with_places(
        self,
        launch: &Launch,
        run: impl FnOnce(&mut [*mut c_void], &[usize]) -> Result<(), CudaError>,
    ) -> Result<(), CudaError>;
}

macro_rules! arguments {
    ($($name:ident)+) => {
        impl<$($name: Argument),+> Arguments for ($($name,)+) {}

        impl<$($name: Argument),+> Places for ($($name,)+) {
            #[inline]
            #[allow(non_snake_case, reason = "a name for each type")]
            fn with_places(
                self,
                launch: &Launch,
                run: impl FnOnce(&mut [*mut c_void], &[usize]) -> Result<(), CudaError>,
            ) -> Result<(), CudaError> {
                const {
                    assert!(true $(&& align_of::<$name::Value>() <= 16)+, "a parameter is aligned to at most 16 bytes");
                }
                let sizes = const { &[$(size_of::<$name::Value>()),+] };
                let ($($name,)+) = self;
                $(let mut $name = $name.value(launch)?;)+
                run(&mut [$((&raw mut $name).cast::<c_void>()),+], sizes)
            }
        }
    };
}

/// Implements `Arguments` for tuples of these types, and for tuples of each shorter suffix of the list.
macro_rules! tuples {
    () => {};
    ($first:ident $($others:ident)*) => {
        arguments! { $first $($others)* }
        tuples! { $($others)* }
    };
}
tuples! { A B C D E F G H I J K L M N O P }
