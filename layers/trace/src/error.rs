//! What can go wrong while a graph is made, read or run.

use std::fmt;

use dispatch_runtime::Error;

/// Why there is no graph, or why one does not run. It is the `source` of the [`Error`] that a call gives.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::Tensor;
/// use dispatch_trace::{TraceError, trace};
///
/// let error = trace(|x| Ok([(&x[0] * x[0].item::<f32>()?)?]), &[Tensor::from([2.0_f32])]).unwrap_err();
/// let source = std::error::Error::source(&error).unwrap();
/// assert!(matches!(source.downcast_ref(), Some(TraceError::DataDependent { operator }) if operator == "aten::item"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// A function asked for the elements of a tensor, so that what it does next could depend on them.
    DataDependent {
        /// The operator that it asked.
        operator: String,
    },
    /// An argument or result that no graph can hold.
    Unrecordable {
        /// The operator.
        operator: String,
        /// The argument, or the result by its number.
        argument: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A tensor from outside was written to.
    OutsideWritten {
        /// The operator.
        operator: String,
        /// Its sizes.
        sizes: Vec<i64>,
    },
    /// A tensor that was made inside of a recorded call, and is no result of it, is used by another.
    Hidden {
        /// The operator that was given it.
        operator: String,
        /// The operator that made it.
        made_by: String,
    },
    /// An operator was called on a thread that the function started.
    OtherThread {
        /// The operator.
        operator: String,
    },
    /// A tensor shows memory of a traced one as another dtype, and no operator made it.
    Reinterpreted {
        /// The operator that was given it.
        operator: String,
    },
    /// One tensor was given as two inputs.
    RepeatedInput {
        /// The first of them.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A result that no operator made, and that is no input.
    ForeignOutput {
        /// Which one.
        output: usize,
    },
    /// An operator gave something else than its Meta kernel says.
    Unplanned {
        /// The operator.
        operator: String,
        /// The result, by its number.
        result: usize,
        /// What Meta says.
        planned: String,
        /// What it gave.
        found: String,
    },
    /// A run with more or fewer inputs than the graph has.
    InputCount {
        /// How many the graph has.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A run with an input of another dtype or other sizes than was traced.
    Input {
        /// Which one.
        input: usize,
        /// What was traced.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A node's operator gave something else than the graph says.
    Result {
        /// The operator.
        operator: String,
        /// The value.
        value: String,
        /// What the graph says.
        expected: String,
        /// What it gave.
        found: String,
    },
    /// A node does not fit its operator's schema, or uses a value that is not there yet.
    Node {
        /// Which one, counted from 0.
        node: usize,
        /// Its operator.
        operator: String,
        /// What is wrong.
        problem: String,
    },
    /// A text is no graph.
    Text {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The line's text.
        source: String,
        /// How many characters the mistake is long.
        length: usize,
        /// What is wrong.
        problem: String,
    },
    /// A tensor for a constant is of another dtype or other sizes than the text says.
    Constant {
        /// Which one.
        constant: usize,
        /// What the text says.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A text has more or fewer constants than there are tensors for.
    ConstantCount {
        /// How many the text has.
        expected: usize,
        /// How many there were.
        found: usize,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DataDependent { operator } => write!(
                f,
                "`{operator}` reads elements while a function is traced: a graph would do for ever what these elements say; compute with \
                 tensors (`aten::where`, `aten::masked_fill`), or read before or after"
            ),
            Self::Unrecordable { operator, argument, kind } => {
                write!(
                    f,
                    "`{argument}` of `{operator}` is of the kind {kind}, which a graph cannot hold; leave it out, or call it outside"
                )
            }
            Self::OutsideWritten { operator, sizes } => write!(
                f,
                "`{operator}` writes to a tensor of sizes {sizes:?} that is no input and that no traced operator made, so every run would find \
                 it as the last one left it; give it as an input, or write to a copy (`aten::clone`)"
            ),
            Self::Hidden { operator, made_by } => write!(
                f,
                "`{operator}` is given what `{made_by}` made inside of another operator that was recorded as a whole, so the graph does not \
                 have it; trace the forward alone, and differentiate its run"
            ),
            Self::OtherThread { operator } => write!(
                f,
                "`{operator}` is called on a thread that the traced function started, where nobody records it; call it on the function's own"
            ),
            Self::Reinterpreted { operator } => {
                write!(
                    f,
                    "an argument of `{operator}` shows the memory of a traced tensor as another dtype; use `aten::view_dtype`"
                )
            }
            Self::RepeatedInput { first, second } => {
                write!(
                    f,
                    "inputs {first} and {second} are one tensor, so nothing tells them apart; give it once, or a clone"
                )
            }
            Self::ForeignOutput { output } => {
                write!(f, "result {output} is not a tensor, but a plain number; give a tensor that an operator made")
            }
            Self::Unplanned { operator, result, planned, found } => {
                write!(
                    f,
                    "result {result} of `{operator}` is {found}, and on Meta {planned}; its kernel or its `#[op_meta]` is wrong"
                )
            }
            Self::InputCount { expected, found } => write!(f, "the graph takes {expected} inputs, not {found}"),
            Self::Input { input, expected, found } => {
                write!(f, "input {input} was traced as {expected}, and is {found}; trace again for this one")
            }
            Self::Result { operator, value, expected, found } => {
                write!(f, "`{operator}` gave {found} for {value}, which the graph says is {expected}")
            }
            Self::Node { node, operator, problem } => write!(f, "node {node}, `{operator}`: {problem}"),
            Self::Text { line, column, source, length, problem } => {
                let (margin, space) = (line.to_string(), " ".repeat(column - 1));
                let bar = " ".repeat(margin.len());
                write!(f, "{problem}\n{bar} |\n{margin} | {source}\n{bar} | {space}{}", "^".repeat((*length).max(1)))
            }
            Self::Constant { constant, expected, found } => {
                write!(f, "constant {constant} is {expected} in the text, and the tensor for it is {found}")
            }
            Self::ConstantCount { expected, found } => {
                write!(
                    f,
                    "the text has {expected} constants, and there are tensors for {found}; give one for each `const`, in order"
                )
            }
        }
    }
}

impl std::error::Error for TraceError {}

impl From<TraceError> for Error {
    #[cold]
    fn from(error: TraceError) -> Self {
        Self::kernel(error)
    }
}
