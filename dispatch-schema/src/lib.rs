//! The operator language: schemas, which declare an operator's name, arguments, returns, and which of them share memory.
//!
//! ```
//! use dispatch_schema::{Schema, SchemaKind};
//!
//! let schema = Schema::parse("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")?;
//! assert_eq!(schema.kind(), SchemaKind::Out);
//! assert_eq!(schema.written_argument_of_return(0), Some(3)); // the return is the fourth argument
//! # Ok::<(), dispatch_schema::SyntaxErrors>(())
//! ```
//!
//! # The language
//!
//! A declaration is a name, arguments in parentheses, an arrow, and returns. The language is PyTorch's, so that PyTorch's schemas can be
//! copied unchanged.
//!
//! * **Name**: `namespace::base.overload`. Namespace and overload may be missing.
//! * **Argument**: a type, a name, and optionally `=` and a default. Arguments after `*` are keyword-only. `...` at the end allows any
//!   number of further values.
//! * **Returns**: a type, optionally with a name; or several in parentheses; `()` for none; `...` for any number.
//! * **Type**: a word ([`TypeKind`]), then suffixes: `?` for an optional, `[]` for a list, `[N]` for a list that usually has length N.
//!   Compound types are `(A, B)`, `Dict(K, V)`, `Future(T)`, `Await(T)`, `RRef(T)` and `Union(A, B)`. A lower-case word that is not similar
//!   to any type is a type variable.
//! * **Alias annotation**: directly after the word or the `[]` that it annotates. See [`Alias`]. `Tensor!` is short for a written set that
//!   no other value has. It becomes `Tensor(a!)`, with the first letter that the schema does not use.
//! * **Default**: a literal that is a value of the argument's type. See [`DefaultValue`].
//!
//! White space and newlines separate tokens and mean nothing else. `#` begins a comment.
//!
//! # Intended differences from PyTorch
//!
//! * A default must fit its type: `int x="a"`, `Tensor x=None` and `int[2] x=[1, 2, 3]` are errors.
//! * Numbers are not truncated: `int x=0x10` is 16 and `int[2.5]` is an error (PyTorch parses them as 0 and `int[2]`), and the smallest
//!   floats (`5e-324`) are floats.
//! * Two arguments cannot have the same name.
//! * Canonical text always parses back: devices are quoted, `-0.` keeps its sign, `int[] x=[0, 0]` is not shortened to a text with another
//!   meaning, and the sets of an annotation are in alphabetical order.
//! * Annotations inside `Dict`, tuples and unions are kept.
//! * `inf`, `-inf` and `nan` can be written, and also lists for `T[]?` and complex numbers with both parts.
//! * A misspelt type in lower case is an error and not a type variable.
#![forbid(unsafe_code)]

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct ReadmeDoctests;

mod alias;
mod compat;
mod default;
mod error;
mod name;
mod parse;
mod print;
mod query;
mod rust_type;
mod schema;
mod suggest;
mod token;
mod ty;

pub use alias::Alias;
pub use compat::{Change, Incompatibility};
pub use default::DefaultValue;
pub use error::{AliasProblem, NumberProblem, StringProblem, SyntaxError, SyntaxErrorKind, SyntaxErrors, TypeProblem};
pub use name::{OperatorName, is_identifier};
pub use query::{SchemaKind, ValuePosition, View};
pub use rust_type::{rust_argument_type, rust_function_type, rust_result_type};
pub use schema::{Argument, Declaration, Return, Schema};
pub use suggest::suggest;
pub use token::{Token, TokenKind, lex};
pub use ty::{Type, TypeKind};
