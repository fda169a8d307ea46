//! Variances and standard deviations, in one pass.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{Operation, Result, Scalar, Tensor, op_impl, reduced_dims};

use crate::reduce::{fold, folded};

fold!(unsafe {
    // SAFETY: the expressions compute values from what they know.
    pub(crate) MOMENTS "var" [F32 F64] ordered false, "Moments<C>":
    "Moments<C>{C(0), C(0), C(0), C(0)}", "total.with(x)", "a.and_of(b)" =>
    "given[1] != C(0) ? sqrt(total.variance(given[0])) : total.variance(given[0])", "total.mean()";
});

fn variances<O: Operation>(
    this: &Tensor,
    dim: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
    root: bool,
) -> Result<(Tensor, Tensor)> {
    let (var, mean) = aten::var_specs(this, dim, keepdim)?;
    let gone = reduced_dims(this.sizes().len(), dim.unwrap_or(&[]), "dim")?;
    let given = [aten::correction_of(correction)?, f64::from(u8::from(root))];
    let (var, mean) = (var.on(this.device())?, mean.on(this.device())?);
    folded::<O>(&MOMENTS, this, &gone, this.dtype(), given, &[&var, &mean])?;
    Ok((var, mean))
}

#[op_impl(aten::var_correction, CUDA)]
fn var(this: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor> {
    Ok(variances::<aten::var_correction>(this, dim, correction, keepdim, false)?.0)
}

#[op_impl(aten::std_correction, CUDA)]
fn std(this: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Tensor> {
    Ok(variances::<aten::std_correction>(this, dim, correction, keepdim, true)?.0)
}

#[op_impl(aten::var_mean_correction, CUDA)]
fn var_mean(this: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    variances::<aten::var_mean_correction>(this, dim, correction, keepdim, false)
}

#[op_impl(aten::std_mean_correction, CUDA)]
fn std_mean(this: &Tensor, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    variances::<aten::std_mean_correction>(this, dim, correction, keepdim, true)
}
