//! Compiling ahead: all that a program could launch, for architectures that need not be here.

use std::sync::Mutex;

use dispatch_runtime::Device;

use crate::compile::disk_cache::cache_folder;
use crate::compile::nvrtc::{self, Code, Effort};
use crate::compile::source::Source;
use crate::device::gpu::Gpu;
use crate::error::CudaError;
use crate::kernel::registered;
use crate::lock::locked;

impl Source {
    /// Machine code of all of the kernel's instances, for an architecture (90 is `sm_90`). It needs NVRTC, and no device.
    ///
    /// ```
    /// let kernel = kernels_cuda::kernels().find(|kernel| kernel.name() == "mul").unwrap();
    /// match kernel.compile(90) {
    ///     Ok(code) => assert!(code.names.iter().any(|name| name.contains("packed"))),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Where there is no compiler, or the kernel does not compile.
    pub fn compile(&self, architecture: u32) -> Result<Code, CudaError> {
        nvrtc::compile(self, &self.expressions(), architecture, Effort::Full)
    }

    /// The same in a fraction of the time, for those who want to know whether it compiles: the code is slow.
    ///
    /// ```
    /// let kernel = kernels_cuda::kernels().find(|kernel| kernel.name() == "mul").unwrap();
    /// assert_eq!(kernel.compile_quickly(80).is_ok(), kernels_cuda::compiler_version().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`compile`](Self::compile).
    pub fn compile_quickly(&self, architecture: u32) -> Result<Code, CudaError> {
        nvrtc::compile(self, &self.expressions(), architecture, Effort::Quick)
    }

    /// Puts machine code of all of the kernel's instances on disk, for an architecture, and says how many of them were not there yet. It
    /// needs no device, and where all is there no NVRTC.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), kernels_cuda::CudaError> {
    /// for kernel in kernels_cuda::kernels() {
    ///     println!("{}: {} instances compiled", kernel.name(), kernel.prepare(90)?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Where there is no compiler, the kernel does not compile, or nothing can be written.
    pub fn prepare(&self, architecture: u32) -> Result<usize, CudaError> {
        let (_, missing) = nvrtc::kept(self, &self.expressions(), architecture);
        if !missing.is_empty() {
            let code = nvrtc::compile(self, &missing, architecture, Effort::Full)?;
            nvrtc::keep(self, &code, architecture)
                .map_err(|error| CudaError::NotKept { folder: cache_folder(), said: error.to_string() })?;
        }
        Ok(missing.len())
    }
}

/// Builds every kernel of the program for a device, on all processors, so that no call has to wait for the compiler. What is on disk from
/// before is not built again.
///
/// ```no_run
/// # fn main() -> dispatch_runtime::Result<()> {
/// kernels_cuda::prepare("cuda:0".parse().unwrap())?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Where there is no such device, no driver or no compiler, and where a kernel does not compile.
pub fn prepare(device: Device) -> Result<(), CudaError> {
    let gpu = Gpu::of(device)?;
    let waiting = Mutex::new(registered());
    let next = || locked(&waiting).next();
    let build = || std::iter::from_fn(next).try_for_each(|kernel| kernel.load_all(gpu));
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let builders: Vec<_> = (0..processors).map(|_| scope.spawn(build)).collect();
        builders.into_iter().try_for_each(|builder| builder.join().unwrap_or(Ok(())))
    })
}
