//! Cumulative sums, products, maxima and minima along a dimension.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Promotion, Spec, guard, wrap_dim};

use super::min_max::values_and_indices_plan;
use crate::prelude::*;
use crate::sum_dtype;

/// Computes the cumulative sums along a dimension.
#[op_def("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", plan, inplace, out = "out")]
pub fn cumsum(_: ...) -> Result<Tensor>;

/// Computes the cumulative products along a dimension.
#[op_def("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", plan, inplace, out = "out")]
pub fn cumprod(_: ...) -> Result<Tensor>;

/// Computes `log(cumsum(exp(self)))` along a dimension, without intermediate overflow.
#[op_def("logcumsumexp(Tensor self, int dim) -> Tensor", plan, out = "out")]
pub fn logcumsumexp(_: ...) -> Result<Tensor>;

/// Computes the cumulative maxima along a dimension, and their indices. Of equal elements, the last counts.
#[op_def("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", plan, out = "out")]
pub fn cummax(_: ...) -> Result<(Tensor, Tensor)>;

/// Computes the cumulative minima along a dimension, and their indices. Of equal elements, the last counts.
#[op_def("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", plan, out = "out")]
pub fn cummin(_: ...) -> Result<(Tensor, Tensor)>;

/// Computes [`logcumsumexp`].
#[op_def("_logcumsumexp(Tensor self, int dim) -> Tensor", out = "out", calls = logcumsumexp)]
pub fn _logcumsumexp(_: ...) -> Result<Tensor>;

macro_rules! define_cumulative_extreme_helpers {
    ($($name:ident $schema:literal $scan:ident;)*) => {$(
        /// Writes cumulative extremes and their indices to `values` and `indices`.
        #[op_def($schema, body = CompositeExplicitAutograd)]
        pub fn $name(this: &Tensor, values: &mut Tensor, indices: &mut Tensor, dim: i64) -> Result<()> {
            let (new_values, new_indices) = $scan(this, dim)?;
            for (name, written, new) in [("values", values, new_values), ("indices", indices, new_indices)] {
                if written.sizes() != new.sizes() {
                    return Err(BadArgument::sizes(name, written.sizes(), new.sizes()).like("self").into());
                }
                if written.dtype() != new.dtype() {
                    return Err(BadArgument::dtype(name, written.dtype(), new.dtype()).into());
                }
                crate::copy_(written, &new, false)?;
            }
            Ok(())
        }
    )*};
}

define_cumulative_extreme_helpers! {
    _cummax_helper "_cummax_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()" cummax;
    _cummin_helper "_cummin_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ()" cummin;
}

#[op_plan(cumsum)]
fn cumsum_plan(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Plan<usize>, BadArgument> {
    scan_plan(this, dim, sum_dtype(this, dtype))
}

#[op_plan(cumprod)]
fn cumprod_plan(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Plan<usize>, BadArgument> {
    scan_plan(this, dim, sum_dtype(this, dtype))
}

#[op_plan(logcumsumexp)]
fn logcumsumexp_plan(this: &Tensor, dim: i64) -> Result<Plan<usize>, BadArgument> {
    scan_plan(this, dim, Promotion::Float.result_dtype(&[this]))
}

/// Returns the plan of a scan. The plan's value is the dimension.
fn scan_plan(this: &Tensor, dim: i64, dtype: DType) -> Result<Plan<usize>, BadArgument> {
    let dim = wrap_dim("dim", dim, this.sizes().len())?;
    Ok(Plan::new(dim, [Spec::contiguous(dtype, this.sizes())]))
}

#[op_plan(cummax)]
fn cummax_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    cumulative_extreme_plan(this, dim)
}

#[op_plan(cummin)]
fn cummin_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    cumulative_extreme_plan(this, dim)
}

fn cumulative_extreme_plan(this: &Tensor, dim: i64) -> Result<Plan<usize, 2>, BadArgument> {
    let Plan { value, outputs: [values] } = scan_plan(this, dim, this.dtype())?;
    Ok(values_and_indices_plan(value, values))
}

/// The gradient of [`cumprod`], whose result is `output`.
///
/// Elements before the first zero are divided out of the products that contain them. The first zero is left out of its products. Elements
/// after it have gradient zero.
#[op_def("cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor")]
pub fn cumprod_backward(_: ...) -> Result<Tensor> {
    wrap_dim("dim", dim, input.sizes().len())?;
    if input.geometry().count() <= 1 {
        return crate::clone(grad, None);
    }
    let zero = input.eq(0)?;
    if guard::is_grad_enabled() {
        // Without a zero, the gradient depends on `output`. With a zero, each divisor is 1, so that the quotients have derivatives, too.
        let has_zero = zero.any()?;
        let divisor = crate::conj(&input.masked_fill(&has_zero, 1)?)?;
        let quotients = (reverse_cumsum(&(grad * crate::conj(output)?)?, dim)? / divisor)?;
        return crate::where_self(&has_zero, &cumprod_gradient_without_division(grad, input, dim)?, &quotients);
    }
    let zeros = zero.cumsum(dim)?;
    let first = zero.logical_and(&zeros.eq(1)?)?;
    let without = input.masked_fill(&first, 1)?;
    let of_first = reverse_cumsum(&(grad * crate::conj(&without.cumprod(dim)?)?)?, dim)?;
    let divisor = crate::conj(&input.masked_fill(&zero, 1)?)?;
    let of_others = (reverse_cumsum(&(grad * crate::conj(output)?)?, dim)? / divisor)?;
    crate::where_self(&first, &of_first, &of_others.masked_fill(&zeros.gt(0)?, 0)?)
}

/// Returns the gradient of [`cumprod`] without a division, so that it is differentiable even at zeros. It takes one product per element.
fn cumprod_gradient_without_division(grad: &Tensor, input: &Tensor, dim: i64) -> Result<Tensor> {
    let length = crate::size_int(input, dim)?;
    crate::check_call_count("input", length)?;
    let part = |k: i64| {
        let before = input.narrow(dim, 0, k)?.prod_keepdim(dim)?;
        let after = input.narrow(dim, k + 1, length - k - 1)?.cumprod(dim)?;
        let without = (&before * &crate::cat(&[before.ones_like()?, after], dim)?)?;
        (grad.narrow(dim, k, length - k)? * crate::conj(&without)?)?.sum_keepdim(dim)
    };
    let parts = (0..length).map(part).collect::<Result<Vec<Tensor>>>()?;
    crate::cat(&parts, dim)
}

/// Computes the cumulative sums from the end of a dimension.
fn reverse_cumsum(tensor: &Tensor, dim: i64) -> Result<Tensor> {
    if tensor.sizes().is_empty() {
        return tensor.cumsum(dim);
    }
    tensor.flip(dim)?.cumsum(dim)?.flip(dim)
}
