//! Inspector of the operators of a program: their definitions, their tables, and the kernel that a call reaches.
//!
//! An application that is to answer questions about its own operators adds a program of one line:
//!
//! ```no_run
//! use std::process::ExitCode;
//! // use {my_operators as _, my_backend as _};
//!
//! fn main() -> ExitCode {
//!     dispatch_inspect::main()
//! }
//! ```
//!
//! Each answer is a value that can be serialised - an [`OperatorInfo`], a table of [`Cell`]s, a [`CallExplanation`], a [`WhatIf`], a
//! [`Coverage`] - and converted to text. The runtime makes the tables and explains the calls; this crate only asks it.
//!
//! ```
//! use dispatch_runtime::prelude::*;
//!
//! #[op_def("halve(Tensor self) -> Tensor")]
//! pub fn halve(this: &Tensor) -> Result<Tensor>;
//!
//! #[op_impl(halve, CPU)]
//! fn halve_cpu(this: &Tensor) -> Tensor { this.clone() }
//!
//! let explanation = dispatch_inspect::CallExplanation::for_call(halve::operator(), &["cpu,f32".to_owned()]).unwrap();
//! assert_eq!(explanation.winner.unwrap().name, "halve_cpu");
//! ```
#![forbid(unsafe_code)]

mod call_arguments;
mod call_explanation;
mod cell;
mod command;
mod command_line;
mod coverage;
mod doc_comment;
mod docs;
mod failure;
mod find_operator;
mod guards;
mod operator_info;
mod output;
mod page;
mod specific_kernel_kind;
mod text;
mod what_if;

pub use call_explanation::CallExplanation;
pub use cell::{Cell, Kernel, KernelKind, SourceLocation, table_cells};
pub use command::Command;
pub use command_line::{RunCommand, main, main_with_commands, run};
pub use coverage::{Coverage, CoverageRow};
pub use docs::documentation_pages;
pub use failure::Failure;
pub use find_operator::{find_operator, matching_operators};
pub use guards::Guards;
pub use operator_info::{Derivative, OperatorInfo};
pub use output::{CommandOutcome, Output};
pub use page::html_page;
pub use text::{Style, schema_list, table_text};
pub use what_if::{CellChange, WhatIf};

/// The parser of command lines, for programs with further commands: see [`RunCommand`].
pub use clap;
