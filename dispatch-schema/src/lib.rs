//! The operator language: what an operator is called, what it takes, what it gives, and which memory they share.
//!
//! ```
//! use dispatch_schema::{Schema, SchemaKind};
//!
//! let schema = Schema::parse("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")?;
//! assert_eq!(schema.kind(), SchemaKind::Out);
//! assert_eq!(schema.written_return(0), Some(3)); // the return is the fourth argument
//! # Ok::<(), dispatch_schema::SyntaxErrors>(())
//! ```
//!
//! # The language
//!
//! A declaration is a name, arguments in parentheses, an arrow, and returns. The language is PyTorch's, so that its
//! operators can be taken over as they are written there.
//!
//! * **Name**: `namespace::base.overload`. Namespace and overload may be missing.
//! * **Argument**: a type, a name, and perhaps `=` and a default. After `*`, arguments can only be given by name. `...` at
//!   the end lets any number of further values follow.
//! * **Returns**: a type, perhaps with a name; or several in parentheses; `()` for none; `...` for any number.
//! * **Type**: a word ([`TypeKind`]), then suffixes: `?` for optional, `[]` for a list, `[N]` for a list that is usually of
//!   length N. Compound types are `(A, B)`, `Dict(K, V)`, `Future(T)`, `Await(T)`, `RRef(T)` and `Union(A, B)`. A word in
//!   lower case that is near to no type is a type variable.
//! * **Alias annotation**: directly after the word or the `[]` it speaks of. See [`Alias`]. `Tensor!` is short for a
//!   written set of its own, and becomes `Tensor(a!)` with the first letter that the schema does not use.
//! * **Default**: a literal that is a value of the argument's type. See [`DefaultValue`].
//!
//! White space and newlines are free, `#` begins a comment.
//!
//! # Different from PyTorch on purpose
//!
//! * A default must fit its type: `int x="a"`, `Tensor x=None` and `int[2] x=[1, 2, 3]` are errors.
//! * Numbers mean what they say: `int x=0x10` and `int[2.5]`, which PyTorch reads as 0 and 2, are errors, and the smallest
//!   floats (`5e-324`) are floats.
//! * Two arguments cannot have the same name.
//! * Canonical text always parses back: devices are quoted, `-0.` keeps its sign, `int[] x=[0, 0]` is not shortened to a
//!   text that means something else, and the sets of an annotation stand in alphabetical order.
//! * Annotations inside `Dict`, tuples and unions are kept.
//! * `inf`, `-inf` and `nan` can be written, as can lists for `T[]?` and complex numbers with both parts.
//! * A misspelt type in lower case is an error and not a type variable.
#![forbid(unsafe_code)]

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

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
pub use query::{Position, SchemaKind, View};
pub use rust_type::{rust_argument, rust_function, rust_result};
pub use schema::{Argument, Declaration, Return, Schema};
pub use suggest::suggest;
pub use token::{Token, TokenKind, lex};
pub use ty::{Type, TypeKind};
