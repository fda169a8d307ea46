//! CUDA kernels of `bernoulli`: zeros and ones of a given probability.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::REAL_DTYPES;
use crate::engine::random_stream::fill_random;
use crate::engine::transfer::broadcast_contiguous;
use crate::prelude::*;

kernel! {
    // SAFETY: `fill_random` passes a packed tensor and its count to each launch, and the other tensors are broadcast to the same count.
    static BERNOULLI_KERNEL = unsafe { Kernel::new("bernoulli", include_str!("../../../kernels/random/bernoulli.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["bernoulli", "bernoulli_tensor"], &REAL_DTYPES);
    }) };
}

#[op_impl(aten::bernoulli_p, CUDA)]
fn bernoulli_p(_plan: &(), out: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    fill_bernoulli(out, p, generator)
}

#[op_impl(aten::bernoulli__float, CUDA)]
fn bernoulli_float_(_plan: &(), this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    fill_bernoulli(this, p, generator)
}

fn fill_bernoulli(this: &mut Tensor, p: f64, generator: Option<&Generator>) -> Result<()> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a probability is between zero and one"
    )]
    let (dtype, limit) = (this.dtype(), (p * 4_294_967_296.0).round() as u64);
    fill_random(this, generator, 4, |launch, grid, to, stream| {
        Ok(launch.run(&BERNOULLI_KERNEL, "bernoulli", &[dtype], grid, (to, stream, limit))?)
    })
}

#[op_impl(aten::bernoulli_tensor, CUDA, in_place, strided)]
fn bernoulli_tensor(_plan: &(), out: &mut Tensor, p: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let (probabilities, dtype) = (broadcast_contiguous(p, out, DType::F64)?, out.dtype());
    fill_random(out, generator, 4, |launch, grid, to, stream| {
        let site = fault_site!("aten::bernoulli", "p");
        let arguments = (to, stream, &probabilities, launch.fault_record(), site);
        Ok(launch.run(&BERNOULLI_KERNEL, "bernoulli_tensor", &[dtype], grid, arguments)?)
    })
}
