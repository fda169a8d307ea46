//! Compiling ahead: all that a program could launch, for architectures that need not be here.

use crate::compiler::{self, Code};
use crate::error::CudaError;
use crate::kernel::Kernel;

impl Kernel {
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
        compiler::compile(self.unit(), &self.expressions(), architecture)
    }
}
