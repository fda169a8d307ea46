//! CUDA kernels of elementwise losses and their gradients.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::Reduction;
use dispatch_runtime::Promotion;

use super::reduce_losses;
use crate::engine::elementwise::{Loops, compute_fresh, compute_with_promotion, compute_with_promotion_into};
use crate::prelude::*;

loops!(unsafe {
    // SAFETY: each line computes a value from its arguments alone.
    MSE_LOSS_LOOPS mse_loss [F32 F64] |x, y| "return (x - y) * (x - y);";
    MSE_LOSS_BACKWARD_LOOPS mse_loss_backward [F32 F64] |grad, x, y; scale| "return (x - y) * scale * grad;";
    SMOOTH_L1_LOSS_LOOPS smooth_l1_loss [F32 F64] |x, y; beta| "C far = fabs(x - y); return far < beta ? C(0.5) * far * far / beta : far - C(0.5) * beta;";
    SMOOTH_L1_LOSS_BACKWARD_LOOPS smooth_l1_loss_backward [F32 F64] |grad, x, y; scale, beta|
"C off = x - y; return (off <= -beta ? C(-1) : off >= beta ? C(1) : off / beta) * scale * grad;";
    HUBER_LOSS_LOOPS huber_loss [F32 F64] |x, y; delta| "C far = fabs(x - y); return far <= delta ? C(0.5) * far * far : delta * (far - C(0.5) * delta);";
    HUBER_LOSS_BACKWARD_LOOPS huber_loss_backward [F32 F64] |grad, x, y; scale, delta|
"C off = x - y; return (off < -delta ? -delta : off > delta ? delta : off) * scale * grad;";
    SOFT_MARGIN_LOSS_BACKWARD_LOOPS soft_margin_loss_backward [F32 F64] |grad, x, y; scale| "return y * sigmoid(-x * y) * scale * grad;";
    CROSS_ENTROPY_LOOPS binary_cross_entropy [F32 F64] |x, y, weight|
"return ((y - C(1)) * maximum(log1p(-x), C(-100)) - y * maximum(log(x), C(-100))) * weight;";
    CROSS_ENTROPY_BACKWARD_LOOPS binary_cross_entropy_backward [F32 F64] |grad, x, y, weight; scale|
"return (x - y) / maximum((C(1) - x) * x, C(1e-12)) * weight * scale * grad;";
    CROSS_ENTROPY_WITH_LOGITS_LOOPS binary_cross_entropy_with_logits [F32 F64] |x, y, weight, positive|
"return ((C(1) - y) * x - log_sigmoid(x) * ((positive - C(1)) * y + C(1))) * weight;";
});

/// Computes a loss: the loops' result for each element, reduced as requested.
fn compute_loss<O: Operation, const N: usize>(
    reduction: Reduction,
    loops: &'static Loops,
    out: &mut Tensor,
    inputs: [&Tensor; N],
    numbers: &[Scalar],
) -> Result<()> {
    if reduction == Reduction::None {
        return compute_with_promotion_into::<O, _>(Promotion::Common, loops, out, inputs, numbers);
    }
    reduce_losses(out, &compute_with_promotion::<O, _>(Promotion::Common, loops, inputs, numbers)?, reduction)
}

/// Declares losses and their gradients: the loops of each, a scalar argument that both have, and the constant factor of a gradient's scale.
macro_rules! define_losses {
    ($($name:ident $loops:ident $backward:ident $slope:ident [$($number:ident)?] $factor:literal;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor $(, $number: f64)?) -> Result<()> {
            compute_loss::<aten::$name, _>(*plan, &$loops, out, [this, target], &[$($number.into())?])
        }

        #[op_impl(aten::$backward, CUDA)]
        fn $backward(
            grad_output: &Tensor,
            this: &Tensor,
            target: &Tensor,
            reduction: i64
            $(, $number: f64)?
        ) -> Result<Tensor> {
            let scale = $factor * Reduction::from_number(reduction)?.gradient_scale(this);
            let numbers = [scale.into() $(, $number.into())?];
            compute_fresh::<aten::$backward, _>([grad_output, this, target], &$slope.bind_scalars(&numbers))
        }
    )*};
}

define_losses! {
    mse_loss MSE_LOSS_LOOPS mse_loss_backward MSE_LOSS_BACKWARD_LOOPS [] 2.0;
    smooth_l1_loss SMOOTH_L1_LOSS_LOOPS smooth_l1_loss_backward SMOOTH_L1_LOSS_BACKWARD_LOOPS [beta] 1.0;
    huber_loss HUBER_LOSS_LOOPS huber_loss_backward HUBER_LOSS_BACKWARD_LOOPS [delta] 1.0;
}

#[op_impl(aten::soft_margin_loss_backward, CUDA)]
fn soft_margin_loss_backward(grad_output: &Tensor, this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    let scale = -Reduction::from_number(reduction)?.gradient_scale(this);
    compute_fresh::<aten::soft_margin_loss_backward, _>(
        [grad_output, this, target],
        &SOFT_MARGIN_LOSS_BACKWARD_LOOPS.bind_scalars(&[scale.into()]),
    )
}

/// Converts a tensor to a dtype. Returns the number one if there is no tensor.
fn convert_or_one(tensor: Option<&Tensor>, dtype: DType) -> Result<Tensor> {
    match tensor {
        Some(tensor) => aten::to_dtype(tensor, dtype, false, false, None),
        None => Ok(Tensor::number(Scalar::Float(1.0))),
    }
}

kernel! {
    // SAFETY: the tensor is packed and has `count` elements, which are only read; the kernel writes only to the fault.
    static CHECK_PROBABILITIES_KERNEL = unsafe { Kernel::new("probabilities", "#include \"opdispatch.cuh\"
template <class T> __global__ void __launch_bounds__(256) probabilities(const T *in, i64 count, Fault *fault, u32 site) {
    i64 at = i64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    compute_t<T> x = in[at];
    if (!(x >= 0 && x <= 1)) report_invalid_float(fault, site, x, x < 0 ? 0 : 1);
}
", |instances| instances.add_for_each_dtype("probabilities", &FLOATING_DTYPES)) };
}

/// Checks on the device that every element is a probability. The error comes at the next wait for the device.
fn check_probabilities(this: &Tensor) -> Result<()> {
    check_dtype(aten::binary_cross_entropy::operator(), "self", this.dtype(), &FLOATING_DTYPES)?;
    let this = contiguous(this, this.dtype())?;
    let (launch, count) = (Launch::on_device_of(&this)?, this.geometry().count());
    let arguments =
        (&this, count, launch.fault_record(), FaultSite::for_argument("aten::binary_cross_entropy", "self"));
    launch.run_per_element(&CHECK_PROBABILITIES_KERNEL, "probabilities", &[this.dtype()], count, arguments)
}

#[op_impl(aten::binary_cross_entropy, CUDA)]
fn binary_cross_entropy(plan: &Reduction, out: &mut Tensor, _: ...) -> Result<()> {
    check_probabilities(this)?;
    let weight = convert_or_one(weight, out.dtype())?;
    compute_loss::<aten::binary_cross_entropy, _>(*plan, &CROSS_ENTROPY_LOOPS, out, [this, target, &weight], &[])
}

#[op_impl(aten::binary_cross_entropy_backward, CUDA)]
fn binary_cross_entropy_backward(plan: &f64, out: &mut Tensor, _: ...) -> Result<()> {
    let (grad, weight) = (convert_or_one(Some(grad_output), out.dtype())?, convert_or_one(weight, out.dtype())?);
    let (inputs, numbers) = ([&grad, this, target, &weight], [Scalar::Float(*plan)]);
    compute_with_promotion_into::<aten::binary_cross_entropy_backward, _>(
        Promotion::Common,
        &CROSS_ENTROPY_BACKWARD_LOOPS,
        out,
        inputs,
        &numbers,
    )
}

#[op_impl(aten::binary_cross_entropy_with_logits, CUDA)]
fn binary_cross_entropy_with_logits(plan: &Reduction, out: &mut Tensor, _: ...) -> Result<()> {
    let (weight, positive) = (convert_or_one(weight, out.dtype())?, convert_or_one(pos_weight, out.dtype())?);
    let inputs = [this, target, &weight, &positive];
    compute_loss::<aten::binary_cross_entropy_with_logits, _>(*plan, &CROSS_ENTROPY_WITH_LOGITS_LOOPS, out, inputs, &[])
}
