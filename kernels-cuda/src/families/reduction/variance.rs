//! CUDA kernels of variances and standard deviations, in one pass.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::VariancePlan;

use crate::engine::reduce::{define_folds, reduce};
use crate::prelude::*;

define_folds!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    pub(crate) MOMENTS "var" [F32 F64] ordered false, "Moments<C>":
    "Moments<C>{C(0), C(0), C(0), C(0)}", "total.add_element(x)", "a.merge(b)" =>
    "scalars[1] != C(0) ? sqrt(total.variance(scalars[0])) : total.variance(scalars[0])", "total.mean()";
});

fn compute_variances<O: Operation>(plan: &VariancePlan, outs: [&Tensor; 2], this: &Tensor, root: bool) -> Result<()> {
    reduce::<O>(&MOMENTS, this, &plan.reduced_dims, this.dtype(), [plan.correction, f64::from(u8::from(root))], &outs)
}

macro_rules! define_variances {
    ($($name:ident $with_mean:ident $root:literal;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &VariancePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
            let mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
            compute_variances::<aten::$name>(plan, [out, &mean], this, $root)
        }

        #[op_impl(aten::$with_mean, CUDA)]
        fn $with_mean(plan: &VariancePlan, [out, mean]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            compute_variances::<aten::$with_mean>(plan, [out, mean], this, $root)
        }
    )*};
}

define_variances! {
    var_correction var_mean_correction false;
    std_correction std_mean_correction true;
}
