//! The descriptions of values in a program: dtypes and sizes, as torch.export recorded them.

use std::fmt;

use dispatch_runtime::DType;

use crate::expression::{Expression, Quantity};
use crate::format::{self, Graph, SymNumber, TensorMeta};

/// The description of a value. Its text is short, such as `float32[s0, 4*s1]`.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::{Program, RecordedValue};
/// use dispatch_runtime::DType;
///
/// let program = Program::load("tests/programs/mlp.pt2")?;
/// let node = &program.nodes()[0];
/// let RecordedValue::Tensor { dtype, .. } = node.results[0].recorded else { panic!("the result is no tensor") };
/// assert_eq!(*dtype, Some(DType::F32));
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RecordedValue {
    /// A tensor.
    Tensor {
        /// The dtype. `None` is a dtype that the runtime does not have.
        dtype: Option<DType>,
        /// The size of each dimension.
        sizes: Vec<Expression>,
        /// The stride of each dimension, in elements.
        strides: Vec<Expression>,
    },
    /// A number of Python: an integer, a floating-point number or a truth value.
    Number(Expression),
    /// The file has no description of the value.
    Absent,
}

impl RecordedValue {
    /// Returns the description of a value in a graph.
    pub(crate) fn of(graph: &Graph, name: &str) -> Self {
        if let Some(meta) = graph.tensor_values.get(name) {
            return Self::from(meta);
        }
        let numbers = [&graph.sym_int_values, &graph.sym_bool_values, &graph.sym_float_values];
        let number = numbers.iter().find_map(|values| values.get(name));
        number.map_or(Self::Absent, |number| Self::Number(number.into()))
    }

    /// Returns the symbols in the sizes or in the number.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = &str> {
        let expressions = match self {
            Self::Tensor { sizes, .. } => sizes.as_slice(),
            Self::Number(expression) => std::slice::from_ref(expression),
            Self::Absent => &[],
        };
        expressions.iter().flat_map(Expression::symbols)
    }
}

impl From<&TensorMeta> for RecordedValue {
    fn from(meta: &TensorMeta) -> Self {
        let expressions = |numbers: &[SymNumber]| numbers.iter().map(Expression::from).collect();
        Self::Tensor {
            dtype: format::dtype_of_id(meta.dtype),
            sizes: expressions(&meta.sizes),
            strides: expressions(&meta.strides),
        }
    }
}

impl From<&SymNumber> for Expression {
    fn from(number: &SymNumber) -> Self {
        match number {
            SymNumber::Int(value) => Self::number(Quantity::integer(*value)),
            SymNumber::Float(value) => Self::number(Quantity::Float(value.0)),
            SymNumber::Bool(value) => Self::number(Quantity::Bool(*value)),
            SymNumber::Expression(expression) => Self::parse(&expression.expr_str),
        }
    }
}

impl fmt::Display for RecordedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("?"),
            Self::Number(number) => number.fmt(f),
            Self::Tensor { dtype, sizes, .. } => {
                match dtype {
                    Some(dtype) => write!(f, "{dtype}[")?,
                    None => f.write_str("?[")?,
                }
                for (at, size) in sizes.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    size.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}
