//! CUDA kernels of `linalg_vector_norm` and `logsumexp`.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::VectorNormPlan;
use dispatch_runtime::ReductionDims;

use crate::engine::reduce::{define_folds, reduce};
use crate::prelude::*;

define_folds!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    NORM "norm" [F32 F64] ordered false, "C":
    "scalars[0] == Limits<C>::min_value() ? Limits<C>::max_value() : C(0)", "add_norm_term(total, x, scalars[0])", "merge_norms(a, b, scalars[0])" =>
    "norm_root(total, scalars[0])", "0";
    EXPONENTIALS "logsumexp" [F32 F64] ordered false, "ScaledExponentials<C>":
    "ScaledExponentials<C>{Limits<C>::min_value(), C(0)}", "total.add_element(x)", "a.merge(b)" => "total.logsumexp()", "0";
});

#[op_impl(aten::linalg_vector_norm, CUDA)]
fn linalg_vector_norm(plan: &VectorNormPlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    reduce::<aten::linalg_vector_norm>(&NORM, this, &plan.reduced_dims, plan.compute_dtype, [plan.order, 0.0], &[out])
}

#[op_impl(aten::logsumexp, CUDA)]
fn logsumexp(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    reduce::<aten::logsumexp>(&EXPONENTIALS, this, &plan.is_reduced, out.dtype(), [0.0; 2], &[out])
}
