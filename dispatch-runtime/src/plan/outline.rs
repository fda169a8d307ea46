//! The contract of an operator in a word.
//!
//! A shape word is a plan that the definition makes, and data on the operator: layers that map over dimensions or count operations read
//! it. It says how sizes come about and, by its [`Promotion`], the dtype.

use super::contraction::product;
use super::pointwise::{Part, pointwise};
use super::reduction::{Listed, reduction};
use crate::error::{ErrorKind, Result};
use crate::operator::Operator;
use crate::scalar::DType;
use crate::spec::{Promotion, Spec};
use crate::tensor::Tensor;
use crate::value::{Argument, Value};

/// A shape word with the arguments that it names, by position.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Promotion, Shape};
///
/// #[op_def("total(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = sum)]
/// pub fn total(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;
///
/// let shape = total::operator().shape();
/// assert!(matches!(shape, Some(Shape::Reduce { dims: Some(1), keepdim: Some(2), dtype: Promotion::Sum })));
/// let matrix = dispatch_runtime::Spec::contiguous(DType::I32, &[2, 3]).on(Device::META).unwrap();
/// let row = total(&matrix, Some(&[0]), false).unwrap();
/// assert_eq!((row.sizes(), row.dtype()), (&[3_i64][..], DType::I64));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// Elements meet one by one, after broadcasting.
    Pointwise {
        /// The tensors and numbers that decide sizes and dtype.
        operands: &'static [usize],
        /// Their names.
        names: &'static [&'static str],
        /// The dtype of the result.
        dtype: Promotion,
        /// The dtypes that it computes in: halves count as [`DType::F32`], integers and booleans as [`DType::I64`]. Empty if the
        /// definition does not say.
        dtypes: &'static [DType],
    },
    /// Some dimensions of the first argument are gone, or of size 1.
    Reduce {
        /// The argument that lists them; without one, or without any listed, all are.
        dims: Option<usize>,
        /// The argument that says whether they stay, with size 1.
        keepdim: Option<usize>,
        /// The dtype of the result, unless an argument `dtype` names one.
        dtype: Promotion,
    },
    /// Dimensions are letters: equal letters have equal sizes, and those of the result are what remains.
    Product {
        /// The letters, as in `mk,kn->mn`.
        letters: &'static str,
    },
}

/// Describes the result of a boxed call of an operator with a shape word.
pub fn outline(operator: &Operator, arguments: &[Value]) -> Result<Vec<Spec>> {
    let spec = match operator.shape() {
        Some(Shape::Pointwise { operands, .. }) => {
            let parts = operands.iter().map(|&at| arguments.get(at).map_or(Part::Absent, Part::from));
            pointwise(operator, &parts.collect::<Vec<_>>())?.outputs
        }
        Some(Shape::Reduce { dims, keepdim, .. }) => {
            let dims = dims.and_then(|dims| arguments.get(dims)).map_or(&[][..], Listed::listed);
            let keep = matches!(keepdim.and_then(|keep| arguments.get(keep)), Some(Value::Bool(true)));
            reduction(operator, tensor(operator, arguments, 0)?, dims, keep, dtype(operator, arguments))?.outputs
        }
        Some(Shape::Product { letters }) => {
            let count = letters.split("->").next().map_or(0, |inputs| inputs.split(',').count());
            let tensors = (0..count).map(|at| tensor(operator, arguments, at)).collect::<Result<Vec<_>>>()?;
            product(operator, &tensors)?.outputs
        }
        None => return Err(ErrorKind::NoShape { operator: operator.name() }.into()),
    };
    Ok(spec.into())
}

fn dtype(operator: &Operator, arguments: &[Value]) -> Option<DType> {
    let (at, _) = operator.schema().argument("dtype")?;
    if let Some(Value::DType(dtype)) = arguments.get(at) { Some(*dtype) } else { None }
}

fn tensor<'a>(operator: &Operator, arguments: &'a [Value], position: usize) -> Result<&'a Tensor> {
    arguments.get(position).and_then(Value::as_tensor).ok_or_else(|| {
        let found = arguments.get(position).map_or("nothing", Value::kind);
        let argument = operator.argument_name(position);
        ErrorKind::WrongArgument { operator: operator.name(), position, argument, expected: <&Tensor>::KIND, found }
            .into()
    })
}
