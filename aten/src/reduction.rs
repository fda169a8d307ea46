//! Many elements become one.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Promotion, Spec, reduced_dims, reduced_sizes, wrap_dim};

/// The sum of all elements.
#[op_def("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn sum(this: &Tensor, dtype: Option<DType>) -> Result<Tensor>;

/// The sums over these dimensions; over all without any.
#[op_def(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "IntList_out"
)]
pub fn sum_dim_intlist(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor>;

/// The sums over these dimensions of what is a number.
#[op_def(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "out"
)]
pub fn nansum(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor>;

/// The mean of all elements.
#[op_def("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", out = "dtype_out")]
pub fn mean(this: &Tensor, dtype: Option<DType>) -> Result<Tensor>;

/// The means over these dimensions; over all without any.
#[op_def("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", out = "out")]
pub fn mean_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor>;

#[op_meta(mean)]
fn mean_meta(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    mean_spec(this, None, false, dtype)?.on(Device::META)
}

#[op_meta(mean_dim)]
fn mean_dim_meta(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    mean_spec(this, dim, keepdim, dtype)?.on(Device::META)
}

/// What a mean looks like.
///
/// # Errors
///
/// Where a dimension is not there, or the mean is not to have a fraction.
pub fn mean_spec(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Spec, BadArgument> {
    let computed = dtype.unwrap_or_else(|| this.dtype());
    if !computed.is_floating() && !computed.is_complex() {
        let argument = if dtype.is_some() { "dtype" } else { "self" };
        return Err(BadArgument::dtype(argument, computed, "floating or complex, for a mean has a fraction"));
    }
    Ok(Spec::contiguous(computed, &reduced_sizes(this.sizes(), dim.unwrap_or(&[]), keepdim, "dim")?))
}

/// The product of all elements.
#[op_def("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", shape = reduce, dtype = sum, out = "out")]
pub fn prod(this: &Tensor, dtype: Option<DType>) -> Result<Tensor>;

/// The products over a dimension.
#[op_def(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    shape = reduce(dim), dtype = sum, out = "int_out"
)]
pub fn prod_dim_int(this: &Tensor, dim: i64, keepdim: bool, dtype: Option<DType>) -> Result<Tensor>;

/// The largest elements over these dimensions; NaN is larger than any number.
#[op_def("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", out = "out")]
pub fn amax(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor>;

/// The smallest elements over these dimensions; NaN is smaller than any number.
#[op_def("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", out = "out")]
pub fn amin(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor>;

/// The smallest and the largest elements.
#[op_def("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", out = "out")]
pub fn aminmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)>;

/// The largest element.
#[op_def("max(Tensor self) -> Tensor", out = "unary_out")]
pub fn max(this: &Tensor) -> Result<Tensor>;

/// The smallest element.
#[op_def("min(Tensor self) -> Tensor", out = "unary_out")]
pub fn min(this: &Tensor) -> Result<Tensor>;

#[op_meta(amax)]
fn amax_meta(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme_spec(this, dim, keepdim)?.on(Device::META)
}

#[op_meta(amin)]
fn amin_meta(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme_spec(this, dim, keepdim)?.on(Device::META)
}

#[op_meta(aminmax)]
fn aminmax_meta(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let spec = extreme_spec(this, dim.as_slice(), keepdim)?;
    Ok((spec.clone().on(Device::META)?, spec.on(Device::META)?))
}

#[op_meta(max)]
fn max_meta(this: &Tensor) -> Result<Tensor> {
    extreme_spec(this, &[], false)?.on(Device::META)
}

#[op_meta(min)]
fn min_meta(this: &Tensor) -> Result<Tensor> {
    extreme_spec(this, &[], false)?.on(Device::META)
}

/// What the extreme elements over these dimensions look like.
///
/// # Errors
///
/// Where a dimension is not there, or a result would be of no elements, which have no extreme.
pub fn extreme_spec(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Spec, BadArgument> {
    let gone = reduced_dims(this.sizes().len(), dim, "dim")?;
    let empty = this.sizes().iter().zip(&gone).any(|(&size, &gone)| gone && size == 0);
    if empty && (dim.is_empty() || !this.sizes().iter().zip(&gone).any(|(&size, &gone)| !gone && size == 0)) {
        return Err(BadArgument::sizes("self", this.sizes(), "elements to choose from along the reduced dimensions"));
    }
    if this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), "real, for complex numbers have no order"));
    }
    Ok(Spec::contiguous(this.dtype(), &reduced_sizes(this.sizes(), dim, keepdim, "dim")?))
}

/// The largest elements over a dimension, and where they are.
#[op_def("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", out = "dim_max"(max, max_values))]
pub fn max_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

/// The smallest elements over a dimension, and where they are.
#[op_def("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", out = "dim_min"(min, min_indices))]
pub fn min_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)>;

#[op_meta(max_dim)]
fn max_dim_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_meta(this, dim, keepdim)
}

#[op_meta(min_dim)]
fn min_dim_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_meta(this, dim, keepdim)
}

/// The shapes of one element of each line, and of its place.
pub(crate) fn selected_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let spec = extreme_spec(this, &[dim], keepdim)?;
    Ok((spec.clone().on(Device::META)?, Spec { dtype: DType::I64, ..spec }.on(Device::META)?))
}

/// Where the largest element is, along a dimension or among all.
#[op_def("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", out = "out")]
pub fn argmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

/// Where the smallest element is, along a dimension or among all.
#[op_def("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", out = "out")]
pub fn argmin(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor>;

#[op_meta(argmax)]
fn argmax_meta(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    Spec { dtype: DType::I64, ..extreme_spec(this, dim.as_slice(), keepdim)? }.on(Device::META)
}

#[op_meta(argmin)]
fn argmin_meta(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    Spec { dtype: DType::I64, ..extreme_spec(this, dim.as_slice(), keepdim)? }.on(Device::META)
}

/// Whether any element is true, that is, not zero.
#[op_def("any(Tensor self) -> Tensor", out = "all_out")]
pub fn any(this: &Tensor) -> Result<Tensor>;

/// Whether any element along a dimension is true.
#[op_def("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn any_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor>;

/// Whether any element over these dimensions is true.
#[op_def("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", out = "dims_out")]
pub fn any_dims(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

/// Whether all elements are true, that is, not zero.
#[op_def("all(Tensor self) -> Tensor", out = "all_out")]
pub fn all(this: &Tensor) -> Result<Tensor>;

/// Whether all elements along a dimension are true.
#[op_def("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn all_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor>;

/// Whether all elements over these dimensions are true.
#[op_def("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", out = "dims_out")]
pub fn all_dims(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;

macro_rules! truth_meta {
    ($($all:ident $all_meta:ident $dim:ident $dim_meta:ident $dims:ident $dims_meta:ident;)*) => {$(
        #[op_meta($all)]
        fn $all_meta(this: &Tensor) -> Result<Tensor> {
            truth_spec(this, None, false)?.1.on(Device::META)
        }

        #[op_meta($dim)]
        fn $dim_meta(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
            truth_spec(this, Some(&[dim]), keepdim)?.1.on(Device::META)
        }

        #[op_meta($dims)]
        fn $dims_meta(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
            truth_spec(this, dim, keepdim)?.1.on(Device::META)
        }
    )*};
}
truth_meta! {
    any any_meta any_dim any_dim_meta any_dims any_dims_meta;
    all all_meta all_dim all_dim_meta all_dims all_dims_meta;
}

/// Which dimensions go, and what the truth about them looks like: bytes have bytes for it. An empty list is no dimension.
///
/// # Errors
///
/// Where a dimension is not there, or is listed twice.
pub fn truth_spec(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<(Vec<bool>, Spec), BadArgument> {
    let dtype = if this.dtype() == DType::U8 { DType::U8 } else { DType::Bool };
    if dim.is_some_and(<[i64]>::is_empty) {
        return Ok((vec![false; this.sizes().len()], Spec::contiguous(dtype, this.sizes())));
    }
    let dim = dim.unwrap_or(&[]);
    let sizes = reduced_sizes(this.sizes(), dim, keepdim, "dim")?;
    Ok((reduced_dims(this.sizes().len(), dim, "dim")?, Spec::contiguous(dtype, &sizes)))
}

/// How many elements are not zero.
#[op_def("count_nonzero(Tensor self, int? dim=None) -> Tensor", shape = reduce(dim), dtype = index, out = "out")]
pub fn count_nonzero(this: &Tensor, dim: Option<i64>) -> Result<Tensor>;

/// How many elements over these dimensions are not zero.
#[op_def(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    shape = reduce(dim), dtype = index, out = "dim_IntList_out"
)]
pub fn count_nonzero_dim_intlist(this: &Tensor, dim: &[i64]) -> Result<Tensor>;

/// `log(sum(exp(self)))` over these dimensions, without overflow on the way.
#[op_def("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = float, out = "out")]
pub fn logsumexp(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor>;

/// `sum(|self|^ord)^(1/ord)` over these dimensions, or the limit of it.
#[op_def(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn linalg_vector_norm(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor>;

#[op_meta(linalg_vector_norm)]
fn linalg_vector_norm_meta(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    norm_spec(this, ord, dim, keepdim, dtype)?.1.on(Device::META)
}

/// The dtype that a norm is computed in, and what it looks like.
///
/// # Errors
///
/// Where a dimension is not there, a dtype has no fraction, or there is no norm of no elements.
pub fn norm_spec(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<(DType, Spec), BadArgument> {
    let has_fraction = |dtype: DType| dtype.is_floating() || dtype.is_complex();
    if !has_fraction(this.dtype()) {
        return Err(BadArgument::dtype("self", this.dtype(), "floating or complex, for a norm has a fraction"));
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
    let gone = reduced_dims(this.sizes().len(), dim.unwrap_or(&[]), "dim")?;
    let empty = this.sizes().iter().zip(&gone).any(|(&size, &gone)| gone && size == 0);
    if empty
        && (order < 0.0 || order == f64::INFINITY)
        && !this.sizes().iter().zip(&gone).any(|(&size, &gone)| !gone && size == 0)
    {
        return Err(BadArgument::sizes("self", this.sizes(), "elements, for this norm of none is not defined"));
    }
    let real = match computed {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    };
    Ok((computed, Spec::contiguous(real, &reduced_sizes(this.sizes(), dim.unwrap_or(&[]), keepdim, "dim")?)))
}

/// The order of a norm over the dimensions that are `gone`. That of one element is its magnitude whatever the order, and no power of
/// it is too large. What the dtype of the norms holds no more is infinite.
#[must_use]
pub fn norm_order(this: &Tensor, ord: Scalar, gone: &[bool], dtype: DType) -> f64 {
    let order = ord.to_f64().unwrap_or(2.0);
    let is_held = dtype == DType::F64 || order.abs() <= f64::from(f32::MAX);
    let order = if is_held { order } else { order.signum() * f64::INFINITY };
    let is_of_one = this.sizes().iter().zip(gone).all(|(&size, &gone)| !gone || size == 1);
    if is_of_one && order != 0.0 { f64::INFINITY } else { order }
}

/// The norms over these dimensions.
#[op_def("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", out = "out")]
pub fn norm_scalaropt_dim(this: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let order = p.unwrap_or(Scalar::Int(2));
    norm_spec(this, order, Some(dim), keepdim, None)?;
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
pub fn norm_scalaropt_dim_dtype(
    this: &Tensor,
    p: Option<Scalar>,
    dim: &[i64],
    keepdim: bool,
    dtype: DType,
) -> Result<Tensor> {
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
        return Err(BadArgument::rank("self", this.sizes().len(), "2").into());
    }
    sum(&crate::diagonal(this, 0, 0, 1)?, None)
}
