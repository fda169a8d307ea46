//! Norms of vectors, and the logarithm of a sum of exponentials.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Result, Scalar, Spec, Tensor, op_impl, reduced_dims};

use crate::reduce::{fold, folded, kept_sizes};

fold!(unsafe {
    // SAFETY: the expressions compute values from what they know.
    NORM "norm" [F32 F64] ordered false, "C":
    "given[0] == Bounds<C>::least() ? Bounds<C>::most() : C(0)", "with_power(total, x, given[0])", "with_powers(a, b, given[0])" =>
    "root(total, given[0])", "0";
    EXPONENTIALS "logsumexp" [F32 F64] ordered false, "Exponentials<C>":
    "Exponentials<C>{Bounds<C>::least(), C(0)}", "total.with(x)", "a.and_of(b)" => "total.logarithm()", "0";
});

#[op_impl(aten::linalg_vector_norm, CUDA)]
fn linalg_vector_norm(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let (computed, spec) = aten::norm_spec(this, ord, dim, keepdim, dtype)?;
    let gone = reduced_dims(this.sizes().len(), dim.unwrap_or(&[]), "dim")?;
    let order = aten::norm_order(this, ord, &gone, spec.dtype);
    let out = spec.on(this.device())?;
    folded::<aten::linalg_vector_norm>(&NORM, this, &gone, computed, [order, 0.0], &[&out])?;
    Ok(out)
}

#[op_impl(aten::logsumexp, CUDA)]
fn logsumexp(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let gone = reduced_dims(this.sizes().len(), dim, "dim")?;
    let dtype = this.dtype().to_floating();
    let spec = Spec::contiguous(dtype, &kept_sizes(this.sizes(), &gone, keepdim));
    let out = spec.on(this.device())?;
    folded::<aten::logsumexp>(&EXPONENTIALS, this, &gone, dtype, [0.0; 2], &[&out])?;
    Ok(out)
}
