//! Kernels in CUDA C++, compiled at their first launch.
//!
//! A [`Kernel`] is source text with templates. Each launch names a template and the dtypes of the instance. A built instance is found by a
//! short list search without a lock: later launches neither allocate nor format text.
#![expect(
    unsafe_code,
    reason = "a list of what was built is read through one pointer; the text of a kernel is trusted"
)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};

use dispatch_runtime::{DType, Result};

use crate::compile::source::{Instances, Source, instance_expression};
use crate::device::driver::{EntryPoint, Module};
use crate::device::gpu::Gpu;
use crate::error::CudaError;
use crate::lock::lock_ignoring_poison;

/// A CUDA C++ source with templates, and the list of the instances that can be launched. Declare it with the macro
/// [`kernel!`](crate::kernel!).
///
/// ```
/// use dispatch_runtime::{DType, Result, Tensor};
/// use kernels_cuda::{Grid, Kernel, Launch, kernel};
///
/// kernel! {
///     // SAFETY: `doubled` below is the only launch. Both tensors have `count` elements of this dtype, one after another.
///     static DOUBLED = unsafe { Kernel::new("doubled", r#"
///         #include "opdispatch.cuh"
///         template <class T> __global__ void doubled(T *out, const T *in, i64 count) {
///             i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x;
///             if (i < count) out[i] = in[i] + in[i];
///         }"#, |instances| instances.add_for_each_dtype("doubled", &[DType::F32, DType::F64])) };
/// }
///
/// fn doubled(this: &Tensor) -> Result<Tensor> {
///     let this = aten::contiguous(this, dispatch_runtime::MemoryFormat::Contiguous)?;
///     let out = this.allocate_like(this.dtype())?;
///     let (launch, count) = (Launch::on_device_of(&out)?, out.geometry().count());
///     let arguments = (launch.pointer(&out)?, launch.pointer(&this)?, count);
///     launch.run(&DOUBLED, "doubled", &[this.dtype()], Grid::for_elements(count), arguments)?;
///     Ok(out)
/// }
/// ```
pub struct Kernel {
    source: Source,
    /// The built instances. A new instance replaces the list by a longer one.
    built: AtomicPtr<Vec<BuiltInstance>>,
    /// The loaded modules. Holding the lock permits building.
    loaded: Mutex<Vec<LoadedModule>>,
}

#[derive(Clone)]
struct BuiltInstance {
    key: InstanceKey,
    entry: EntryPoint,
}

struct LoadedModule {
    device: u8,
    module: Module,
}

/// The identity of a built instance: its template, dtypes and device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InstanceKey {
    dtypes: u64,
    device: u8,
    template: &'static str,
}

/// The number of bits that hold the discriminant of any of these dtypes.
const fn discriminant_bits(dtypes: &[DType]) -> u32 {
    let (mut at, mut all) = (0, 1);
    while at < dtypes.len() {
        all |= dtypes[at] as u64;
        at += 1;
    }
    all.ilog2() + 1
}

const DTYPE_BITS: u32 = discriminant_bits(&DType::ALL);

/// The maximum number of dtypes of an instance. Each takes `DTYPE_BITS` bits of a `u64`, below a leading one bit.
const MAX_DTYPES: usize = ((u64::BITS - 1) / DTYPE_BITS) as usize;

impl InstanceKey {
    /// Creates the key of an instance, or returns `None` if there are more dtypes than fit into a key.
    #[inline]
    fn new(template: &'static str, dtypes: &[DType], device: u8) -> Option<Self> {
        if dtypes.len() > MAX_DTYPES {
            return None;
        }
        let dtypes = dtypes.iter().fold(1_u64, |packed, &dtype| packed << DTYPE_BITS | dtype as u64);
        Some(Self { dtypes, device, template })
    }
}

impl Kernel {
    /// Creates a kernel with this name and text. `instances` lists the instances that can be launched, so that all of them can be compiled
    /// ahead of time.
    ///
    /// # Safety
    ///
    /// The text is native code. A launch runs it on the device, or in this process if the device is emulated. Its memory accesses are not
    /// checked. So the caller promises, for **every launch that code which can name the kernel makes**:
    ///
    /// * Each address that the kernel reads is inside of a tensor that the launch passed by [`Launch::pointer`](crate::Launch::pointer), and
    ///   holds a value of the type that the kernel reads. Each address that it writes is inside of a tensor that was allocated for the
    ///   launch, or that was passed to [`Launch::begin_write`](crate::Launch::begin_write).
    /// * Both hold for the grid and the scalar arguments of each launch, for any elements of the tensors.
    /// * The kernel terminates.
    ///
    /// The caller also promises that loading the text runs no code: it has no variables with constructors.
    ///
    /// Code that can name the kernel can launch it with any arguments, so keep the kernel private to the module that launches it. Each
    /// launch checks that the number and the sizes of its arguments match the parameters that the kernel declares.
    #[must_use]
    pub const unsafe fn new(name: &'static str, text: &'static str, instances: fn(&mut Instances)) -> Self {
        let built = AtomicPtr::new(std::ptr::null_mut());
        Self { source: Source { name, text, instances }, built, loaded: Mutex::new(Vec::new()) }
    }

    /// Returns the kernel's source, which can be compiled.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the compiled entry of an instance, and builds it if this is its first use.
    #[inline]
    pub(crate) fn entry_point(
        &'static self,
        gpu: &Gpu,
        template: &'static str,
        dtypes: &[DType],
    ) -> Result<&'static EntryPoint, CudaError> {
        let key = InstanceKey::new(template, dtypes, gpu.index);
        match key.and_then(|key| self.find_built_instance(key)) {
            Some(entry) => Ok(entry),
            None => self.build_instance(gpu, key, template, dtypes),
        }
    }

    #[inline]
    fn find_built_instance(&self, key: InstanceKey) -> Option<&'static EntryPoint> {
        let built: *const Vec<BuiltInstance> = self.built.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or points to a list that was complete when it was stored and is never freed.
        let built: &'static Vec<BuiltInstance> = unsafe { built.as_ref() }?;
        built.iter().find(|built| built.key == key).map(|built| &built.entry)
    }

    #[cold]
    fn build_instance(
        &'static self,
        gpu: &Gpu,
        key: Option<InstanceKey>,
        template: &'static str,
        dtypes: &[DType],
    ) -> Result<&'static EntryPoint, CudaError> {
        let no_instance = || CudaError::Compile {
            kernel: self.source.name,
            target: gpu.driver.properties().name.clone(),
            log: format!("`{template}` has no instance for {dtypes:?}"),
        };
        let key = key.ok_or_else(no_instance)?;
        let mut loaded = lock_ignoring_poison(&self.loaded);
        if let Some(entry) = self.find_built_instance(key) {
            return Ok(entry);
        }
        let expression = instance_expression(template, dtypes).ok_or_else(no_instance)?;
        let together = if gpu.driver.prefers_compiling_all() { self.source.instance_expressions() } else { Vec::new() };
        let wanted = if together.contains(&expression) { together } else { vec![expression.clone()] };
        self.load_missing_instances(gpu, &mut loaded, wanted)?;
        let (code, name) = find_in_loaded_modules(&loaded, gpu, &expression).ok_or_else(no_instance)?;
        let entry = gpu.driver.entry_point(code, name)?;
        // SAFETY: the pointer is null, or points to a list that was complete when it was stored and is never freed.
        let mut built = unsafe { self.built.load(Ordering::Acquire).as_ref() }.cloned().unwrap_or_default();
        built.push(BuiltInstance { key, entry });
        self.built.store(Box::into_raw(Box::new(built)), Ordering::Release);
        self.find_built_instance(key).ok_or_else(no_instance)
    }

    /// Loads all instances on a device, so that no launch compiles.
    pub(crate) fn load_all_instances(&self, gpu: &Gpu) -> Result<(), CudaError> {
        self.load_missing_instances(gpu, &mut lock_ignoring_poison(&self.loaded), self.source.instance_expressions())
    }

    fn load_missing_instances(
        &self,
        gpu: &Gpu,
        loaded: &mut Vec<LoadedModule>,
        mut expressions: Vec<String>,
    ) -> Result<(), CudaError> {
        expressions.retain(|expression| find_in_loaded_modules(loaded, gpu, expression).is_none());
        if !expressions.is_empty() {
            let modules = gpu.driver.load_modules(&self.source, &expressions)?;
            loaded.extend(modules.into_iter().map(|module| LoadedModule { device: gpu.index, module }));
        }
        Ok(())
    }
}

/// Returns the loaded module that contains an instance, and the instance's name in that module.
fn find_in_loaded_modules<'a>(loaded: &'a [LoadedModule], gpu: &Gpu, expression: &str) -> Option<(usize, &'a str)> {
    let here = loaded.iter().filter(|loaded| loaded.device == gpu.index);
    here.map(|loaded| &loaded.module).find_map(|module| Some((module.code, module.names.get(expression)?.as_str())))
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kernel({})", self.source.name)
    }
}

/// A registered kernel of the program. The field is private, as code that has a kernel can launch it.
#[doc(hidden)]
#[derive(Debug)]
pub struct RegisteredKernel(&'static Kernel);

impl RegisteredKernel {
    #[must_use]
    pub const fn new(kernel: &'static Kernel) -> Self {
        Self(kernel)
    }
}

inventory::collect!(RegisteredKernel);

/// Registers kernels, so that `kernels_cuda::kernel_sources` lists them and `load_all_kernels` builds them: `register_kernel!(DOUBLED)`.
/// [`kernel!`](crate::kernel!) registers the kernel that it declares.
#[macro_export]
macro_rules! register_kernel {
    ($($kernel:expr),+ $(,)?) => { $($crate::__private::submit! { $crate::__private::RegisteredKernel::new(&$kernel) })+ };
}

/// Declares a [`Kernel`] as a static and registers it.
///
/// ```
/// use dispatch_runtime::DType;
/// use kernels_cuda::{Kernel, kernel, kernel_sources};
///
/// kernel! {
///     // SAFETY: nothing launches it.
///     static NOTHING = unsafe { Kernel::new("nothing", "template <class T> __global__ void nothing(T *) {}", |instances| {
///         instances.add_for_each_dtype("nothing", &[DType::F32]);
///     }) };
/// }
/// assert_eq!(NOTHING.source().instance_expressions(), ["nothing<float>"]);
/// assert!(kernel_sources().any(|kernel| kernel.name() == "nothing"));
/// ```
///
/// The keyword `unsafe` is in the declaring crate, whose author vouches for the text: see [`Kernel::new`]. So a crate that denies
/// `unsafe_code` cannot declare a kernel, except in modules that allow it.
///
/// ```compile_fail,E0133
/// # use kernels_cuda::{Kernel, kernel};
/// kernel! { static NOTHING = Kernel::new("nothing", "", |_| {}); }
/// ```
///
/// ```compile_fail
/// #![deny(unsafe_code)]
/// # use kernels_cuda::{Kernel, kernel};
/// kernel! { static NOTHING = unsafe { Kernel::new("nothing", "", |_| {}) }; }
/// ```
#[macro_export]
macro_rules! kernel {
    // The `unsafe` block is the caller's, so that the caller's lints about `unsafe` see it.
    ($vis:vis static $name:ident = $kernel:expr;) => {
        $vis static $name: $crate::__private::Kernel = $kernel;
        $crate::__private::register_kernel!($name);
    };
}

/// Returns the source of every registered kernel.
///
/// ```
/// assert!(kernels_cuda::kernel_sources().any(|kernel| kernel.name() == "add"));
/// ```
pub fn kernel_sources() -> impl Iterator<Item = &'static Source> {
    registered_kernels().map(Kernel::source)
}

pub(crate) fn registered_kernels() -> impl Iterator<Item = &'static Kernel> {
    inventory::iter::<RegisteredKernel>().map(|kernel| kernel.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two different lists of dtypes have different keys, even if one is a prefix of the other.
    #[test]
    fn different_lists_of_dtypes_have_different_keys() {
        let mut seen = std::collections::HashSet::new();
        let mut check = |dtypes: &[DType]| {
            let key = InstanceKey::new("add", dtypes, 0).unwrap();
            assert!(seen.insert(key.dtypes), "{dtypes:?}");
        };
        check(&[]);
        for a in DType::ALL {
            check(&[a]);
            for b in DType::ALL {
                check(&[a, b]);
                for c in DType::ALL {
                    check(&[a, b, c]);
                }
            }
        }
    }

    #[test]
    fn the_bits_of_dtypes_hold_the_largest_discriminant() {
        assert_eq!(discriminant_bits(&[DType::U8]), 1);
        assert_eq!(discriminant_bits(&[DType::U8, DType::I16]), 2);
        assert_eq!(discriminant_bits(&[DType::F64]), 3);
        assert_eq!(discriminant_bits(&[DType::F64, DType::C64]), 4);
        assert!(DType::ALL.into_iter().all(|dtype| (dtype as u64) < 1 << DTYPE_BITS));
    }

    #[test]
    fn more_dtypes_than_fit_into_a_key_have_no_key() {
        let dtypes = [DType::BF16; MAX_DTYPES + 1];
        assert!(InstanceKey::new("add", &dtypes[..MAX_DTYPES], 0).is_some());
        assert_eq!(InstanceKey::new("add", &dtypes, 0), None);
    }
}
