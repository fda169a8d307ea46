//! Norms of vectors, and the logarithm of a sum of exponentials.

use dispatch_runtime::{DType, Result, Scalar, Spec, Tensor, op_impl, reduced_dims};

use crate::reduce::{fold, folded, kept_sizes};

fold! { NORM "norm" [F32 F64] ordered false, "C":
"given[0] == Bounds<C>::least() ? Bounds<C>::most() : C(0)", "with_power(total, x, given[0])", "with_powers(a, b, given[0])" =>
"root(total, given[0])", "0" }
fold! { EXPONENTIALS "logsumexp" [F32 F64] ordered false, "Exponentials<C>":
"Exponentials<C>{Bounds<C>::least(), C(0)}", "total.and_of(Exponentials<C>{x, C(1)})", "a.and_of(b)" => "total.logarithm()", "0" }

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
    let order = ord.to_f64().unwrap_or(2.0);
    let [out] = folded::<aten::linalg_vector_norm, _>(&NORM, this, &gone, computed, [order, 0.0], [&spec])?;
    Ok(out)
}

#[op_impl(aten::logsumexp, CUDA)]
fn logsumexp(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let gone = reduced_dims(this.sizes().len(), dim, "dim")?;
    let dtype = this.dtype().to_floating();
    let spec = Spec::contiguous(dtype, &kept_sizes(this.sizes(), &gone, keepdim));
    let [out] = folded::<aten::logsumexp, _>(&EXPONENTIALS, this, &gone, dtype, [0.0; 2], [&spec])?;
    Ok(out)
}
