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
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    clippy::cast_precision_loss,
    clippy::elidable_lifetime_names,
    clippy::float_cmp,
    clippy::format_push_string,
    clippy::many_single_char_names,
    clippy::match_same_arms,
    clippy::needless_for_each,
    clippy::needless_pass_by_value,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::option_option,
    clippy::or_fun_call,
    clippy::precedence,
    clippy::redundant_closure,
    clippy::redundant_closure_for_method_calls,
    clippy::ref_option_ref,
    clippy::semicolon_if_nothing_returned,
    clippy::similar_names,
    clippy::single_match_else,
    clippy::struct_field_names,
    clippy::use_self,
    clippy::manual_range_contains,
    clippy::doc_markdown,
    clippy::trivially_copy_pass_by_ref,
    reason = "lints of style, to be resolved one by one"
)]

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
