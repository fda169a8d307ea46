//! Errors of the CUDA backend.

use std::fmt;
use std::path::PathBuf;

use dispatch_runtime::Error;

/// An error of the CUDA backend.
///
/// ```
/// use kernels_cuda::{CudaError, MissingRequirement};
/// let error = CudaError::Unavailable(MissingRequirement::Driver);
/// assert!(error.to_string().starts_with("CUDA is not available: this machine has no driver"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver, the device or the compiler is missing.
    Unavailable(MissingRequirement),
    /// A call of the driver failed.
    Driver {
        /// The name of the driver's function.
        call: &'static str,
        /// The driver's error.
        message: String,
    },
    /// A kernel crashed, by an access to an invalid address for example. The device runs nothing more for this process.
    KernelCrashed {
        /// The driver's error.
        message: String,
        /// The kernels that were launched last, most recent first. One of them crashed.
        launched: Vec<&'static str>,
    },
    /// The device has no free block of the requested size.
    OutOfMemory {
        /// The requested size in bytes.
        requested: usize,
        /// The device's memory in bytes.
        total: usize,
    },
    /// A kernel did not compile.
    Compile {
        /// The kernel's name.
        kernel: &'static str,
        /// The architecture that it was compiled for.
        target: String,
        /// The compiler's messages, with lines of the kernel's source.
        log: String,
    },
    /// A launch exceeds a limit of the device.
    LaunchLimit {
        /// The kernel's name.
        kernel: &'static str,
        /// The name of the kernel's template.
        template: &'static str,
        /// The exceeded quantity: threads, for example.
        quantity: &'static str,
        /// The requested amount.
        requested: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A launch passes arguments whose sizes differ from the parameters that the kernel declares.
    ParameterMismatch {
        /// The kernel's name.
        kernel: &'static str,
        /// The name of the kernel's template.
        template: &'static str,
        /// The size in bytes of each parameter that the kernel declares.
        expected: Vec<usize>,
        /// The size in bytes of each argument that the launch passed.
        passed: Vec<usize>,
    },
    /// Code that was compiled ahead of time cannot be written to disk.
    CacheWrite {
        /// The cache folder, or `None` if there is none.
        folder: Option<PathBuf>,
        /// The operating system's error.
        message: String,
    },
    /// A kernel found an invalid value in a tensor, an index out of range for example. Its result is not valid.
    InvalidValue {
        /// The operator and the argument that has the value.
        site: String,
        /// The reason why the value is invalid.
        problem: String,
    },
    /// A tensor was allocated in a recording that was not replayed yet, so it has no memory.
    NotReplayed,
    /// A tensor is not on the device that the kernel runs on.
    WrongDevice {
        /// The tensor's device.
        found: dispatch_runtime::Device,
        /// The kernel's device.
        expected: dispatch_runtime::Device,
    },
}

/// A requirement of the CUDA backend that is missing.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MissingRequirement {
    /// NVIDIA's driver.
    Driver,
    /// The device with this index.
    Device {
        /// The requested index.
        requested: u8,
        /// The number of devices.
        count: usize,
    },
    /// A device of a supported architecture: that of the device is older.
    Architecture {
        /// The device's architecture: 75 is `sm_75`.
        found: u32,
    },
    /// The run-time compiler, NVRTC.
    Compiler,
}

impl fmt::Display for MissingRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver => f.write_str("this machine has no driver (libcuda.so, which comes with NVIDIA's driver)"),
            Self::Device { requested, count: 0 } => {
                write!(f, "there is a driver, but no device cuda:{requested}")
            }
            Self::Device { requested, count } => {
                write!(f, "there is no cuda:{requested}; the last device is cuda:{}", count.saturating_sub(1))
            }
            Self::Architecture { found } => {
                write!(f, "the device has architecture sm_{found}, and kernels need sm_80 or later")
            }
            Self::Compiler => f.write_str(
                "the run-time compiler is missing (libnvrtc.so of CUDA 13); install the toolkit or the Python package \
                 `nvidia-cuda-nvrtc`, and name its folder in LD_LIBRARY_PATH",
            ),
        }
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(missing) => write!(f, "CUDA is not available: {missing}"),
            Self::Driver { call, message } => write!(f, "{call} failed: {message}"),
            Self::KernelCrashed { message, launched } => {
                write!(
                    f,
                    "a kernel crashed, and the device runs nothing more for this process: {message}; the last kernels launched are {}; \
                     run again with CUDA_LAUNCH_BLOCKING=1, so that the call of the operator itself fails",
                    launched.join(", ")
                )
            }
            Self::OutOfMemory { requested, total } => {
                write!(
                    f,
                    "the device has no free block of {requested} bytes, of {total} bytes in all; drop tensors, or use smaller batches"
                )
            }
            Self::Compile { kernel, target, log } => {
                write!(f, "the kernel `{kernel}` does not compile for {target}:\n{log}")
            }
            Self::LaunchLimit { kernel, template, quantity, requested, limit } => {
                write!(
                    f,
                    "a launch of `{kernel}: {template}` needs {requested} {quantity}, and the limit of the device is {limit}; use smaller tensors"
                )
            }
            Self::ParameterMismatch { kernel, template, expected, passed } => {
                write!(
                    f,
                    "a launch of `{kernel}: {template}` passes arguments of {passed:?} bytes, and the kernel declares parameters of {expected:?} bytes; \
                     pass values of the declared types"
                )
            }
            Self::CacheWrite { folder, message } => {
                let folder = folder.as_ref().map_or_else(String::new, |folder| format!(" in {}", folder.display()));
                write!(
                    f,
                    "compiled kernels cannot be written to disk{folder}: {message}; name a folder in OPDISPATCH_CUDA_CACHE"
                )
            }
            Self::InvalidValue { site, problem } => {
                write!(f, "{site}: {problem}; reported when the program next waited for the device")
            }
            Self::NotReplayed => {
                f.write_str("a tensor of a recorded graph has no elements before the first replay; call `replay` first")
            }
            Self::WrongDevice { found, expected } => {
                write!(f, "a tensor is on {found}, and the kernel runs on {expected}; copy it to that device with `to`")
            }
        }
    }
}

impl std::error::Error for CudaError {}

impl From<MissingRequirement> for CudaError {
    fn from(missing: MissingRequirement) -> Self {
        Self::Unavailable(missing)
    }
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::kernel(error)
    }
}
