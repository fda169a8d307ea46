//! Kernel launches: the device and stream, the grid and the arguments.
#![expect(
    unsafe_code,
    reason = "a launch calls native code, and the declaration of its kernel promised that this is safe"
)]

use std::ffi::c_void;

use dispatch_runtime::{DType, Result, Storage, Tensor};

use crate::device::driver::{DeviceAddress, Grid, StreamHandle};
use crate::device::gpu::Gpu;
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
    pub(crate) stream: StreamHandle,
}

/// An address in the memory of the device that a kernel runs on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(transparent)]
pub struct DevicePointer(DeviceAddress);

impl DevicePointer {
    /// The null address.
    pub const NULL: Self = Self(0);

    /// Returns the address `bytes` bytes further.
    #[must_use]
    pub const fn offset(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Returns the address as an integer.
    pub(crate) const fn address(self) -> DeviceAddress {
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
    /// Returns [`CudaError::WrongDevice`] if the tensor is not on a CUDA device.
    #[inline]
    pub fn on_device_of(tensor: &Tensor) -> Result<Self, CudaError> {
        match tensor.storage().buffer::<CudaBuffer>() {
            Some(buffer) => Ok(Self { gpu: buffer.gpu, stream: stream::current_stream(buffer.gpu) }),
            None => {
                Err(CudaError::WrongDevice { found: tensor.device(), expected: crate::device::gpu::cuda_device(0) })
            }
        }
    }

    /// Returns the address of a tensor's first element. The tensor may be read, or written if it was allocated for this launch. The launch
    /// runs after writes to it in other streams.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::WrongDevice`] if the tensor is not on this device.
    #[inline]
    pub fn pointer(&self, tensor: &Tensor) -> Result<DevicePointer, CudaError> {
        let offset = if tensor.geometry().count() == 0 { 0 } else { tensor.geometry().offset().unsigned_abs() };
        let start = self.checked_buffer(tensor)?.ordered_address(tensor.storage(), self.stream, Access::Read)?;
        Ok(DevicePointer(start).offset(offset * tensor.dtype().size() as u64))
    }

    /// Returns the address of a tensor's first element, or [`DevicePointer::NULL`] for `None`.
    pub(crate) fn pointer_or_null(&self, tensor: Option<&Tensor>) -> Result<DevicePointer, CudaError> {
        tensor.map_or(Ok(DevicePointer::NULL), |tensor| self.pointer(tensor))
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
    ///         }", |instances| instances.add("negate", &[])) };
    /// }
    ///
    /// fn negate_(this: &mut Tensor) -> Result<()> {
    ///     if this.dtype() != DType::F32 || !this.geometry().is_contiguous() {
    ///         return Err("`negate_` takes a contiguous tensor of float32".into());
    ///     }
    ///     let (launch, count) = (Launch::on_device_of(this)?, this.geometry().count());
    ///     let _writing = launch.begin_write(this)?;
    ///     Ok(launch.run(&NEGATE, "negate", &[], Grid::for_elements(count), (launch.pointer(this)?, count))?)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::WrongDevice`] if the tensor is not on this device.
    pub fn begin_write(&self, tensor: &Tensor) -> Result<WriteGuard, CudaError> {
        let storage = tensor.storage();
        self.checked_buffer(tensor)?.ordered_address(storage, self.stream, Access::Write)?;
        // A recording compares versions, so it must have read the version before this increase.
        storage.bump_version();
        Ok(WriteGuard { storage: storage.clone(), stream: self.stream })
    }

    #[inline]
    fn checked_buffer<'a>(&self, tensor: &'a Tensor) -> Result<&'a CudaBuffer, CudaError> {
        match tensor.storage().buffer::<CudaBuffer>() {
            Some(buffer) if buffer.gpu.index == self.gpu.index => Ok(buffer),
            _ => Err(CudaError::WrongDevice { found: tensor.device(), expected: self.gpu.device() }),
        }
    }

    /// Returns the address of the device's `Fault`, where kernels report invalid values.
    #[must_use]
    pub fn fault_record(&self) -> DevicePointer {
        DevicePointer(self.gpu.fault_record.address())
    }

    /// Returns the device that kernels are launched on.
    #[must_use]
    pub fn device(&self) -> dispatch_runtime::Device {
        self.gpu.device()
    }

    /// Returns the number of the device's multiprocessors. It runs at least that many blocks at once.
    #[must_use]
    pub fn multiprocessors(&self) -> u32 {
        self.gpu.driver.properties().multiprocessors
    }

    /// Returns the maximum shared memory of a block, in bytes.
    pub(crate) fn max_shared_memory(&self) -> u32 {
        self.gpu.driver.properties().shared_memory
    }

    /// Copies from the device to the CPU. Returns an error if an earlier kernel reported an invalid value.
    pub(crate) fn copy_device_to_host(&self, from: DevicePointer, to: &mut [u8]) -> Result<(), CudaError> {
        self.gpu.copy_device_to_host(from.0, to, self.stream)
    }

    /// Launches an instance of a kernel's template. Does nothing if the grid has no blocks.
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Compile`] if the kernel does not compile or has no such instance, [`CudaError::LaunchLimit`] if the grid exceeds the
    /// device's limits, [`CudaError::ParameterMismatch`] if the kernel declares other parameters, and the driver's error if it refuses the launch.
    #[inline]
    pub fn run<A: Arguments>(
        &self,
        kernel: &'static Kernel,
        template: &'static str,
        dtypes: &[DType],
        grid: Grid,
        arguments: A,
    ) -> Result<(), CudaError> {
        arguments.call_with_pointers(self, |pointers, sizes| {
            if grid.blocks.contains(&0) {
                return Ok(());
            }
            let kernel_name = kernel.source().name();
            if let Some((quantity, requested, limit)) = grid.exceeded_limit(self.max_shared_memory()) {
                return Err(CudaError::LaunchLimit { kernel: kernel_name, template, quantity, requested, limit });
            }
            let entry = kernel.entry_point(self.gpu, template, dtypes)?;
            if grid.shared_memory > 48 << 10 {
                self.gpu.driver.allow_shared_memory(entry.function, grid.shared_memory)?;
            }
            if *sizes != *entry.parameters {
                return Err(CudaError::ParameterMismatch {
                    kernel: kernel_name,
                    template,
                    expected: entry.parameters.to_vec(),
                    passed: sizes.to_vec(),
                });
            }
            recent_launches::record_launch(kernel);
            // SAFETY: the pointers are to values of these sizes, and the check above found that the kernel's parameters have the same
            // sizes. What the kernel does with them was promised for every launch by the caller of `Kernel::new`.
            unsafe { self.gpu.driver.launch(entry, grid, pointers, self.stream) }
        })
    }

    /// Launches an instance of a kernel's template with a thread for each of `count` elements.
    pub(crate) fn run_per_element<A: Arguments>(
        &self,
        kernel: &'static Kernel,
        template: &'static str,
        dtypes: &[DType],
        count: i64,
        arguments: A,
    ) -> Result<()> {
        Ok(self.run(kernel, template, dtypes, Grid::for_elements(count), arguments)?)
    }
}

/// A guard of a write to a tensor. Drop it after the kernel was launched.
#[must_use = "work in other streams is ordered after the launch when this is dropped"]
#[derive(Debug)]
pub struct WriteGuard {
    storage: Storage,
    stream: StreamHandle,
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        if let Some(buffer) = self.storage.buffer::<CudaBuffer>() {
            // Another thread may have used the tensor between `begin_write` and the launch, without waiting for the launch.
            _ = buffer.ordered_address(&self.storage, self.stream, Access::Write);
        }
    }
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Launch({}, {:#x})", self.gpu.device(), self.stream)
    }
}

/// A type that a launch copies bytewise into a kernel's parameter.
///
/// Implement it for a `#[repr(C)]` struct if the kernel declares a struct with the same fields.
pub trait Parameter: Copy {}

macro_rules! impl_scalar_parameters {
    ($($ty:ty)*) => { $(impl Parameter for $ty {})* };
}
impl_scalar_parameters! { DevicePointer bool i8 u8 i32 u32 i64 u64 f32 f64 crate::FaultSite }

/// Declares `#[repr(C)]` structs that are kernel parameters; the kernels declare structs with the same fields.
macro_rules! define_parameters {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name { $($fields)* }

        impl $crate::launch::Parameter for $name {}
    )*};
}
pub(crate) use define_parameters;

/// An argument of a launch, which is converted to a kernel's parameter.
trait Argument {
    type KernelParameter: Parameter;

    fn into_parameter(self, launch: &Launch) -> Result<Self::KernelParameter, CudaError>;
}

impl<P: Parameter> Argument for P {
    type KernelParameter = P;

    #[inline]
    fn into_parameter(self, _: &Launch) -> Result<P, CudaError> {
        Ok(self)
    }
}

/// A tensor argument becomes the address of its first element.
impl Argument for &Tensor {
    type KernelParameter = DevicePointer;

    #[inline]
    fn into_parameter(self, launch: &Launch) -> Result<DevicePointer, CudaError> {
        launch.pointer(self)
    }
}

impl Argument for &mut Tensor {
    type KernelParameter = DevicePointer;

    #[inline]
    fn into_parameter(self, launch: &Launch) -> Result<DevicePointer, CudaError> {
        launch.pointer(self)
    }
}

impl Argument for Option<&Tensor> {
    type KernelParameter = DevicePointer;

    #[inline]
    fn into_parameter(self, launch: &Launch) -> Result<DevicePointer, CudaError> {
        launch.pointer_or_null(self)
    }
}

/// The arguments of a launch: a tuple of one to sixteen. A tensor becomes [the address of its first element](Launch::pointer), and `None`
/// becomes [`DevicePointer::NULL`].
#[expect(private_bounds, reason = "only tuples implement it: another type could pass invalid pointers")]
pub trait Arguments: PassPointers {}

/// The conversion of arguments to pointers. Private, so that only this module implements it.
trait PassPointers {
    /// Calls `run` with a pointer to each argument's value and with the values' sizes.
    fn call_with_pointers(
        self,
        launch: &Launch,
        run: impl FnOnce(&mut [*mut c_void], &[usize]) -> Result<(), CudaError>,
    ) -> Result<(), CudaError>;
}

macro_rules! impl_arguments_for_tuple {
    ($($name:ident)+) => {
        impl<$($name: Argument),+> Arguments for ($($name,)+) {}

        impl<$($name: Argument),+> PassPointers for ($($name,)+) {
            #[inline]
            #[allow(non_snake_case, reason = "a name for each type")]
            fn call_with_pointers(
                self,
                launch: &Launch,
                run: impl FnOnce(&mut [*mut c_void], &[usize]) -> Result<(), CudaError>,
            ) -> Result<(), CudaError> {
                const {
                    assert!(true $(&& align_of::<$name::KernelParameter>() <= 16)+, "a kernel parameter must be aligned to at most 16 bytes");
                }
                let sizes = const { &[$(size_of::<$name::KernelParameter>()),+] };
                let ($($name,)+) = self;
                $(let mut $name = $name.into_parameter(launch)?;)+
                run(&mut [$((&raw mut $name).cast::<c_void>()),+], sizes)
            }
        }
    };
}

/// Implements `Arguments` for tuples of these types, and for tuples of each shorter suffix of the list.
macro_rules! impl_arguments_for_tuples {
    () => {};
    ($first:ident $($others:ident)*) => {
        impl_arguments_for_tuple! { $first $($others)* }
        impl_arguments_for_tuples! { $($others)* }
    };
}
impl_arguments_for_tuples! { A B C D E F G H I J K L M N O P }
