//! The CUDA backend: kernels of the standard operators for NVIDIA GPUs.
//!
//! It builds, links and registers its kernels on any machine. The driver, the device and the compiler are looked for when the first tensor
//! is allocated on `cuda`. If one of them is missing, the allocation returns [`CudaError::Unavailable`].
//!
//! ```
//! use dispatch_runtime::{Device, Spec, DType};
//! use kernels_cuda::CudaError;
//!
//! match Spec::contiguous(DType::F32, &[2]).on("cuda:0".parse::<Device>().unwrap()) {
//!     Ok(tensor) => println!("{tensor:?}"),
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! Kernels are CUDA C++ source text. Other crates declare and launch their own with [`Kernel`] and [`Launch`].
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod kernel;
#[macro_use]
mod engine;

mod compile;
mod device;
mod error;
mod families;
mod graph;
mod launch;
mod lock;

#[cfg(feature = "emulator")]
pub use device::emulator::{emulate, emulate_memory_limit, emulate_reverse_order};

pub use compile::ahead_of_time::load_all_kernels;
pub use compile::disk_cache::cache_folder;
pub use compile::nvrtc::{Code, CompileStatistics, compile_statistics, compiler_version};
pub use compile::source::{Instances, Source, cpp_type_name};
pub use device::caching_allocator::empty_cache;
pub use device::driver::{DeviceProperties, Grid};
pub use device::event::Event;
pub use device::fault::FaultSite;
pub use device::gpu::{device_count, device_properties, is_available};
pub use device::memory::{MemoryStats, memory_stats};
pub use device::stream::{Stream, StreamGuard};
pub use engine::cublaslt::allow_tf32;
pub use error::{CudaError, MissingRequirement};
pub use graph::Graph;
pub use kernel::{Kernel, kernel_sources};
pub use launch::{Arguments, DevicePointer, Launch, Parameter, WriteGuard};

/// The names that the modules of kernels import.
mod prelude {
    pub(crate) use dispatch_runtime::prelude::*;
    pub(crate) use dispatch_runtime::{BadArgument, DTypes, Dims, Geometry, MemoryFormat, Problem, Spec};

    pub(crate) use crate::device::driver::Grid;
    pub(crate) use crate::device::fault::FaultSite;
    pub(crate) use crate::engine::gather::fault_site;
    pub(crate) use crate::engine::scalars::{FLOATING_DTYPES, NUMERIC_DTYPES, check_dtype};
    pub(crate) use crate::engine::transfer::{contiguous, copy_into, to_device, with_contiguous_output};
    pub(crate) use crate::engine::walk::element_size;
    pub(crate) use crate::kernel::Kernel;
    pub(crate) use crate::launch::{DevicePointer, Launch, Parameter, define_parameters};
}

/// Items that this crate's macros expand to. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use inventory::submit;

    pub use crate::kernel::{Kernel, RegisteredKernel};
    pub use crate::register_kernel;
}
