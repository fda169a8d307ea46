//! PyTorch's operator dispatcher, rebuilt for Rust: annotate a function, get a dispatched operator.
//!
//! This is the crate that an application depends on. It re-exports [`dispatch_runtime`], where everything is explained; authors of
//! operators and kernels depend on that one directly.
//!
//! ```
//! use opdispatch::prelude::*;
//!
//! #[op_def("double(Tensor self) -> Tensor")]
//! pub fn double(this: &Tensor) -> Result<Tensor>;
//!
//! #[op_impl(double, CPU)]
//! fn double_cpu(this: &Tensor) -> Result<Tensor> {
//!     Ok(Tensor::from_slice(&this.read::<f32>()?.iter().map(|x| x * 2.0).collect::<Vec<f32>>()))
//! }
//!
//! # fn main() -> Result<()> {
//! assert_eq!(&*double(&Tensor::from_slice(&[1.5_f32]))?.read::<f32>()?, [3.0]);
//! # Ok(())
//! # }
//! ```

pub use dispatch_runtime::*;

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
