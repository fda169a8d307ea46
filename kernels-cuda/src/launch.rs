//! Where and with what a kernel is launched.
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

/// Where a kernel is launched: a device and a stream.
#[derive(Clone, Copy)]
pub struct Launch {
    pub(crate) gpu: &'static Gpu,
    pub(crate) queue: Queue,
}

/// A place in the memory of the device that a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
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
            None => Err(CudaError::Elsewhere { found: tensor.device(), expected: crate::device::gpu::cuda(0) }),
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

    /// The place of a tensor, or [`Place::NULL`] if there is none.
    pub(crate) fn place_or_null(&self, tensor: Option<&Tensor>) -> Result<Place, CudaError> {
        tensor.map_or(Ok(Place::NULL), |tensor| self.place(tensor))
    }

    /// That a tensor which was there before is written to, which counts as a write. Whatever other streams do to it comes first. Drop it
    /// when the kernel is launched.
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
    /// Returns [`CudaError::Compile`] if the kernel does not compile or has no such instance, [`CudaError::Launch`] if the device takes no
    /// such grid, [`CudaError::Parameters`] if the kernel declares other parameters, and the driver's error if it refuses the launch.
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
            // SAFETY: the places are of values of these sizes, and that the kernel takes values of such sizes was just seen. What it does
            // with them was promised for every launch when the kernel was made, by `Kernel::new`.
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

macro_rules! numbers {
    ($($ty:ty)*) => { $(impl Parameter for $ty {})* };
}
numbers! { Place bool i8 u8 i32 u32 i64 u64 f32 f64 crate::Site }

/// Structs that kernels declare alike.
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

/// What a launch makes a parameter of.
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

/// A tensor is given as its place.
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

/// The parameters of a launch: a tuple of one to sixteen. A tensor stands for its [place](Launch::place), and no tensor for
/// [`Place::NULL`].
#[expect(private_bounds, reason = "only tuples are it, as places that another type gave could be of nothing")]
pub trait Arguments: Places {}

/// What only this module implements.
trait Places {
    /// Runs `run` with the place of each, and its size.
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

/// Tuples of these types, and of each shorter list that ends as this one does.
macro_rules! tuples {
    () => {};
    ($first:ident $($others:ident)*) => {
        arguments! { $first $($others)* }
        tuples! { $($others)* }
    };
}
tuples! { A B C D E F G H I J K L M N O P }
