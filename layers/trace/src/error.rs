//! The errors of tracing, parsing, verifying and running graphs.

use std::fmt;

use dispatch_runtime::Error;

/// The reason why a graph could not be made or run. It is the `source` of the [`Error`] that the call returns.
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
    /// A traced function read the elements of a tensor, so its later calls could depend on them.
    DataDependent {
        /// The name of the operator that read the elements.
        operator: String,
    },
    /// An argument or result is of a kind that no graph can hold.
    UnsupportedValueKind {
        /// The name of the operator.
        operator: String,
        /// The name of the argument, or the index of the result.
        argument: String,
        /// The kind of its value.
        kind: &'static str,
    },
    /// A traced function wrote to a tensor from outside of the function.
    WriteToCaptured {
        /// The name of the operator.
        operator: String,
        /// The sizes of the tensor.
        sizes: Vec<i64>,
    },
    /// An operator used a tensor that was made inside of a recorded call, and is not a result of it.
    TensorFromInnerCall {
        /// The name of the operator that used the tensor.
        operator: String,
        /// The name of the operator that made the tensor.
        made_by: String,
    },
    /// A traced function called an operator on a thread that it started.
    CallOnOtherThread {
        /// The name of the operator.
        operator: String,
    },
    /// A tensor shares memory of a traced tensor with another dtype, and no operator made it.
    ViewWithOtherDType {
        /// The name of the operator that used the tensor.
        operator: String,
    },
    /// The same tensor was passed as two inputs.
    RepeatedInput {
        /// The index of the first input.
        first: usize,
        /// The index of the second input.
        second: usize,
    },
    /// A result of the function is a plain number and not a tensor.
    NumberAsOutput {
        /// The index of the result.
        output: usize,
    },
    /// An operator returned another dtype or other sizes than its Meta kernel.
    MetaMismatch {
        /// The name of the operator.
        operator: String,
        /// The index of the result.
        result: usize,
        /// The kind of tensor that Meta returned.
        planned: String,
        /// The kind of tensor that the operator returned.
        found: String,
    },
    /// A run got more or fewer inputs than the graph has.
    WrongInputCount {
        /// The number of inputs of the graph.
        expected: usize,
        /// The number of inputs of the run.
        found: usize,
    },
    /// A run got an input of another dtype or other sizes than the traced one.
    InputMismatch {
        /// The index of the input.
        input: usize,
        /// The kind of the traced input.
        expected: String,
        /// The kind of the given input.
        found: String,
    },
    /// The result of a node differs in dtype or sizes from the graph.
    ResultMismatch {
        /// The name of the operator.
        operator: String,
        /// The name of the value.
        value: String,
        /// The kind of the value in the graph.
        expected: String,
        /// The kind of tensor that the operator returned.
        found: String,
    },
    /// A node does not match its operator's schema, or uses a value before it is defined.
    InvalidNode {
        /// The index of the node.
        node: usize,
        /// The name of the node's operator.
        operator: String,
        /// The description of the mistake.
        problem: String,
    },
    /// A text is not a valid graph.
    SyntaxError {
        /// The line of the mistake, counted from 1.
        line: usize,
        /// The column of the mistake, counted from 1.
        column: usize,
        /// The text of the line with the mistake.
        source: String,
        /// The number of characters that the mistake covers.
        length: usize,
        /// The description of the mistake.
        problem: String,
    },
    /// A tensor for a constant has another dtype or other sizes than the text says.
    ConstantMismatch {
        /// The index of the constant.
        constant: usize,
        /// The kind of the constant in the text.
        expected: String,
        /// The kind of the given tensor.
        found: String,
    },
    /// The number of given tensors differs from the number of constants in the text.
    WrongConstantCount {
        /// The number of constants in the text.
        expected: usize,
        /// The number of given tensors.
        found: usize,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DataDependent { operator } => write!(
                f,
                "`{operator}` reads elements while a function is traced, but a graph cannot depend on elements; compute with tensors \
                 (`aten::where`, `aten::masked_fill`), or read before or after the trace"
            ),
            Self::UnsupportedValueKind { operator, argument, kind } => {
                write!(
                    f,
                    "`{argument}` of `{operator}` has the kind {kind}, which a graph cannot hold; leave it out, or call the operator outside of \
                     the trace"
                )
            }
            Self::WriteToCaptured { operator, sizes } => write!(
                f,
                "`{operator}` writes to a tensor of sizes {sizes:?} from outside of the traced function, so each run would change it for the \
                 next run; pass it as an input, or write to a copy (`aten::clone`)"
            ),
            Self::TensorFromInnerCall { operator, made_by } => write!(
                f,
                "`{operator}` uses a tensor that `{made_by}` made inside of another recorded call, so the graph does not have it; trace only the \
                 forward pass, and differentiate a run of the graph"
            ),
            Self::CallOnOtherThread { operator } => write!(
                f,
                "`{operator}` is called on a thread that the traced function started, where calls are not recorded; call it on the function's \
                 own thread"
            ),
            Self::ViewWithOtherDType { operator } => {
                write!(
                    f,
                    "an argument of `{operator}` has the memory of a traced tensor, but another dtype; use `aten::view_dtype`"
                )
            }
            Self::RepeatedInput { first, second } => {
                write!(
                    f,
                    "inputs {first} and {second} are the same tensor, so the trace cannot distinguish them; pass it once, or pass a clone"
                )
            }
            Self::NumberAsOutput { output } => {
                write!(f, "result {output} is not a tensor, but a plain number; return a tensor that an operator made")
            }
            Self::MetaMismatch { operator, result, planned, found } => {
                write!(
                    f,
                    "result {result} of `{operator}` is {found}, and on Meta {planned}; its kernel or its `#[op_meta]` is wrong"
                )
            }
            Self::WrongInputCount { expected, found } => write!(f, "the graph takes {expected} inputs, not {found}"),
            Self::InputMismatch { input, expected, found } => {
                write!(
                    f,
                    "input {input} was traced as {expected}, and is {found}; trace the function again for this input"
                )
            }
            Self::ResultMismatch { operator, value, expected, found } => {
                write!(f, "`{operator}` returned {found} for {value}, which is {expected} in the graph")
            }
            Self::InvalidNode { node, operator, problem } => write!(f, "node {node}, `{operator}`: {problem}"),
            Self::SyntaxError { line, column, source, length, problem } => {
                let (margin, space) = (line.to_string(), " ".repeat(column - 1));
                let bar = " ".repeat(margin.len());
                write!(f, "{problem}\n{bar} |\n{margin} | {source}\n{bar} | {space}{}", "^".repeat((*length).max(1)))
            }
            Self::ConstantMismatch { constant, expected, found } => {
                write!(f, "constant {constant} is {expected} in the text, and the tensor for it is {found}")
            }
            Self::WrongConstantCount { expected, found } => {
                write!(
                    f,
                    "the text has {expected} constants, but {found} tensors were passed; pass one for each `const`, in order"
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
