//! Programs of `torch.export`: a `.pt2` file is read, run and trained without PyTorch.
//!
//! An application names this crate `opdispatch::pt2`, with the feature `pt2`.
//!
//! ```python
//! # In Python:
//! program = torch.export.export(model, (x,))
//! torch.export.save(program, "model.pt2")
//! ```
//!
//! ```
//! # use kernels_cpu as _;
//! use dispatch_pt2::Program;
//! use dispatch_runtime::Tensor;
//!
//! # fn main() -> dispatch_runtime::Result<()> {
//! let program = Program::load("tests/programs/mlp.pt2")?;
//! let logits = program.run(Tensor::from([[0.5_f32, -1.0, 2.0, 0.0]]))?;
//! assert_eq!(logits.as_tensor().unwrap().sizes(), [1, 2]);
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code)]

mod archive;
mod check;
mod constraints;
mod error;
mod expression;
mod format;
mod inputs;
mod json;
mod prepare;
mod program;
mod recorded;
mod run;
mod tree;
mod weights;

pub use archive::Archive;
pub use check::{CheckReport, Finding};
pub use error::{NodeProblem, PayloadProblem, Pt2Error, Pt2Problem, UnknownOperator};
pub use expression::Expression;
pub use inputs::Inputs;
pub use program::{MemoryReport, Program, ProgramNode, ProgramValue};
pub use recorded::RecordedValue;
pub use tree::Tree;
