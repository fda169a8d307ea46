//! The loops of this backend, for kernels of other crates.
//!
//! A kernel says what to compute, and a function of this module does the rest: broadcasting, strides, conversion, threads, and the
//! instruction set. `opdispatch::backend::cpu` is this module.
//!
//! | function | computes | a result of its own | into a given tensor |
//! |---|---|---|---|
//! | of elements | each element from those at the same position of the inputs | [`map`] | [`map_into`] |
//! | of rows | a row from rows of the inputs | [`map_rows`] | [`map_rows_into`] |
//! | of a reduction | one value from many elements, in any order | [`reduce`] | [`reduce_into`] |
//!
//! Kernels with a [plan](dispatch_runtime::Plan) use the last column: the plan has made the result. [`elements`] lends a whole tensor as a
//! slice, [`sum`] adds up a row, and [`parallel_for`], [`parallel_each`] and [`parallel_chunks`] divide any other work among the threads of
//! the backend. [`gemm`] multiplies matrices.
//!
//! ```
//! use dispatch_runtime::BadArgument;
//! use dispatch_runtime::prelude::*;
//! use kernels_cpu::engine as cpu;
//!
//! /// Divides each row of the last dimension by the root of its mean square, and multiplies it by `weight`.
//! #[op_def("scaled_rows(Tensor self, Tensor weight, float eps=1e-6) -> Tensor")]
//! pub fn scaled_rows(this: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor>;
//!
//! #[op_impl(scaled_rows, CPU, dtypes(floating))]
//! fn scaled_rows_cpu<T: cpu::Float>(this: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
//!     // `zip` stops at the shorter row, so a shorter weight would leave elements unwritten.
//!     let row_sizes = &this.sizes()[this.sizes().len().saturating_sub(1)..];
//!     if weight.sizes() != row_sizes {
//!         return Err(BadArgument::sizes("weight", weight.sizes(), row_sizes).into());
//!     }
//!     let weight = cpu::elements::<T::Compute>(weight)?;
//!     cpu::map_rows([this], &[-1], |[row]: [&[T::Compute]; 1], out| {
//!         let scale = (cpu::sum(row, |x| x * x) / row.len() as f64 + eps).sqrt().recip();
//!         let scale = T::Compute::from_f64(scale);
//!         for ((out, &x), &weight) in out.iter_mut().zip(row).zip(&*weight) {
//!             *out = x * scale * weight;
//!         }
//!     })
//! }
//!
//! # fn main() -> Result<()> {
//! let (x, weight) = (Tensor::from([[3.0, 3.0], [-5.0, 5.0]]), Tensor::from([1.0, 2.0]));
//! let y = scaled_rows(&x, &weight, 0.0)?.to_vec::<f64>()?;
//! assert_eq!(y, [1.0, 2.0, -1.0, 2.0]);
//! assert!(scaled_rows(&x, &Tensor::from([1.0]), 0.0).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # Types
//!
//! The types of a closure's arguments decide what is computed. Inputs of any other dtype are converted to them, a block at a time. A kernel
//! with `dtypes(floating)` is generic over [`Float`], and computes in `T::Compute`: this is `f32` for the 16-bit floats, because one
//! rounding at the end is faster and more accurate than one after each operation.
//!
//! # Vector instructions
//!
//! Closures are compiled for each instruction set, and one of them is chosen at run time. This includes all code that the compiler
//! inlines into the closure: the operators, and the functions of [`Real`]. In code that is generic over `T: Float`, `x.exp()` is such a
//! function, with `use kernels_cpu::engine::Real`. For a concrete `f32`, it is the standard library's, which has no vector form; write
//! `Real::exp(x)`. Write `#[inline(always)]`
//! before a long closure, such as one of [`map_rows`] with several loops.

mod elements;
mod float;
mod map;
mod parallel;
mod reduce;
mod rows;

pub use crate::gemm;
pub use crate::math::{Real, vectorised};
pub use crate::thread_pool::{num_threads, parallel_each, parallel_for, set_num_threads};
pub use elements::{ElementsInOrder, elements};
pub use float::Float;
pub use map::{map, map_into};
pub use parallel::parallel_chunks;
pub use reduce::{reduce, reduce_into};
pub use rows::{map_rows, map_rows_into, sum};

/// The names of inputs in errors. A loop does not know the names that the operator has for them.
const INPUT_NAMES: [&str; 4] = ["operand 0", "operand 1", "operand 2", "operand 3"];

#[cfg(test)]
mod tests;
