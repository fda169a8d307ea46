//! Many elements become one.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, DimFlags, Promotion, Reduced, Spec, wrap_dim};

/// The sum of all elements.
#[op_def("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn sum(_: ...) -> Result<Tensor>;

/// The sums over these dimensions; over all without any.
#[op_def(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "IntList_out"
)]
pub fn sum_dim_intlist(_: ...) -> Result<Tensor>;

/// The sums over these dimensions of what is a number.
#[op_def(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "out"
)]
pub fn nansum(_: ...) -> Result<Tensor>;

/// The mean of all elements.
#[op_def("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", plan, out = "dtype_out")]
pub fn mean(_: ...) -> Result<Tensor>;

/// The means over these dimensions; over all without any.
#[op_def(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn mean_dim(_: ...) -> Result<Tensor>;

#[op_plan(mean)]
fn mean_plan(this: &Tensor, dtype: Option<DType>) -> Result<Plan<Reduced>, BadArgument> {
    mean_dim_plan(this, None, false, dtype)
}

#[op_plan(mean_dim)]
pub(crate) fn mean_dim_plan(
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<Reduced>, BadArgument> {
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !computed.is_floating() && !computed.is_complex() {
        let argument = if dtype.is_some() { "dtype" } else { "self" };
        return Err(BadArgument::dtype(argument, computed, DTypes::FloatingOrComplex).because("a mean has a fraction"));
    }
    Reduced::plan(this, dim.unwrap_or(&[]), keepdim, computed)
}

/// The product of all elements.
#[op_def("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn prod(_: ...) -> Result<Tensor>;

/// The products over a dimension.
#[op_def(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "int_out"
)]
pub fn prod_dim_int(_: ...) -> Result<Tensor>;

/// The largest elements over these dimensions; NaN is larger than any number.
#[op_def("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn amax(_: ...) -> Result<Tensor>;

/// The smallest elements over these dimensions; NaN is smaller than any number.
#[op_def("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn amin(_: ...) -> Result<Tensor>;

/// The smallest and the largest elements.
#[op_def("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", plan, out = "out")]
pub fn aminmax(_: ...) -> Result<(Tensor, Tensor)>;

/// The largest element.
#[op_def("max(Tensor self) -> Tensor", plan, out = "unary_out")]
pub fn max(_: ...) -> Result<Tensor>;

/// The smallest element.
#[op_def("min(Tensor self) -> Tensor", plan, out = "unary_out")]
pub fn min(_: ...) -> Result<Tensor>;

#[op_plan(amax)]
fn amax_plan(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    extreme_plan(this, dim, keepdim)
}

#[op_plan(amin)]
fn amin_plan(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    extreme_plan(this, dim, keepdim)
}

#[op_plan(aminmax)]
fn aminmax_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<Reduced, 2>, BadArgument> {
    let Plan { value, outputs: [spec] } = extreme_plan(this, dim.as_slice(), keepdim)?;
    Ok(Plan::new(value, [spec.clone(), spec]))
}

#[op_plan(max)]
fn max_plan(this: &Tensor) -> Result<Plan<Reduced>, BadArgument> {
    extreme_plan(this, &[], false)
}

#[op_plan(min)]
fn min_plan(this: &Tensor) -> Result<Plan<Reduced>, BadArgument> {
    extreme_plan(this, &[], false)
}

/// The extreme elements over these dimensions. There is none among no elements.
fn extreme_plan(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    let plan = Reduced::plan(this, dim, keepdim, this.dtype())?;
    if is_of_none(this, &plan.value.gone) && (dim.is_empty() || plan.outputs[0].geometry.count() != 0) {
        return Err(BadArgument::sizes("self", this.sizes(), "elements to choose from along the reduced dimensions"));
    }
    if this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).because("complex numbers have no order"));
    }
    Ok(plan)
}

/// Whether each result is made of no elements.
fn is_of_none(this: &Tensor, gone: &[bool]) -> bool {
    this.sizes().iter().zip(gone).any(|(&size, &gone)| gone && size == 0)
}

/// The largest elements over a dimension, and where they are.
#[op_def("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", plan, out = "dim_max"(max, max_values))]
pub fn max_dim(_: ...) -> Result<(Tensor, Tensor)>;

/// The smallest elements over a dimension, and where they are.
#[op_def("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", plan, out = "dim_min"(min, min_indices))]
pub fn min_dim(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(max_dim)]
fn max_dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<Reduced, 2>, BadArgument> {
    selected_plan(this, dim, keepdim)
}

#[op_plan(min_dim)]
fn min_dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<Reduced, 2>, BadArgument> {
    selected_plan(this, dim, keepdim)
}

/// One element of each line, and its place.
pub(crate) fn selected_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<Reduced, 2>, BadArgument> {
    let Plan { value, outputs: [spec] } = extreme_plan(this, &[dim], keepdim)?;
    let places = Spec { dtype: DType::I64, ..spec.clone() };
    Ok(Plan::new(value, [spec, places]))
}

/// Where the largest element is, along a dimension or among all.
#[op_def("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn argmax(_: ...) -> Result<Tensor>;

/// Where the smallest element is, along a dimension or among all.
#[op_def("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn argmin(_: ...) -> Result<Tensor>;

#[op_plan(argmax)]
fn argmax_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    place_plan(this, dim, keepdim)
}

#[op_plan(argmin)]
fn argmin_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    place_plan(this, dim, keepdim)
}

fn place_plan(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    let Plan { value, outputs: [spec] } = extreme_plan(this, dim.as_slice(), keepdim)?;
    Ok(Plan::new(value, [Spec { dtype: DType::I64, ..spec }]))
}

/// Whether any element is true, that is, not zero.
#[op_def("any(Tensor self) -> Tensor", plan, out = "all_out")]
pub fn any(_: ...) -> Result<Tensor>;

/// Whether any element along a dimension is true.
#[op_def("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn any_dim(_: ...) -> Result<Tensor>;

/// Whether any element over these dimensions is true.
#[op_def("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", plan, out = "dims_out")]
pub fn any_dims(_: ...) -> Result<Tensor>;

/// Whether all elements are true, that is, not zero.
#[op_def("all(Tensor self) -> Tensor", plan, out = "all_out")]
pub fn all(_: ...) -> Result<Tensor>;

/// Whether all elements along a dimension are true.
#[op_def("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", plan, out = "out")]
pub fn all_dim(_: ...) -> Result<Tensor>;

/// Whether all elements over these dimensions are true.
#[op_def("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", plan, out = "dims_out")]
pub fn all_dims(_: ...) -> Result<Tensor>;

macro_rules! truth_plans {
    ($($all:ident $all_plan:ident $dim:ident $dim_plan:ident $dims:ident $dims_plan:ident;)*) => {$(
        #[op_plan($all)]
        fn $all_plan(this: &Tensor) -> Result<Plan<Reduced>, BadArgument> {
            truth_plan(this, None, false)
        }

        #[op_plan($dim)]
        fn $dim_plan(this: &Tensor, dim: i64, keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
            truth_plan(this, Some(&[dim]), keepdim)
        }

        #[op_plan($dims)]
        fn $dims_plan(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
            truth_plan(this, dim, keepdim)
        }
    )*};
}
truth_plans! {
    any any_plan any_dim any_dim_plan any_dims any_dims_plan;
    all all_plan all_dim all_dim_plan all_dims all_dims_plan;
}

/// The truth about elements over these dimensions: bytes have bytes for it. An empty list is no dimension.
fn truth_plan(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Plan<Reduced>, BadArgument> {
    let dtype = if this.dtype() == DType::U8 { DType::U8 } else { DType::Bool };
    if dim.is_some_and(<[i64]>::is_empty) {
        let gone = DimFlags::from_elem(false, this.sizes().len());
        return Ok(Plan::new(Reduced { gone }, [Spec::contiguous(dtype, this.sizes())]));
    }
    Reduced::plan(this, dim.unwrap_or(&[]), keepdim, dtype)
}

/// How many elements are not zero.
#[op_def("count_nonzero(Tensor self, int? dim=None) -> Tensor", shape = reduce(dim), dtype = index, out = "out")]
pub fn count_nonzero(_: ...) -> Result<Tensor>;

/// How many elements over these dimensions are not zero.
#[op_def(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    shape = reduce(dim), dtype = index, out = "dim_IntList_out"
)]
pub fn count_nonzero_dim_intlist(_: ...) -> Result<Tensor>;

/// `log(sum(exp(self)))` over these dimensions, without overflow on the way.
#[op_def("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = float, out = "out")]
pub fn logsumexp(_: ...) -> Result<Tensor>;

/// `sum(|self|^ord)^(1/ord)` over these dimensions, or the limit of it.
#[op_def(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    plan,
    out = "out"
)]
pub fn linalg_vector_norm(_: ...) -> Result<Tensor>;

/// A norm over some dimensions.
pub struct Norm {
    /// Whether each dimension is reduced.
    pub gone: DimFlags,
    /// The dtype to compute in.
    pub computed: DType,
    /// The order. That of one element is infinite, as it is its magnitude whatever the order is, and no power of it is too large; so is
    /// an order that the dtype does not hold.
    pub order: f64,
}

#[op_plan(linalg_vector_norm)]
fn norm_plan(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Plan<Norm>, BadArgument> {
    let has_fraction = |dtype: DType| dtype.is_floating() || dtype.is_complex();
    if !has_fraction(this.dtype()) {
        return Err(
            BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrComplex).because("a norm has a fraction")
        );
    }
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !has_fraction(computed) || computed.is_complex() != this.dtype().is_complex() {
        return Err(BadArgument::dtype(
            "dtype",
            computed,
            format!("of the same kind as `self`, which is of {}", this.dtype()),
        ));
    }
    let Some(order) = ord.to_f64() else { return Err(BadArgument::value("ord", "complex", "a real number")) };
    let Plan { value: Reduced { gone }, outputs } =
        Reduced::plan(this, dim.unwrap_or(&[]), keepdim, computed.to_real())?;
    if is_of_none(this, &gone) && (order < 0.0 || order == f64::INFINITY) && outputs[0].geometry.count() != 0 {
        return Err(BadArgument::count("self", this.sizes(), 1..).because("this norm of none is not defined"));
    }
    let is_held = computed.to_real() == DType::F64 || order.abs() <= f64::from(f32::MAX);
    let order = if is_held { order } else { order.signum() * f64::INFINITY };
    let is_of_one = this.sizes().iter().zip(&gone).all(|(&size, &gone)| !gone || size == 1);
    let order = if is_of_one && order != 0.0 { f64::INFINITY } else { order };
    Ok(Plan::new(Norm { gone, computed, order }, outputs))
}

/// The norms over these dimensions.
#[op_def("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn norm_scalaropt_dim(this: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let order = p.unwrap_or(Scalar::Int(2));
    norm_plan(this, order, Some(dim), keepdim, None)?;
    linalg_vector_norm(this, order, Some(dim), keepdim, None)
}

/// The norm of all elements.
#[op_def("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", out = "Scalar_out")]
pub fn norm_scalar(this: &Tensor, p: Scalar) -> Result<Tensor> {
    linalg_vector_norm(this, p, None, false, None)
}

/// The norms over these dimensions, computed in this dtype.
#[op_def(
    "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
    out = "dtype_out"
)]
pub fn norm_scalaropt_dim_dtype(_: ...) -> Result<Tensor> {
    linalg_vector_norm(this, p.unwrap_or(Scalar::Int(2)), Some(dim), keepdim, Some(dtype))
}

/// The norm of all elements, computed in this dtype.
#[op_def("norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", out = "ScalarOpt_dtype_out")]
pub fn norm_scalaropt_dtype(this: &Tensor, p: Option<Scalar>, dtype: DType) -> Result<Tensor> {
    linalg_vector_norm(this, p.unwrap_or(Scalar::Int(2)), None, false, Some(dtype))
}

/// The dtype that scans and sums of `this` have, unless another is asked for.
#[must_use]
pub fn sum_dtype(this: &Tensor, dtype: Option<DType>) -> DType {
    dtype.unwrap_or_else(|| Promotion::Sum.of(&[this]))
}

/// The dimension `dim` of `this`, by number.
///
/// # Errors
///
/// Where there is no such dimension.
pub fn one_dim(this: &Tensor, dim: i64) -> Result<usize, BadArgument> {
    wrap_dim("dim", dim, this.sizes().len())
}

/// The sum of the diagonal.
#[op_def("trace(Tensor self) -> Tensor", out = "out")]
pub fn trace(this: &Tensor) -> Result<Tensor> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).into());
    }
    sum(&crate::diagonal(this, 0, 0, 1)?, None)
}

/// The plan of elements and their places. Its value is the dimension.
pub(crate) fn placed(dim: usize, values: Spec) -> Plan<usize, 2> {
    let indices = Spec { dtype: DType::I64, geometry: values.geometry.clone() };
    Plan::new(dim, [values, indices])
}
