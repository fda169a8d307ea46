//! Ahead-of-time compilation of all kernels that a program can launch, also for architectures that this machine lacks.

use std::sync::Mutex;

use dispatch_runtime::Device;

use crate::compile::disk_cache::cache_folder;
use crate::compile::nvrtc::{self, Code, OptimizationEffort};
use crate::compile::source::Source;
use crate::device::gpu::Gpu;
use crate::error::CudaError;
use crate::kernel::registered_kernels;
use crate::lock::lock_ignoring_poison;

impl Source {
    /// Compiles all of the kernel's instances to machine code for an architecture (90 is `sm_90`). It needs NVRTC, but no device.
    ///
    /// ```
    /// let kernel = kernels_cuda::kernel_sources().find(|kernel| kernel.name() == "mul").unwrap();
    /// match kernel.compile(90) {
    ///     Ok(code) => assert!(code.names.iter().any(|name| name.contains("contiguous"))),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Unavailable`] if there is no compiler, and [`CudaError::Compile`] if the kernel does not compile.
    pub fn compile(&self, architecture: u32) -> Result<Code, CudaError> {
        nvrtc::compile(self, &self.instance_expressions(), architecture, OptimizationEffort::Full)
    }

    /// Compiles instances of the kernel with little optimisation, to check that they compile. It takes a fraction of the time of
    /// [`compile`](Self::compile), but the code is slow.
    ///
    /// ```
    /// let kernel = kernels_cuda::kernel_sources().find(|kernel| kernel.name() == "mul").unwrap();
    /// assert_eq!(kernel.compile_quickly(80, &kernel.instance_expressions()).is_ok(), kernels_cuda::compiler_version().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Unavailable`] if there is no compiler, and [`CudaError::Compile`] if the kernel does not compile.
    pub fn compile_quickly(&self, architecture: u32, instances: &[String]) -> Result<Code, CudaError> {
        nvrtc::compile(self, instances, architecture, OptimizationEffort::Quick)
    }

    /// Compiles those of the kernel's instances that the disk cache lacks for an architecture, and writes them there. Returns their number.
    /// It needs no device, and no NVRTC if no instance is missing.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), kernels_cuda::CudaError> {
    /// for kernel in kernels_cuda::kernel_sources() {
    ///     println!("{}: {} instances compiled", kernel.name(), kernel.compile_into_cache(90)?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CudaError::Unavailable`] if there is no compiler, [`CudaError::Compile`] if the kernel does not compile, and
    /// [`CudaError::CacheWrite`] if the code cannot be written.
    pub fn compile_into_cache(&self, architecture: u32) -> Result<usize, CudaError> {
        let (_, missing) = nvrtc::read_cached_codes(self, &self.instance_expressions(), architecture);
        if !missing.is_empty() {
            let code = nvrtc::compile(self, &missing, architecture, OptimizationEffort::Full)?;
            nvrtc::write_to_cache(self, &code, architecture)
                .map_err(|error| CudaError::CacheWrite { folder: cache_folder(), message: error.to_string() })?;
        }
        Ok(missing.len())
    }
}

/// Builds and loads every kernel of the program for a device, on all processors, so that no later launch waits for the compiler. Code in
/// the disk cache is not compiled again.
///
/// ```no_run
/// # fn main() -> dispatch_runtime::Result<()> {
/// kernels_cuda::load_all_kernels("cuda:0".parse().unwrap())?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`CudaError::Unavailable`] if there is no such device, driver or compiler, and [`CudaError::Compile`] if a kernel does not
/// compile.
pub fn load_all_kernels(device: Device) -> Result<(), CudaError> {
    let gpu = Gpu::for_device(device)?;
    let waiting = Mutex::new(registered_kernels());
    let next = || lock_ignoring_poison(&waiting).next();
    let build = || std::iter::from_fn(next).try_for_each(|kernel| kernel.load_all_instances(gpu));
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let builders: Vec<_> = (0..processors).map(|_| scope.spawn(build)).collect();
        builders.into_iter().try_for_each(|builder| builder.join().unwrap_or(Ok(())))
    })
}
