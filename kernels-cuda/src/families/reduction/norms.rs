//! CUDA kernels of `linalg_vector_norm` and `logsumexp`.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::NormPlan;
use dispatch_runtime::ReductionDims;

use crate::engine::reduce::{fold, folded};
use crate::prelude::*;

fold!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    NORM "norm" [F32 F64] ordered false, "C":
    "given[0] == Bounds<C>::least() ? Bounds<C>::most() : C(0)", "with_power(total, x, given[0])", "with_powers(a, b, given[0])" =>
    "root(total, given[0])", "0";
    EXPONENTIALS "logsumexp" [F32 F64] ordered false, "Exponentials<C>":
    "Exponentials<C>{Bounds<C>::least(), C(0)}", "total.with(x)", "a.and_of(b)" => "total.logarithm()", "0";
});

#[op_impl(aten::linalg_vector_norm, CUDA)]
fn linalg_vector_norm(plan: &NormPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::linalg_vector_norm>(&NORM, this, &plan.reduced_dims, plan.compute_dtype, [plan.order, 0.0], &[out])
}

#[op_impl(aten::logsumexp, CUDA)]
fn logsumexp(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::logsumexp>(&EXPONENTIALS, this, &plan.is_reduced, out.dtype(), [0.0; 2], &[out])
}
