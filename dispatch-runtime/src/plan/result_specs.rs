//! The dtype and geometry of the results of operators with a shape word.

use super::pointwise::{PointwiseOperand, pointwise_plan};
use super::product::product_plan;
use super::reduction::{DimList, reduction_plan};
use crate::error::{ErrorKind, Result};
use crate::operator::Operator;
use crate::scalar::DType;
use crate::spec::{ShapeWord, Spec};
use crate::tensor::Tensor;
use crate::value::{Argument, Value};

/// Returns the dtype and geometry of the result of a boxed call of an operator with a shape word.
pub fn shape_word_specs(operator: &Operator, arguments: &[Value]) -> Result<Vec<Spec>> {
    let spec = match operator.shape_word() {
        Some(ShapeWord::Pointwise { operands, .. }) => {
            let operands_of_call =
                operands.iter().map(|&at| arguments.get(at).map_or(PointwiseOperand::Absent, PointwiseOperand::from));
            pointwise_plan(operator, &operands_of_call.collect::<Vec<_>>())?.outputs
        }
        Some(ShapeWord::Reduce { dims, keepdim, .. }) => {
            let dims = dims.and_then(|dims| arguments.get(dims)).map_or(&[][..], DimList::dims);
            let keep = matches!(keepdim.and_then(|keep| arguments.get(keep)), Some(Value::Bool(true)));
            reduction_plan(
                operator,
                tensor_argument(operator, arguments, 0)?,
                dims,
                keep,
                dtype_argument(operator, arguments),
            )?
            .outputs
        }
        Some(ShapeWord::Product { letters }) => {
            let count = letters.split("->").next().map_or(0, |inputs| inputs.split(',').count());
            let tensors = (0..count).map(|at| tensor_argument(operator, arguments, at)).collect::<Result<Vec<_>>>()?;
            product_plan(operator, &tensors)?.outputs
        }
        None => return Err(ErrorKind::NoShapeInference { operator: operator.name() }.into()),
    };
    Ok(spec.into())
}

fn dtype_argument(operator: &Operator, arguments: &[Value]) -> Option<DType> {
    let (at, _) = operator.schema().argument("dtype")?;
    if let Some(Value::DType(dtype)) = arguments.get(at) { Some(*dtype) } else { None }
}

fn tensor_argument<'a>(operator: &Operator, arguments: &'a [Value], position: usize) -> Result<&'a Tensor> {
    arguments.get(position).and_then(Value::as_tensor).ok_or_else(|| {
        let found = arguments.get(position).map_or("nothing", Value::kind);
        let argument = operator.argument_name(position);
        ErrorKind::WrongArgument {
            operator: operator.name(),
            position,
            argument,
            expected: <&Tensor>::KIND_NAME,
            found,
        }
        .into()
    })
}
