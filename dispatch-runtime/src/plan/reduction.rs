//! Plans of operators with the shape word `reduce`.

use smallvec::SmallVec;

use super::Plan;
use crate::error::{BadArgument, ErrorKind, Problem, Result};
use crate::operator::Operator;
use crate::scalar::DType;
use crate::spec::{ShapeWord, Spec, wrap_dim};
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
/// assert_eq!(plan.value.gone[..], [true]);
/// assert_eq!(plan.outputs[0].geometry.sizes(), [1]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduced {
    /// Whether each dimension of the first argument is reduced.
    pub gone: DimFlags,
}

/// One flag for each dimension: whether it is reduced.
pub type DimFlags = SmallVec<[bool; 8]>;

/// An argument that lists dimensions.
pub trait Listed {
    /// Returns the dimensions, or none if the argument is absent.
    fn listed(&self) -> &[i64];
}

impl Listed for i64 {
    #[inline(always)]
    fn listed(&self) -> &[i64] {
        std::slice::from_ref(self)
    }
}

impl Listed for &[i64] {
    #[inline(always)]
    fn listed(&self) -> &[i64] {
        self
    }
}

impl<T: Listed> Listed for Option<T> {
    #[inline(always)]
    fn listed(&self) -> &[i64] {
        self.as_ref().map_or(&[], Listed::listed)
    }
}

impl Listed for Value {
    fn listed(&self) -> &[i64] {
        match self {
            Self::Int(dim) => std::slice::from_ref(dim),
            Self::Ints(dims) => dims,
            _ => &[],
        }
    }
}

/// Returns the plan of a call that reduces these dimensions of the tensor.
pub fn reduction(
    operator: &Operator,
    tensor: &Tensor,
    dims: &[i64],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<Reduced>> {
    let Some(ShapeWord::Reduce { dims: argument, dtype: promotion, .. }) = operator.shape() else {
        return Err(ErrorKind::NoShape { operator: operator.name() }.into());
    };
    let dtype = dtype.unwrap_or_else(|| promotion.result_dtype(&[tensor]));
    plan_of(tensor, dims, keepdim, dtype).map_err(|problem| {
        let argument = argument.map_or_else(String::new, |at| operator.argument_name(at));
        BadArgument::new(argument, problem).into()
    })
}

impl Reduced {
    /// Returns the plan of a call that reduces the dimensions in its argument `dim`, to results of this dtype. An empty list means all
    /// dimensions.
    ///
    /// ```
    /// use dispatch_runtime::{DType, Reduced, Tensor};
    /// let plan = Reduced::plan(&Tensor::from_slice(&[1.0_f32; 3]), &[], false, DType::I64).unwrap();
    /// assert_eq!((plan.outputs[0].geometry.sizes(), plan.outputs[0].dtype), (&[][..], DType::I64));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a dimension is out of range, or is listed twice.
    pub fn plan(tensor: &Tensor, dims: &[i64], keepdim: bool, dtype: DType) -> Result<Plan<Self>, BadArgument> {
        plan_of(tensor, dims, keepdim, dtype).map_err(|problem| BadArgument::new("dim", problem))
    }
}

fn plan_of(tensor: &Tensor, dims: &[i64], keepdim: bool, dtype: DType) -> Result<Plan<Reduced>, Problem> {
    let gone = reduced(tensor.sizes().len(), dims)?;
    let spec = Spec::contiguous(dtype, &sizes_without(tensor.sizes(), &gone, keepdim));
    Ok(Plan::new(Reduced { gone }, [spec]))
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
    Ok(sizes_without(sizes, &reduced_dims(sizes.len(), dims, argument)?, keepdim))
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
    reduced(rank, dims).map_err(|problem| BadArgument::new(argument, problem))
}

fn sizes_without(sizes: &[i64], gone: &[bool], keepdim: bool) -> Dims {
    let sizes = sizes.iter().zip(gone).filter_map(|(&size, gone)| match (gone, keepdim) {
        (true, true) => Some(1),
        (true, false) => None,
        (false, _) => Some(size),
    });
    sizes.collect()
}

fn reduced(rank: usize, dims: &[i64]) -> Result<DimFlags, Problem> {
    if dims.is_empty() {
        return Ok(DimFlags::from_elem(true, rank));
    }
    // A tensor of rank 0 accepts the dimensions 0 and -1, together at most once.
    let mut gone = DimFlags::from_elem(false, rank.max(1));
    for &dim in dims {
        let at = wrap_dim("dim", dim, rank).map_err(|error| *error.problem)?;
        if std::mem::replace(&mut gone[at], true) {
            return Err(Problem::RepeatedDim { dim });
        }
    }
    gone.truncate(rank);
    Ok(gone)
}
