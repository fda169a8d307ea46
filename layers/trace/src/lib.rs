//! Tracing: records the calls of a function as a graph, which can be printed, parsed, cleaned, fused, and run.
//!
//! [`trace`] runs a function once, and records each operator that it calls: operators of every crate, on every backend, with every other
//! layer. The layer is the key `Tracer`, above autograd. It is on for a thread while a function is traced, and costs nothing otherwise.
//!
//! ```
//! # use kernels_cpu as _;
//! use dispatch_runtime::prelude::*;
//! use dispatch_trace::{Graph, trace};
//!
//! # fn main() -> Result<()> {
//! let graph = trace(
//!     |x| {
//!         let mut y = aten::mul(&x[0], &x[0])?;
//!         aten::neg_(&mut aten::select_int(&y, 0, 0)?)?;      // a write through a view
//!         aten::add_(&mut y, &Tensor::number(1.into()), 1.into())?;
//!         Ok([y])
//!     },
//!     &[Tensor::from([2.0_f32, 3.0])],
//! )?;
//! let text = "\
//! fn graph(v0: f32[2]) {
//!     let v1: f32[2] = aten::mul(&v0, &v0);
//!     let v2: &'v1 f32[] = aten::select_int(&v1, 0, 0);
//!     aten::neg_(&mut v2);
//!     aten::add_(&mut v1, 1);
//!     [v1]
//! }
//! ";
//! assert_eq!(graph.to_string(), text);
//! assert_eq!(Graph::parse(text, graph.constants())?, graph);
//! assert_eq!(&*graph.run(&[Tensor::from([2.0_f32, 3.0])])?[0].read::<f32>()?, [-3.0, 10.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The model is that of PyTorch's exported programs. A [`Node`] has a target, inputs with the names of the schema (without those that have
//! the default value), and outputs. An [`Argument`] is of one of PyTorch's argument kinds. Unlike in PyTorch, values say with which value
//! they share memory (`&'v1`: with `v1`), and nodes say which [`Effects`] they have. [`Graph::clean`] relies on both.
#![forbid(unsafe_code)]

mod argument;
mod clean;
mod draw;
mod error;
mod fuse;
mod graph;
mod operator_paths;
mod parse;
mod print;
mod record;
mod run;
mod to_device;
mod verify;

pub use argument::{Argument, ValueId};
pub use error::TraceError;
pub use fuse::FusedGraph;
pub use graph::{Effects, Graph, NamedArgument, Node, ValueInfo};
pub use record::trace;
