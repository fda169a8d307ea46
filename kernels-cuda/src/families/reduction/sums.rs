//! CUDA kernels of sums, means, products and counts of non-zero elements.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::ReductionDims;

use crate::engine::reduce::{Fold, define_folds, define_reductions, reduce};
use crate::prelude::*;

define_folds!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    SUM "sum" [F32 F64 I64] ordered false, "C": "0", "total + x", "a + b" => "total / scalars[0]", "0";
    SUM_OF_NUMBERS "nansum" [F32 F64] ordered false, "C": "0", "is_nan(x) ? total : total + x", "a + b" => "total", "0";
    PRODUCT "prod" [F32 F64 I64] ordered false, "C": "1", "total * x", "a * b" => "total", "0";
    COUNT "count_nonzero" [F32 F64 I64] ordered false, "i64": "0", "total + (x != C(0))", "a + b" => "total", "0";
});

fn reduce_with_fold<O: Operation>(
    fold: &'static Fold,
    plan: &ReductionDims,
    out: &Tensor,
    this: &Tensor,
    given: f64,
) -> Result<()> {
    reduce::<O>(fold, this, &plan.is_reduced, out.dtype(), [given, 0.0], &[out])
}

/// Sums all elements into a single one, divided by `count`.
pub(crate) fn sum_all_and_divide(out: &Tensor, this: &Tensor, count: f64) -> Result<()> {
    reduce::<aten::sum>(&SUM, this, &vec![true; this.sizes().len()], out.dtype(), [count, 0.0], &[out])
}

/// Returns the number of elements that are reduced to one.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn element_count_per_result(plan: &ReductionDims, this: &Tensor) -> f64 {
    this.sizes().iter().zip(&plan.is_reduced).filter(|(_, gone)| **gone).map(|(&size, _)| size as f64).product()
}

#[op_impl(aten::sum, CUDA)]
#[op_impl(aten::sum_dim_intlist, CUDA)]
fn sum(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    reduce_with_fold::<aten::sum>(&SUM, plan, out, this, 1.0)
}

#[op_impl(aten::nansum, CUDA)]
fn nansum(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let fold = if out.dtype().is_integral() { &SUM } else { &SUM_OF_NUMBERS };
    reduce_with_fold::<aten::nansum>(fold, plan, out, this, 1.0)
}

#[op_impl(aten::mean, CUDA)]
#[op_impl(aten::mean_dim, CUDA)]
fn mean(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    reduce_with_fold::<aten::sum>(&SUM, plan, out, this, element_count_per_result(plan, this))
}

#[op_impl(aten::prod, CUDA)]
#[op_impl(aten::prod_dim_int, CUDA)]
fn prod(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    reduce_with_fold::<aten::prod>(&PRODUCT, plan, out, this, 1.0)
}

define_reductions! {
    count_nonzero COUNT [first];
    count_nonzero_dim_intlist COUNT [first];
}
