//! `_cuda_version`: the CUDA release of the library, which is none.

use dispatch_runtime::prelude::*;

/// Returns -1: the library has no CUDA kernels. Programs from PyTorch call this operator if they were exported with checks of the library.
///
/// ```
/// assert_eq!(dispatch_vision::_cuda_version()?, -1);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[op_def("torchvision::_cuda_version() -> int")]
pub fn _cuda_version() -> Result<i64> {
    Ok(-1)
}
