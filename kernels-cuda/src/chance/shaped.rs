//! Random numbers, each of a distribution that an element of the arguments shapes.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;

use super::filled;
use crate::copying::stretched;
use crate::kernel::Kernel;
use crate::number::{FLOATING, is_single};
use crate::picks::site;

kernel! {
    // SAFETY: `filled` gives each launch a packed tensor and its count, and what is read beside it is stretched to the same count.
    static SHAPED = unsafe { Kernel::new("shaped", include_str!("../../kernels/shaped.cu"), |instances| {
        for template in ["poissons", "binomials", "gammas"] {
            instances.each(template, &FLOATING);
        }
    }) };
}

#[op_impl(aten::poisson, CUDA)]
fn poisson(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = aten::shaped_spec(this)?.on(this.device())?;
    let (rates, dtype, site) = (stretched(this, &made, DType::F64)?, this.dtype(), site!("aten::poisson", "self"));
    filled(&mut made, generator, 1, |launch, grid, to, stream| {
        let arguments = (to, stream, launch.place(&rates)?, site, launch.faults());
        Ok(launch.run(&SHAPED, "poissons", &[dtype], grid, arguments)?)
    })?;
    Ok(made)
}

#[op_impl(aten::binomial, CUDA)]
fn binomial(count: &Tensor, prob: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let on = if is_single(count) { prob } else { count };
    let mut made = aten::binomial_spec(count, prob)?.on(on.device())?;
    let [counts, chances] = [count, prob].map(|tensor| stretched(tensor, &made, DType::F64));
    let (counts, chances, dtype) = (counts?, chances?, made.dtype());
    filled(&mut made, generator, 1, |launch, grid, to, stream| {
        let arguments = (to, stream, launch.place(&counts)?, launch.place(&chances)?);
        Ok(launch.run(&SHAPED, "binomials", &[dtype], grid, arguments)?)
    })?;
    Ok(made)
}

#[op_impl(aten::_standard_gamma, CUDA)]
fn standard_gamma(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = aten::shaped_spec(this)?.on(this.device())?;
    let (shapes, dtype) = (stretched(this, &made, DType::F64)?, this.dtype());
    // Where a dtype would lose a number to zero, it is the least that is not.
    let least = if dtype == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    filled(&mut made, generator, 1, |launch, grid, to, stream| {
        Ok(launch.run(&SHAPED, "gammas", &[dtype], grid, (to, stream, launch.place(&shapes)?, least))?)
    })?;
    Ok(made)
}

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    _standard_gamma_grad => |shape, x| "return C(gamma_follows(double(shape), double(x)));";
    _dirichlet_grad => |x, weight, total| "return C(beta_follows(double(x), double(weight), double(total)));";
});
