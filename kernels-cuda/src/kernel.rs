//! Kernels in CUDA C++, compiled when they are first launched.
//!
//! A [`Kernel`] is a text with templates. Each launch names a template and the dtypes it is instantiated for; what was built once is found
//! by a short walk without a lock, and later launches allocate, format and ask for nothing.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{DType, Result};

use crate::error::CudaError;
use crate::gpu::Gpu;
use crate::machine::{Function, Module};
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
    /// Where it was built from. Whoever holds this may build.
    loaded: Mutex<Vec<Loaded>>,
}

#[derive(Clone)]
struct Built {
    key: Key,
    function: Function,
}

struct Loaded {
    device: u8,
    module: Module,
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
        Self { unit: Unit { name, text }, instances, built, loaded: Mutex::new(Vec::new()) }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.unit.name
    }

    /// The instances that it can have, as C++ writes them.
    #[must_use]
    pub fn expressions(&self) -> Vec<String> {
        let mut instances = Instances::default();
        (self.instances)(&mut instances);
        instances.expressions()
    }

    pub(crate) const fn unit(&self) -> &Unit {
        &self.unit
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
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = self.found(key) {
            return Ok(function);
        }
        let no_instance = || CudaError::Compile {
            kernel: self.unit.name,
            target: gpu.machine.properties().name.clone(),
            log: format!("`{template}` has no instance for {dtypes:?}"),
        };
        let expression = instance(template, dtypes).ok_or_else(no_instance)?;
        let together = if gpu.machine.compiles_together() { self.expressions() } else { Vec::new() };
        let wanted = if together.contains(&expression) { together } else { vec![expression.clone()] };
        self.load(gpu, &mut loaded, wanted)?;
        let (code, name) = named(&loaded, gpu, &expression).ok_or_else(no_instance)?;
        let function = gpu.machine.function(code, name)?;
        // SAFETY: it is null, or a list that was published whole and is never freed.
        let mut built = unsafe { self.built.load(Ordering::Acquire).as_ref() }.cloned().unwrap_or_default();
        built.push(Built { key, function });
        self.built.store(Box::into_raw(Box::new(built)), Ordering::Release);
        Ok(function)
    }

    /// Loads all instances, so that none has to be compiled later.
    pub(crate) fn load_all(&self, gpu: &Gpu) -> Result<(), CudaError> {
        self.load(gpu, &mut self.loaded.lock().unwrap_or_else(PoisonError::into_inner), self.expressions())
    }

    fn load(&self, gpu: &Gpu, loaded: &mut Vec<Loaded>, mut expressions: Vec<String>) -> Result<(), CudaError> {
        expressions.retain(|expression| named(loaded, gpu, expression).is_none());
        if !expressions.is_empty() {
            let modules = gpu.machine.load(&self.unit, &expressions)?;
            loaded.extend(modules.into_iter().map(|module| Loaded { device: gpu.index, module }));
        }
        Ok(())
    }
}

/// The loaded code that has an instance, and its name there.
fn named<'a>(loaded: &'a [Loaded], gpu: &Gpu, expression: &str) -> Option<(usize, &'a str)> {
    let here = loaded.iter().filter(|loaded| loaded.device == gpu.index);
    here.map(|loaded| &loaded.module).find_map(|module| Some((module.code, module.names.get(expression)?.as_str())))
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
