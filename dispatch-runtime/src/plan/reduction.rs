//! Plans of operators with the shape word `reduce`.

use smallvec::SmallVec;

use super::Plan;
use crate::error::{BadArgument, ErrorKind, Problem, Result};
use crate::operator::Operator;
use crate::scalar::DType;
use crate::spec::{ShapeWord, Spec, check_not_float8, wrap_dim};
use crate::tensor::{Dims, Tensor};
use crate::value::Value;

/// The value in the plan of a reduction.
///
/// ```
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("product(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor", shape = reduce(dim))]
/// fn product(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;
///
/// let plan = product::plan(&Tensor::from_slice(&[1_u8; 4]), Some(&[0]), true).unwrap();
/// assert_eq!(plan.value.is_reduced[..], [true]);
/// assert_eq!(plan.outputs[0].geometry.sizes(), [1]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReductionDims {
    /// Whether each dimension of the first argument is reduced.
    pub is_reduced: DimFlags,
}

/// One flag for each dimension: whether it is reduced.
pub type DimFlags = SmallVec<[bool; 8]>;

/// An argument that lists dimensions.
pub trait DimList {
    /// Returns the dimensions, or none if the argument is absent.
    fn dims(&self) -> &[i64];
}

impl DimList for i64 {
    #[inline(always)]
    fn dims(&self) -> &[i64] {
        std::slice::from_ref(self)
    }
}

impl DimList for &[i64] {
    #[inline(always)]
    fn dims(&self) -> &[i64] {
        self
    }
}

impl<T: DimList> DimList for Option<T> {
    #[inline(always)]
    fn dims(&self) -> &[i64] {
        self.as_ref().map_or(&[], DimList::dims)
    }
}

impl DimList for Value {
    fn dims(&self) -> &[i64] {
        match self {
            Self::Int(dim) => std::slice::from_ref(dim),
            Self::Ints(dims) => dims,
            _ => &[],
        }
    }
}

/// Returns the plan of a call that reduces these dimensions of the tensor.
pub fn reduction_plan(
    operator: &Operator,
    tensor: &Tensor,
    dims: &[i64],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<ReductionDims>> {
    let Some(ShapeWord::Reduce { dims: argument, dtype: promotion, .. }) = operator.shape_word() else {
        return Err(ErrorKind::NoShapeInference { operator: operator.name() }.into());
    };
    check_not_float8(operator.argument_name(0), Some(tensor.dtype()))?;
    check_not_float8("dtype", dtype)?;
    let dtype = dtype.unwrap_or_else(|| promotion.result_dtype(&[tensor]));
    reduction_plan_or_problem(tensor, dims, keepdim, dtype).map_err(|problem| {
        let argument = argument.map_or_else(String::new, |at| operator.argument_name(at));
        BadArgument::new(argument, problem).into()
    })
}

impl ReductionDims {
    /// Returns the plan of a call that reduces the dimensions in its argument `dim`, to results of this dtype. An empty list means all
    /// dimensions.
    ///
    /// ```
    /// use dispatch_runtime::{DType, ReductionDims, Tensor};
    /// let plan = ReductionDims::plan(&Tensor::from_slice(&[1.0_f32; 3]), &[], false, DType::I64).unwrap();
    /// assert_eq!((plan.outputs[0].geometry.sizes(), plan.outputs[0].dtype), (&[][..], DType::I64));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a dimension is out of range, or is listed twice.
    pub fn plan(tensor: &Tensor, dims: &[i64], keepdim: bool, dtype: DType) -> Result<Plan<Self>, BadArgument> {
        reduction_plan_or_problem(tensor, dims, keepdim, dtype).map_err(|problem| BadArgument::new("dim", problem))
    }
}

fn reduction_plan_or_problem(
    tensor: &Tensor,
    dims: &[i64],
    keepdim: bool,
    dtype: DType,
) -> Result<Plan<ReductionDims>, Problem> {
    let is_reduced = reduced_dims_or_problem(tensor.sizes().len(), dims)?;
    let spec = Spec::contiguous(dtype, &reduced_sizes_from_flags(tensor.sizes(), &is_reduced, keepdim));
    Ok(Plan::new(ReductionDims { is_reduced }, [spec]))
}

/// Returns the sizes without these dimensions, or with 1 in their place if `keepdim` is set. An empty list means all dimensions.
///
/// ```
/// use dispatch_runtime::reduced_sizes;
/// assert_eq!(reduced_sizes(&[2, 3], &[-1], true, "dim").unwrap()[..], [2, 1]);
/// assert!(reduced_sizes(&[2, 3], &[0, -2], true, "dim").is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if a dimension is out of range, or is listed twice.
pub fn reduced_sizes(sizes: &[i64], dims: &[i64], keepdim: bool, argument: &'static str) -> Result<Dims, BadArgument> {
    Ok(reduced_sizes_from_flags(sizes, &reduced_dims(sizes.len(), dims, argument)?, keepdim))
}

/// Returns a flag for each of `rank` dimensions: whether it is listed. An empty list means all dimensions.
///
/// ```
/// use dispatch_runtime::reduced_dims;
/// assert_eq!(reduced_dims(3, &[-1], "dim").unwrap()[..], [false, false, true]);
/// assert!(reduced_dims(0, &[0, -1], "dim").is_err());
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if a dimension is out of range, or is listed twice.
pub fn reduced_dims(rank: usize, dims: &[i64], argument: &'static str) -> Result<DimFlags, BadArgument> {
    reduced_dims_or_problem(rank, dims).map_err(|problem| BadArgument::new(argument, problem))
}

fn reduced_sizes_from_flags(sizes: &[i64], is_reduced: &[bool], keepdim: bool) -> Dims {
    let sizes = sizes.iter().zip(is_reduced).filter_map(|(&size, is_reduced)| match (is_reduced, keepdim) {
        (true, true) => Some(1),
        (true, false) => None,
        (false, _) => Some(size),
    });
    sizes.collect()
}

fn reduced_dims_or_problem(rank: usize, dims: &[i64]) -> Result<DimFlags, Problem> {
    if dims.is_empty() {
        return Ok(DimFlags::from_elem(true, rank));
    }
    // A tensor of rank 0 accepts the dimensions 0 and -1, together at most once.
    let mut is_reduced = DimFlags::from_elem(false, rank.max(1));
    for &dim in dims {
        let at = wrap_dim("dim", dim, rank).map_err(|error| *error.problem)?;
        if std::mem::replace(&mut is_reduced[at], true) {
            return Err(Problem::RepeatedDim { dim });
        }
    }
    is_reduced.truncate(rank);
    Ok(is_reduced)
}
