//! Kernels in CUDA C++, compiled when they are first launched.
//!
//! A [`Kernel`] is a text with templates. Each launch names a template and the dtypes it is instantiated for; what was built once is found
//! by a short walk without a lock, and later launches allocate, format and ask for nothing.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{DType, Result};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::machine::Function;
use crate::source::{Unit, instance};

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
    pub(crate) fn function(
        &'static self,
        gpu: &Gpu,
        template: &'static str,
        dtypes: &[DType],
    ) -> Result<Function, CudaError> {
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
    ($($kernel:expr),+ $(,)?) => { $($crate::__private::submit! { $crate::Known(&$kernel) })+ };
}

/// Every kernel that was made known.
///
/// ```
/// assert!(kernels_cuda::kernels().any(|kernel| kernel.name() == "add"));
/// ```
pub fn kernels() -> impl Iterator<Item = &'static Kernel> {
    inventory::iter::<Known>().map(|known| known.0)
}
