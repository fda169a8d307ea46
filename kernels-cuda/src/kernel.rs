//! Kernels in CUDA C++, compiled when they are first launched.
//!
//! A [`Kernel`] is a text with templates. Each launch names a template and the dtypes it is instantiated for; what was built once is found
//! by a short walk without a lock, and later launches allocate, format and ask for nothing.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{DType, Result, Tensor};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::machine::{Address, Function, Grid, Queue};
use crate::memory::CudaBuffer;
use crate::source::{Unit, instance};
use crate::stream;

/// A text of CUDA C++ with templates, and which instances of them there can be.
///
/// ```
/// use dispatch_runtime::{DType, Result, Tensor};
/// use kernels_cuda::{Grid, Kernel, Launch};
///
/// static DOUBLED: Kernel = Kernel::new(
///     "doubled",
///     r#"
///     #include "opdispatch.cuh"
///     template <class T> __global__ void doubled(T *out, const T *in, i64 count) {
///         i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
///         if (i < count) out[i] = in[i] + in[i];
///     }"#,
///     |instances| instances.each("doubled", &[DType::F32, DType::F64]),
/// );
///
/// fn doubled(this: &Tensor) -> Result<Tensor> {
///     let out = this.fresh_like(this.dtype())?;
///     let (launch, count) = (Launch::on(&out)?, out.geometry().count());
///     let arguments = (launch.place(&out)?, launch.place(this)?, count);
///     launch.run(&DOUBLED, "doubled", &[this.dtype()], Grid::cover(count), arguments)?;
///     Ok(out)
/// }
/// ```
pub struct Kernel {
    unit: Unit,
    instances: fn(&mut Instances),
    /// What was built, as a list that is replaced by a longer one.
    built: AtomicPtr<Vec<Built>>,
    building: Mutex<()>,
}

#[derive(Clone)]
struct Built {
    key: Key,
    function: Function,
}

/// An instance on a device.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    dtypes: u64,
    device: u8,
    template: &'static str,
}

impl Key {
    #[inline]
    fn new(template: &'static str, dtypes: &[DType], device: u8) -> Self {
        // Sixteen numbers of four bits: none is larger than fifteen.
        let dtypes = dtypes.iter().fold(1_u64, |packed, &dtype| packed << 4 | dtype as u64);
        Self { dtypes, device, template }
    }
}

/// Collects the instances that a kernel can have.
#[derive(Default, Debug)]
pub struct Instances {
    all: Vec<(&'static str, Vec<DType>)>,
}

impl Instances {
    /// One instance, of these dtypes.
    ///
    /// ```
    /// # use dispatch_runtime::DType;
    /// let mut instances = kernels_cuda::Instances::default();
    /// instances.one("cast", &[DType::F32, DType::I64]);
    /// assert_eq!(instances.expressions(), ["cast<float, i64>"]);
    /// ```
    pub fn one(&mut self, template: &'static str, dtypes: &[DType]) {
        self.all.push((template, dtypes.to_vec()));
    }

    /// An instance for each of these dtypes.
    ///
    /// ```
    /// # use dispatch_runtime::DType;
    /// let mut instances = kernels_cuda::Instances::default();
    /// instances.each("twice", &[DType::F32, DType::F16]);
    /// assert_eq!(instances.expressions(), ["twice<float>", "twice<f16>"]);
    /// ```
    pub fn each(&mut self, template: &'static str, dtypes: &[DType]) {
        for dtype in dtypes {
            self.one(template, &[*dtype]);
        }
    }

    /// As C++ writes them.
    #[must_use]
    pub fn expressions(&self) -> Vec<String> {
        self.all.iter().filter_map(|(template, dtypes)| instance(template, dtypes)).collect()
    }
}

impl Kernel {
    /// A kernel of this name and text. `instances` says what can be launched, so that all of it can be compiled ahead.
    #[must_use]
    pub const fn new(name: &'static str, text: &'static str, instances: fn(&mut Instances)) -> Self {
        let built = AtomicPtr::new(std::ptr::null_mut());
        Self { unit: Unit { name, text }, instances, built, building: Mutex::new(()) }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.unit.name
    }

    /// The instances that it can have, as C++ writes them.
    #[must_use]
    pub fn expressions(&self) -> Vec<String> {
        self.listed().expressions()
    }

    pub(crate) const fn unit(&self) -> &Unit {
        &self.unit
    }

    fn listed(&self) -> Instances {
        let mut instances = Instances::default();
        (self.instances)(&mut instances);
        instances
    }

    #[inline]
    fn function(&'static self, gpu: &Gpu, template: &'static str, dtypes: &[DType]) -> Result<Function, CudaError> {
        let key = Key::new(template, dtypes, gpu.index);
        match self.found(key) {
            Some(function) => Ok(function),
            None => self.build(gpu, key, template, dtypes),
        }
    }

    #[inline]
    fn found(&self, key: Key) -> Option<Function> {
        let built = self.built.load(Ordering::Acquire);
        // SAFETY: it is null, or a list that was published whole and is never freed.
        let built = unsafe { built.as_ref() }?;
        built.iter().find(|built| built.key == key).map(|built| built.function)
    }

    #[cold]
    fn build(
        &'static self,
        gpu: &Gpu,
        key: Key,
        template: &'static str,
        dtypes: &[DType],
    ) -> Result<Function, CudaError> {
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = self.found(key) {
            return Ok(function);
        }
        let mut instances = if gpu.machine.builds_together() { self.listed() } else { Instances::default() };
        if !instances.all.iter().any(|(name, of)| *name == template && of == dtypes) {
            instances.one(template, dtypes);
        }
        self.add(gpu, instances)?;
        self.found(key).ok_or_else(|| CudaError::Compile {
            kernel: self.unit.name,
            target: gpu.machine.properties().name.clone(),
            log: format!("`{template}` has no instance for {dtypes:?}"),
        })
    }

    /// Builds all instances that are not built yet.
    pub(crate) fn prepare(&'static self, gpu: &Gpu) -> Result<(), CudaError> {
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        self.add(gpu, self.listed())
    }

    /// Builds those of some instances that are not built yet, together. The caller holds the lock.
    fn add(&self, gpu: &Gpu, mut instances: Instances) -> Result<(), CudaError> {
        instances.all.retain(|(name, of)| self.found(Key::new(name, of, gpu.index)).is_none());
        if instances.all.is_empty() {
            return Ok(());
        }
        let functions = gpu.machine.build(&self.unit, &instances.expressions())?;
        // SAFETY: it is null, or a list that was published whole and is never freed.
        let mut built = unsafe { self.built.load(Ordering::Acquire).as_ref() }.cloned().unwrap_or_default();
        let keys = instances.all.iter().map(|(name, of)| Key::new(name, of, gpu.index));
        built.extend(keys.zip(functions).map(|(key, function)| Built { key, function }));
        self.built.store(Box::into_raw(Box::new(built)), Ordering::Release);
        Ok(())
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({})", self.unit.name)
    }
}

/// A kernel of the program, wherever it is defined.
#[derive(Debug)]
pub struct Known(pub &'static Kernel);

inventory::collect!(Known);

/// Makes kernels known to those who compile all of them ahead: `known!(DOUBLED)`.
#[macro_export]
macro_rules! known {
    ($($kernel:path),+ $(,)?) => { $($crate::__private::submit! { $crate::Known(&$kernel) })+ };
}

/// Every kernel that was made known.
///
/// ```
/// assert!(kernels_cuda::kernels().any(|kernel| kernel.name() == "add"));
/// ```
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    inventory::iter::<Known>().map(|known| known.0)
}

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

    /// Where the first element of a tensor is. Work in other streams that used it comes first.
    ///
    /// # Errors
    ///
    /// Where it is not on this device.
    #[inline]
    pub fn place(&self, tensor: &Tensor) -> Result<Place, CudaError> {
        match tensor.storage().buffer::<CudaBuffer>() {
            Some(buffer) if buffer.gpu.index == self.gpu.index => {
                let offset = if tensor.geometry().count() == 0 { 0 } else { tensor.geometry().offset().unsigned_abs() };
                Ok(Place(buffer.enter(self.queue)?).offset(offset * tensor.dtype().size() as u64))
            }
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

    pub(crate) fn copy_in(&self, from: &[u8], to: Place) -> Result<(), CudaError> {
        if from.is_empty() { Ok(()) } else { self.gpu.machine.copy_in(from, to.0, self.queue) }
    }

    /// To the CPU, with whatever kernels came upon before.
    pub(crate) fn copy_out(&self, from: Place, to: &mut [u8]) -> Result<(), CudaError> {
        if !to.is_empty() {
            self.gpu.machine.copy_out(from.0, to, self.queue)?;
        }
        self.gpu.faults.take(&*self.gpu.machine, self.queue)
    }

    /// Launches an instance of a kernel's template. Without blocks there is nothing to do.
    ///
    /// # Errors
    ///
    /// Where the kernel does not compile, or the driver refuses the launch.
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
        let function = kernel.function(self.gpu, template, dtypes)?;
        if grid.shared > 48 << 10 {
            self.gpu.machine.allow_shared(function, grid.shared)?;
        }
        arguments.with_places(|places, sizes| self.gpu.machine.launch(function, grid, places, sizes, self.queue))
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
