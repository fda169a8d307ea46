//! The CUDA backend: the standard operators on NVIDIA's devices.
//!
//! It builds, links and registers its kernels on any machine. Driver, device and compiler are looked for when the first tensor is put on
//! `cuda`, and what is missing is one error, [`CudaError::Unavailable`].
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
//! Kernels are CUDA C++, in text; [`Kernel`] and [`Launch`] are how other crates bring theirs.

#[macro_use]
mod kernel;
#[macro_use]
mod elementwise;

mod activation;
mod ahead;
mod arithmetic;
mod attention;
mod bags;
mod bounds;
mod cache;
mod chance;
mod choice;
mod columns;
mod comparison;
mod compiler;
mod convolution;
mod copying;
mod counting;
mod ctc;
mod cublaslt;
mod distance;
mod distinct;
mod division;
#[cfg(feature = "emulator")]
mod emulator;
mod error;
mod event;
mod factory;
mod fault;
mod fingerprint;
mod flash;
mod gemm;
mod gpu;
mod gradients;
mod graph;
mod grid;
mod images;
mod index;
mod join;
mod launch;
mod line;
mod lock;
mod logic;
mod loss;
mod machine;
mod mask;
mod meet;
mod memory;
mod moves;
mod normalization;
mod number;
mod nvidia;
mod order;
mod pads;
mod picks;
mod pinned;
mod pooling;
mod prefix;
mod product;
mod recent;
mod reduce;
mod reduction;
mod rounding;
mod scan;
mod scatter;
mod search;
mod segments;
mod sequence;
mod shelf;
mod softmax;
mod sort;
mod source;
mod special;
mod stream;
mod unary;
mod upsample;
mod users;
mod walk;

#[cfg(feature = "emulator")]
pub use emulator::{emulate, emulate_backwards, emulate_memory};

pub use ahead::prepare;
pub use cache::cache_folder;
pub use compiler::{Code, Compiled, compiled, compiler_version};
pub use cublaslt::allow_tf32;
pub use error::{CudaError, Missing};
pub use event::Event;
pub use fault::Site;
pub use gpu::{count, is_available, properties};
pub use graph::Graph;
pub use kernel::{Kernel, kernels};
pub use launch::{Arguments, Launch, Parameter, Place, Writing};
pub use machine::{Grid, Properties};
pub use memory::{Memory, memory};
pub use shelf::empty_cache;
pub use source::{Instances, Source, element};
pub use stream::{Entered, Stream};

/// The names that modules with kernels use.
mod prelude {
    pub(crate) use dispatch_runtime::prelude::*;
    pub(crate) use dispatch_runtime::{BadArgument, DTypes, Dims, Geometry, MemoryFormat, Problem, Spec};

    pub(crate) use crate::copying::{brought, computed_contiguous, packed, write};
    pub(crate) use crate::fault::Site;
    pub(crate) use crate::kernel::Kernel;
    pub(crate) use crate::launch::{Launch, Parameter, Place, parameters};
    pub(crate) use crate::machine::Grid;
    pub(crate) use crate::number::{FLOATING, NUMBERS, check_dtype};
    pub(crate) use crate::picks::site;
    pub(crate) use crate::walk::element_size;
}

/// What macros of this crate expand to. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use inventory::submit;

    pub use crate::kernel::Known;
}
