//! Variances and standard deviations, in one pass.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Moments;

use crate::prelude::*;
use crate::reduce::{fold, folded};

fold!(unsafe {
    // SAFETY: the expressions compute values from what they know.
    pub(crate) MOMENTS "var" [F32 F64] ordered false, "Moments<C>":
    "Moments<C>{C(0), C(0), C(0), C(0)}", "total.with(x)", "a.and_of(b)" =>
    "given[1] != C(0) ? sqrt(total.variance(given[0])) : total.variance(given[0])", "total.mean()";
});

fn variances<O: Operation>(plan: &Moments, outs: [&Tensor; 2], this: &Tensor, root: bool) -> Result<()> {
    folded::<O>(&MOMENTS, this, &plan.gone, this.dtype(), [plan.correction, f64::from(u8::from(root))], &outs)
}

#[op_impl(aten::var_correction, CUDA)]
fn var(plan: &Moments, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    variances::<aten::var_correction>(plan, [out, &mean], this, false)
}

#[op_impl(aten::std_correction, CUDA)]
fn std(plan: &Moments, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    variances::<aten::std_correction>(plan, [out, &mean], this, true)
}

#[op_impl(aten::var_mean_correction, CUDA)]
fn var_mean(plan: &Moments, [var, mean]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    variances::<aten::var_mean_correction>(plan, [var, mean], this, false)
}

#[op_impl(aten::std_mean_correction, CUDA)]
fn std_mean(plan: &Moments, [std, mean]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    variances::<aten::std_mean_correction>(plan, [std, mean], this, true)
}
