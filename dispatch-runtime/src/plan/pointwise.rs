//! Plans of operators with the shape word `pointwise`.

use smallvec::SmallVec;

use super::Plan;
use crate::error::{ErrorKind, Result};
use crate::key::Device;
use crate::operator::{Operation, Operator};
use crate::scalar::{DType, Scalar};
use crate::spec::{Promotion, PromotionState, ShapeWord, Spec, check_float8_operands};
use crate::tensor::Tensor;
use crate::value::Value;

/// The plan of an elementwise operator, besides the specs of its results: the dtype to compute in.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("larger(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool)]
/// fn larger(this: &Tensor, other: &Tensor) -> Result<Tensor>;
///
/// let plan = larger::plan(&Tensor::from_slice(&[1_u8]), &Tensor::from_slice(&[2.0_f32; 3])).unwrap();
/// assert_eq!((plan.value.compute_dtype, plan.outputs[0].dtype), (DType::F32, DType::Bool));
/// assert_eq!(plan.outputs[0].geometry.sizes(), [3]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointwisePlan {
    /// The dtype to compute in.
    pub compute_dtype: DType,
}

/// An argument that determines the sizes or the dtype of the result.
#[derive(Clone, Copy)]
pub enum PointwiseOperand<'a> {
    /// A tensor, which is broadcast and promoted.
    Tensor(&'a Tensor),
    /// A number, which is only promoted.
    Number(DType),
    /// An optional argument without a value.
    Absent,
}

impl<'a> From<&'a Tensor> for PointwiseOperand<'a> {
    #[inline(always)]
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a> From<&'a Value> for PointwiseOperand<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Tensor(tensor) => Self::Tensor(tensor),
            Value::Bool(_) => Self::Number(DType::Bool),
            Value::Int(_) => Self::Number(DType::I64),
            Value::Float(_) => Self::Number(DType::F64),
            Value::Complex(_) => Self::Number(DType::C128),
            _ => Self::Absent,
        }
    }
}

macro_rules! impl_from_numbers {
    ($($ty:ty),*) => {$(
        impl From<$ty> for PointwiseOperand<'_> {
            fn from(number: $ty) -> Self {
                Self::Number(match Scalar::from(number) {
                    Scalar::Bool(_) => DType::Bool,
                    Scalar::Int(_) => DType::I64,
                    Scalar::Float(_) => DType::F64,
                    Scalar::Complex(_) => DType::C128,
                })
            }
        }
    )*};
}

impl_from_numbers! { bool, i64, f64, Scalar }

impl<T: Into<Self>> From<Option<T>> for PointwiseOperand<'_> {
    #[inline(always)]
    fn from(operand: Option<T>) -> Self {
        operand.map_or(Self::Absent, Into::into)
    }
}

/// Returns the plan of a call with these operands, in the order in which the shape word names them.
pub fn pointwise_plan(operator: &Operator, operands: &[PointwiseOperand<'_>]) -> Result<Plan<PointwisePlan>> {
    let Some(ShapeWord::Pointwise { names, dtype: promotion, dtypes, float8, .. }) = operator.shape_word() else {
        return Err(ErrorKind::NoShapeInference { operator: operator.name() }.into());
    };
    let (mut given, mut tensors) = (SmallVec::<[&'static str; 4]>::new(), SmallVec::<[&Tensor; 4]>::new());
    for (name, operand) in names.iter().zip(operands) {
        if let PointwiseOperand::Tensor(tensor) = *operand {
            given.push(*name);
            tensors.push(tensor);
        }
    }
    let compute_dtype = computation_dtype(promotion, &tensors, operands);
    check_float8_operands(compute_dtype, float8, &given, tensors.iter().copied())?;
    if !compute_dtype.is_float8() && !dtypes.is_empty() && !dtypes.contains(&compute_dtype) {
        let (operator, supported) = (operator.name(), dtypes);
        return Err(ErrorKind::UnsupportedDType { operator, argument: "self", dtype: compute_dtype, supported }.into());
    }
    let spec = Spec::pointwise(&tensors, promotion.result_dtype_from(compute_dtype)).map_err(|error| {
        let name = given.get(error.operand).copied().unwrap_or_default();
        error.for_argument(name)
    })?;
    Ok(Plan::new(PointwisePlan { compute_dtype }, [spec]))
}

/// Returns the plan's value and the result of a call whose operands are all tensors. If all operands are contiguous and have the same dtype
/// and sizes, this needs no plan.
#[inline(always)]
pub fn allocate_pointwise<O: Operation, const N: usize>(
    device: Device,
    tensors: [&Tensor; N],
) -> Result<(PointwisePlan, [Tensor; 1])> {
    if let (Some(ShapeWord::Pointwise { dtype, dtypes: &[], .. }), [first, rest @ ..]) = (O::SHAPE_WORD, &tensors[..])
        && first.geometry().is_contiguous()
        && first.device() == device
        && !first.dtype().is_float8()
        && !first.is_number()
        && rest.iter().all(|other| {
            other.dtype() == first.dtype()
                && other.geometry().is_contiguous()
                && other.geometry().same_sizes(first.geometry())
        })
    {
        let compute_dtype = dtype.computation_dtype(&[first]);
        return Ok((PointwisePlan { compute_dtype }, [first.allocate_like(dtype.result_dtype_from(compute_dtype))?]));
    }
    let Plan { value, outputs: [spec] } = pointwise_plan(O::operator(), &tensors.map(PointwiseOperand::Tensor))?;
    Ok((value, [spec.on(device)?]))
}

/// Returns the dtype to compute in. A number counts only in promotions over all operands.
fn computation_dtype(promotion: Promotion, tensors: &[&Tensor], operands: &[PointwiseOperand<'_>]) -> DType {
    let numbers = operands
        .iter()
        .filter_map(|operand| if let PointwiseOperand::Number(dtype) = operand { Some(*dtype) } else { None });
    if !matches!(promotion, Promotion::Common | Promotion::Float) || numbers.clone().next().is_none() {
        return promotion.computation_dtype(tensors);
    }
    let mut state = PromotionState::default();
    for tensor in tensors {
        state.add_tensor(tensor);
    }
    for number in numbers {
        state.add_number(number);
    }
    if promotion == Promotion::Float { state.result_dtype().to_floating() } else { state.result_dtype() }
}
