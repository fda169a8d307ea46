//! Maxima and minima, their indices, and `any` and `all`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, DimFlags, ReductionDims, Spec};

/// Returns the largest elements over dimensions. A maximum over elements with a NaN is NaN.
#[op_def("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn amax(_: ...) -> Result<Tensor>;

/// Returns the smallest elements over dimensions. A minimum over elements with a NaN is NaN.
#[op_def("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn amin(_: ...) -> Result<Tensor>;

/// Returns the smallest and the largest elements along a dimension, or of all elements.
#[op_def("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", plan, out = "out")]
pub fn aminmax(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the smallest and the largest element. An earlier name of [`aminmax`].
#[op_def("_aminmax(Tensor self) -> (Tensor, Tensor)", out = "out")]
pub fn _aminmax(_: ...) -> Result<(Tensor, Tensor)> {
    aminmax(this, None, false)
}

/// Returns the smallest and the largest elements along a dimension. An earlier name of [`aminmax`].
#[op_def("_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)", out = "dim_out")]
pub fn _aminmax_dim(_: ...) -> Result<(Tensor, Tensor)> {
    aminmax(this, Some(dim), keepdim)
}

/// Returns the largest element.
#[op_def("max(Tensor self) -> Tensor", plan, out = "unary_out")]
pub fn max(_: ...) -> Result<Tensor>;

/// Returns the smallest element.
#[op_def("min(Tensor self) -> Tensor", plan, out = "unary_out")]
pub fn min(_: ...) -> Result<Tensor>;

#[op_plan(amax)]
fn amax_plan(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    extreme_plan(this, dim, keepdim)
}

#[op_plan(amin)]
fn amin_plan(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    extreme_plan(this, dim, keepdim)
}

#[op_plan(aminmax)]
fn aminmax_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<ReductionDims, 2>, BadArgument> {
    let Plan { value, outputs: [spec] } = extreme_plan(this, dim.as_slice(), keepdim)?;
    Ok(Plan::new(value, [spec.clone(), spec]))
}

#[op_plan(max)]
fn max_plan(this: &Tensor) -> Result<Plan<ReductionDims>, BadArgument> {
    extreme_plan(this, &[], false)
}

#[op_plan(min)]
fn min_plan(this: &Tensor) -> Result<Plan<ReductionDims>, BadArgument> {
    extreme_plan(this, &[], false)
}

/// Plans maxima or minima over dimensions. Returns an error if a slice to reduce has no elements.
fn extreme_plan(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    let plan = ReductionDims::plan(this, dim, keepdim, this.dtype())?;
    if reduces_empty_dim(this, &plan.value.is_reduced) && (dim.is_empty() || plan.outputs[0].geometry.count() != 0) {
        return Err(BadArgument::sizes("self", this.sizes(), "at least one element along the reduced dimensions"));
    }
    if this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).because("complex numbers have no order"));
    }
    Ok(plan)
}

/// Whether one of the reduced dimensions has size 0.
pub(super) fn reduces_empty_dim(this: &Tensor, reduced_dims: &[bool]) -> bool {
    this.sizes().iter().zip(reduced_dims).any(|(&size, &is_reduced)| is_reduced && size == 0)
}

/// Returns the largest elements along a dimension, and their indices.
#[op_def("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", plan, out = "dim_max"(max, max_values))]
pub fn max_dim(_: ...) -> Result<(Tensor, Tensor)>;

/// Returns the smallest elements along a dimension, and their indices.
#[op_def("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", plan, out = "dim_min"(min, min_indices))]
pub fn min_dim(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(max_dim)]
fn max_dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<ReductionDims, 2>, BadArgument> {
    extreme_along_dim_plan(this, dim, keepdim)
}

#[op_plan(min_dim)]
fn min_dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<ReductionDims, 2>, BadArgument> {
    extreme_along_dim_plan(this, dim, keepdim)
}

/// Plans the maximum or minimum of each slice along a dimension, and its index.
pub(crate) fn extreme_along_dim_plan(
    this: &Tensor,
    dim: i64,
    keepdim: bool,
) -> Result<Plan<ReductionDims, 2>, BadArgument> {
    let Plan { value, outputs: [spec] } = extreme_plan(this, &[dim], keepdim)?;
    let indices = Spec { dtype: DType::I64, ..spec.clone() };
    Ok(Plan::new(value, [spec, indices]))
}

/// Returns the index of the largest element along a dimension, or among all elements.
#[op_def("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn argmax(_: ...) -> Result<Tensor>;

/// Returns the index of the smallest element along a dimension, or among all elements.
#[op_def("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn argmin(_: ...) -> Result<Tensor>;

#[op_plan(argmax)]
fn argmax_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    arg_extreme_plan(this, dim, keepdim)
}

#[op_plan(argmin)]
fn argmin_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    arg_extreme_plan(this, dim, keepdim)
}

fn arg_extreme_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    let Plan { value, outputs: [spec] } = extreme_plan(this, dim.as_slice(), keepdim)?;
    Ok(Plan::new(value, [Spec { dtype: DType::I64, ..spec }]))
}

/// Returns whether any element is true, that is, not zero.
#[op_def("any(Tensor self) -> Tensor", plan, float8, out = "all_out")]
pub fn any(_: ...) -> Result<Tensor>;

/// Returns whether any element along a dimension is true.
#[op_def("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", plan, float8, out = "out")]
pub fn any_dim(_: ...) -> Result<Tensor>;

/// Returns whether any element over dimensions is true.
#[op_def("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", plan, float8, out = "dims_out")]
pub fn any_dims(_: ...) -> Result<Tensor>;

/// Returns whether all elements are true, that is, not zero.
#[op_def("all(Tensor self) -> Tensor", plan, float8, out = "all_out")]
pub fn all(_: ...) -> Result<Tensor>;

/// Returns whether all elements of a boolean tensor are true.
#[op_def("_is_all_true(Tensor self) -> Tensor")]
pub fn _is_all_true(this: &Tensor) -> Result<Tensor> {
    check_boolean(this)?;
    all(this)
}

/// Returns whether an element of a boolean tensor is true.
#[op_def("_is_any_true(Tensor self) -> Tensor")]
pub fn _is_any_true(this: &Tensor) -> Result<Tensor> {
    check_boolean(this)?;
    any(this)
}

fn check_boolean(this: &Tensor) -> Result<(), BadArgument> {
    if this.dtype() == DType::Bool { Ok(()) } else { Err(BadArgument::dtype("self", this.dtype(), DType::Bool)) }
}

/// Returns whether all elements along a dimension are true.
#[op_def("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", plan, float8, out = "out")]
pub fn all_dim(_: ...) -> Result<Tensor>;

/// Returns whether all elements over dimensions are true.
#[op_def("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", plan, float8, out = "dims_out")]
pub fn all_dims(_: ...) -> Result<Tensor>;

macro_rules! define_any_all_plans {
    ($($all:ident $all_plan:ident $dim:ident $dim_plan:ident $dims:ident $dims_plan:ident;)*) => {$(
        #[op_plan($all)]
        fn $all_plan(this: &Tensor) -> Result<Plan<ReductionDims>, BadArgument> {
            any_all_plan(this, None, false)
        }

        #[op_plan($dim)]
        fn $dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
            any_all_plan(this, Some(&[dim]), keepdim)
        }

        #[op_plan($dims)]
        fn $dims_plan(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
            any_all_plan(this, dim, keepdim)
        }
    )*};
}

define_any_all_plans! {
    any any_plan any_dim any_dim_plan any_dims any_dims_plan;
    all all_plan all_dim all_dim_plan all_dims all_dims_plan;
}

/// Plans `any` or `all` over dimensions. The result is uint8 for uint8, else bool. An empty list reduces no dimension.
fn any_all_plan(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Plan<ReductionDims>, BadArgument> {
    let dtype = if this.dtype() == DType::U8 { DType::U8 } else { DType::Bool };
    if dim.is_some_and(<[i64]>::is_empty) {
        let gone = DimFlags::from_elem(false, this.sizes().len());
        return Ok(Plan::new(ReductionDims { is_reduced: gone }, [Spec::contiguous(dtype, this.sizes())]));
    }
    ReductionDims::plan(this, dim.unwrap_or(&[]), keepdim, dtype)
}

/// Returns the plan of an operator that returns elements along a dimension, and their indices. The plan's value is the dimension.
pub(crate) fn values_and_indices_plan(dim: usize, values: Spec) -> Plan<usize, 2> {
    let indices = Spec { dtype: DType::I64, geometry: values.geometry.clone() };
    Plan::new(dim, [values, indices])
}
