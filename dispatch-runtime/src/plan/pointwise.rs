//! Plans of operators with the shape word `pointwise`.

use smallvec::SmallVec;

use super::Plan;
use crate::error::{ErrorKind, Result};
use crate::key::Device;
use crate::operator::{Operation, Operator};
use crate::scalar::{DType, Scalar};
use crate::spec::{Promotion, PromotionState, ShapeWord, Spec};
use crate::tensor::Tensor;
use crate::value::Value;

/// The value in the plan of an elementwise operator.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("larger(Tensor self, Tensor other) -> Tensor", shape = pointwise, dtype = bool)]
/// fn larger(this: &Tensor, other: &Tensor) -> Result<Tensor>;
///
/// let plan = larger::plan(&Tensor::from_slice(&[1_u8]), &Tensor::from_slice(&[2.0_f32; 3])).unwrap();
/// assert_eq!((plan.value.computed, plan.outputs[0].dtype), (DType::F32, DType::Bool));
/// assert_eq!(plan.outputs[0].geometry.sizes(), [3]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointwise {
    /// The dtype to compute in.
    pub computed: DType,
}

/// An argument that determines the sizes or the dtype of the result.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// A tensor, which is broadcast and promoted.
    Tensor(&'a Tensor),
    /// A number, which is only promoted.
    Number(DType),
    /// An optional argument without a value.
    Absent,
}

impl<'a> From<&'a Tensor> for Part<'a> {
    #[inline(always)]
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a> From<&'a Value> for Part<'a> {
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

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Part<'_> {
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

numbers! { bool, i64, f64, Scalar }

impl<T: Into<Self>> From<Option<T>> for Part<'_> {
    #[inline(always)]
    fn from(part: Option<T>) -> Self {
        part.map_or(Self::Absent, Into::into)
    }
}

/// Returns the plan of a call with these parts, in the order in which the shape word names them.
pub fn pointwise(operator: &Operator, parts: &[Part<'_>]) -> Result<Plan<Pointwise>> {
    let Some(ShapeWord::Pointwise { names, dtype: promotion, dtypes, .. }) = operator.shape() else {
        return Err(ErrorKind::NoShape { operator: operator.name() }.into());
    };
    let (mut given, mut tensors) = (SmallVec::<[&'static str; 4]>::new(), SmallVec::<[&Tensor; 4]>::new());
    for (name, part) in names.iter().zip(parts) {
        if let Part::Tensor(tensor) = *part {
            given.push(*name);
            tensors.push(tensor);
        }
    }
    let computed = computed(promotion, &tensors, parts);
    if !dtypes.is_empty() && !dtypes.contains(&class(computed)) {
        let (operator, supported) = (operator.name(), dtypes);
        return Err(ErrorKind::UnsupportedDType { operator, argument: "self", dtype: computed, supported }.into());
    }
    let spec = Spec::pointwise(&tensors, promotion.result_dtype_from(computed)).map_err(|error| {
        let name = given.get(error.operand).copied().unwrap_or_default();
        error.for_argument(name)
    })?;
    Ok(Plan::new(Pointwise { computed }, [spec]))
}

/// Returns the plan's value and the result of a call whose operands are all tensors. If all operands are contiguous and have the same dtype
/// and sizes, this needs no plan.
#[inline(always)]
pub fn fresh_pointwise<O: Operation, const N: usize>(
    device: Device,
    tensors: [&Tensor; N],
) -> Result<(Pointwise, [Tensor; 1])> {
    if let (Some(ShapeWord::Pointwise { dtype, dtypes: &[], .. }), [first, rest @ ..]) = (O::SHAPE, &tensors[..])
        && first.geometry().is_contiguous()
        && first.device() == device
        && !first.is_number()
        && rest.iter().all(|other| {
            other.dtype() == first.dtype()
                && other.geometry().is_contiguous()
                && other.geometry().same_sizes(first.geometry())
        })
    {
        let computed = dtype.compute_dtype(&[first]);
        return Ok((Pointwise { computed }, [first.fresh_like(dtype.result_dtype_from(computed))?]));
    }
    let Plan { value, outputs: [spec] } = pointwise(O::operator(), &tensors.map(Part::Tensor))?;
    Ok((value, [spec.on(device)?]))
}

/// Returns the dtype to compute in. A number counts only in promotions over all operands.
fn computed(promotion: Promotion, tensors: &[&Tensor], parts: &[Part<'_>]) -> DType {
    let numbers = parts.iter().filter_map(|part| if let Part::Number(dtype) = part { Some(*dtype) } else { None });
    if !matches!(promotion, Promotion::Common | Promotion::Float) || numbers.clone().next().is_none() {
        return promotion.compute_dtype(tensors);
    }
    let mut state = PromotionState::default();
    for tensor in tensors {
        state.add_tensor(tensor);
    }
    for number in numbers {
        state.add_number(number);
    }
    if promotion == Promotion::Float { state.result().to_floating() } else { state.result() }
}

/// Returns the dtype that represents all dtypes of its kind in a definition's list.
fn class(computed: DType) -> DType {
    match computed {
        DType::F16 | DType::BF16 => DType::F32,
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => computed,
        _ => DType::I64,
    }
}
