//! What can go wrong between a program and a device.

use std::fmt;
use std::path::PathBuf;

use dispatch_runtime::Error;

/// Why a device did not do what it was asked.
///
/// ```
/// use kernels_cuda::{CudaError, Missing};
/// let error = CudaError::Unavailable(Missing::Driver);
/// assert!(error.to_string().starts_with("CUDA is not available: there is no driver"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CudaError {
    /// Something that computing needs is not there.
    Unavailable(Missing),
    /// A call of the driver failed.
    Driver {
        /// Which.
        call: &'static str,
        /// What the driver said.
        said: String,
    },
    /// A kernel ended as no kernel may, by an access to memory that is not there, say. The device does nothing more for this process.
    Broken {
        /// What the driver said.
        said: String,
        /// The kernels that were launched last, the last one first: one of them did it.
        launched: Vec<&'static str>,
    },
    /// The device has no block of memory of this size.
    OutOfMemory {
        /// How many bytes were asked for.
        asked: usize,
        /// How many it has in all.
        total: usize,
    },
    /// A kernel did not compile.
    Compile {
        /// Its name.
        kernel: &'static str,
        /// For which architecture.
        target: String,
        /// What the compiler said, with lines of the kernel's source.
        log: String,
    },
    /// A launch is larger than the device takes.
    Launch {
        /// The kernel's name.
        kernel: &'static str,
        /// Which of its templates.
        template: &'static str,
        /// What there is too much of.
        what: &'static str,
        /// How much.
        asked: u64,
        /// How much the device takes.
        most: u64,
    },
    /// A launch does not give the parameters that the kernel declares.
    Parameters {
        /// The kernel's name.
        kernel: &'static str,
        /// Which of its templates.
        template: &'static str,
        /// How many bytes each of the kernel's parameters has.
        takes: Vec<usize>,
        /// How many bytes each of the given values has.
        given: Vec<usize>,
    },
    /// What was compiled ahead cannot be kept.
    NotKept {
        /// Where it would be, if anywhere.
        folder: Option<PathBuf>,
        /// What the system said.
        said: String,
    },
    /// A kernel came upon a value that it cannot compute with, and computed something else.
    Fault {
        /// The operator and its argument.
        site: String,
        /// What is wrong with the value.
        problem: String,
    },
    /// A tensor is what a recording makes, and that was not replayed yet.
    NotReplayed,
    /// A tensor is not where the kernel runs.
    Elsewhere {
        /// Where it is.
        found: dispatch_runtime::Device,
        /// Where the kernel runs.
        expected: dispatch_runtime::Device,
    },
}

/// What a program needs to compute with CUDA.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Missing {
    /// NVIDIA's driver.
    Driver,
    /// A device of this number.
    Device {
        /// The number.
        asked: u8,
        /// How many there are.
        count: usize,
    },
    /// A device that kernels are compiled for.
    Architecture {
        /// That of the one there is.
        found: u32,
    },
    /// The run-time compiler.
    Compiler,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver => {
                f.write_str("there is no driver on this machine (libcuda.so, which comes with NVIDIA's driver)")
            }
            Self::Device { asked, count: 0 } => {
                write!(f, "there is a driver, and no device that could be cuda:{asked}")
            }
            Self::Device { asked, count } => {
                write!(f, "there is no cuda:{asked}; the last device is cuda:{}", count.saturating_sub(1))
            }
            Self::Architecture { found } => {
                write!(f, "the device is of sm_{found}, and kernels are for sm_80 and later ones")
            }
            Self::Compiler => f.write_str(
                "there is no run-time compiler (libnvrtc.so of CUDA 13); install the toolkit or the Python package \
                 `nvidia-cuda-nvrtc`, and name its folder in LD_LIBRARY_PATH",
            ),
        }
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(missing) => write!(f, "CUDA is not available: {missing}"),
            Self::Driver { call, said } => write!(f, "{call} failed: {said}"),
            Self::Broken { said, launched } => {
                write!(
                    f,
                    "a kernel broke, and the device does nothing more for this process: {said}; the last ones launched are {}; \
                     with CUDA_LAUNCH_BLOCKING=1 the call of its operator fails, and says which that is",
                    launched.join(", ")
                )
            }
            Self::OutOfMemory { asked, total } => {
                write!(
                    f,
                    "the device has no block of {asked} bytes left, of {total} in all; drop tensors, or use smaller batches"
                )
            }
            Self::Compile { kernel, target, log } => {
                write!(f, "the kernel `{kernel}` does not compile for {target}:\n{log}")
            }
            Self::Launch { kernel, template, what, asked, most } => {
                write!(
                    f,
                    "a launch of `{kernel}: {template}` asks for {asked} {what}, and the device takes {most}; use smaller tensors"
                )
            }
            Self::Parameters { kernel, template, takes, given } => {
                write!(
                    f,
                    "a launch of `{kernel}: {template}` gives parameters of {given:?} bytes, and the kernel takes {takes:?}; \
                     give values of the types that it declares"
                )
            }
            Self::NotKept { folder, said } => {
                let folder = folder.as_ref().map_or_else(String::new, |folder| format!(" in {}", folder.display()));
                write!(f, "compiled kernels cannot be kept{folder}: {said}; name a folder in OPDISPATCH_CUDA_CACHE")
            }
            Self::Fault { site, problem } => write!(f, "{site}: {problem}; found when the device was next waited for"),
            Self::NotReplayed => {
                f.write_str("a tensor of a recording holds nothing before the first replay; call `replay` first")
            }
            Self::Elsewhere { found, expected } => {
                write!(f, "a tensor is on {found}, and the kernel runs on {expected}; copy it there first, with `to`")
            }
        }
    }
}

impl std::error::Error for CudaError {}

impl From<Missing> for CudaError {
    fn from(missing: Missing) -> Self {
        Self::Unavailable(missing)
    }
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Self::kernel(error)
    }
}
