//! CUDA kernels of distributions whose parameters are tensors: `poisson`, `binomial`, gamma and Dirichlet.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::random_stream::fill_random;
use crate::engine::transfer::broadcast_contiguous;
use crate::prelude::*;

kernel! {
    // SAFETY: `fill_random` passes a packed tensor and its count to each launch, and the other tensors are broadcast to the same count.
    static TENSOR_PARAMETERS_KERNEL = unsafe { Kernel::new("tensor_parameters", include_str!("../../../kernels/random/tensor_parameters.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["sample_poisson", "sample_binomial", "sample_gamma"], &FLOATING_DTYPES);
    }) };
}

#[op_impl(aten::poisson, CUDA, strided)]
fn poisson(_plan: &(), out: &mut Tensor, this: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let (rates, dtype, site) =
        (broadcast_contiguous(this, out, DType::F64)?, out.dtype(), fault_site!("aten::poisson", "self"));
    fill_random(out, generator, 1, |launch, grid, to, stream| {
        let arguments = (to, stream, &rates, site, launch.fault_record());
        Ok(launch.run(&TENSOR_PARAMETERS_KERNEL, "sample_poisson", &[dtype], grid, arguments)?)
    })
}

#[op_impl(aten::binomial, CUDA, strided)]
fn binomial(_plan: &(), out: &mut Tensor, count: &Tensor, prob: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let (counts, probabilities) =
        (broadcast_contiguous(count, out, DType::F64)?, broadcast_contiguous(prob, out, DType::F64)?);
    let dtype = out.dtype();
    fill_random(out, generator, 1, |launch, grid, to, stream| {
        let arguments = (to, stream, &counts, &probabilities);
        Ok(launch.run(&TENSOR_PARAMETERS_KERNEL, "sample_binomial", &[dtype], grid, arguments)?)
    })
}

#[op_impl(aten::_standard_gamma, CUDA, strided)]
fn standard_gamma(_plan: &(), out: &mut Tensor, this: &Tensor, generator: Option<&Generator>) -> Result<()> {
    let (shapes, dtype) = (broadcast_contiguous(this, out, DType::F64)?, out.dtype());
    // A sample that would round to zero becomes the smallest positive normal number instead.
    let least = if dtype == DType::F64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
    fill_random(out, generator, 1, |launch, grid, to, stream| {
        Ok(launch.run(&TENSOR_PARAMETERS_KERNEL, "sample_gamma", &[dtype], grid, (to, stream, &shapes, least))?)
    })
}

elementwise!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    _standard_gamma_grad => |shape, x| "return C(gamma_implicit_gradient(double(shape), double(x)));";
    _dirichlet_grad => |x, weight, total| "return C(beta_implicit_gradient(double(x), double(weight), double(total)));";
});
