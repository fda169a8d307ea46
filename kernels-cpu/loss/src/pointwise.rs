//! Kernels of pointwise losses and of their gradients.

use std::marker::PhantomData;

use aten::Reduction;
use dispatch_runtime::{BadArgument, Bool, DType, Operation, Promotion, Result, Scalar, Spec, Tensor, op_impl};

use super::reduce_losses;
use engine::compute::RealFloat;
use engine::elementwise::{LoopReceiver, compute_fresh, compute_with_promotion, compute_with_promotion_into, loops};
use engine::inlined::inlined;
use engine::math::Real;
use engine::reduce::{Fold, fold_into, with_compute_type};

/// Computes a loss, given the loss of each element.
fn write_pointwise_loss<O: Operation, const N: usize>(
    reduction: Reduction,
    out: &mut Tensor,
    inputs: [&Tensor; N],
    loops: impl Fn(DType, &mut LoopReceiver<'_, N>) -> Result<(), &'static [DType]>,
) -> Result<()> {
    if reduction == Reduction::None {
        return compute_with_promotion_into::<O, _>(Promotion::Common, out, inputs, &loops);
    }
    reduce_losses(out, &compute_with_promotion::<O, _>(Promotion::Common, inputs, &loops)?, reduction)
}

#[op_impl(aten::mse_loss, CPU)]
fn mse_loss(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor) -> Result<()> {
    write_pointwise_loss::<aten::mse_loss, _>(*plan, out, [this, target], loops!([f32 f64] |[x, y]| (x - y) * (x - y)))
}

#[inline(always)]
fn multiply_by_f64<T: RealFloat>(x: T, scale: f64) -> T {
    x * T::from_f64(scale)
}

#[op_impl(aten::smooth_l1_loss, CPU)]
fn smooth_l1_loss(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor, beta: f64) -> Result<()> {
    write_pointwise_loss::<aten::smooth_l1_loss, _>(
        *plan,
        out,
        [this, target],
        loops!([f32 f64] |[x, y]| smooth_l1_element(x - y, beta)),
    )
}

#[inline(always)]
fn smooth_l1_element<T: RealFloat>(difference: T, beta: f64) -> T {
    let (beta, half, distance) = (T::from_f64(beta), T::from_f64(0.5), Real::abs(difference));
    if distance < beta { half * distance * distance / beta } else { distance - half * beta }
}

#[inline(always)]
fn smooth_l1_derivative<T: RealFloat>(difference: T, beta: f64) -> T {
    let (beta, one) = (T::from_f64(beta), T::from_f64(1.0));
    if difference <= -beta {
        -one
    } else if difference >= beta {
        one
    } else {
        difference / beta
    }
}

#[op_impl(aten::huber_loss, CPU)]
fn huber_loss(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor, delta: f64) -> Result<()> {
    write_pointwise_loss::<aten::huber_loss, _>(
        *plan,
        out,
        [this, target],
        loops!([f32 f64] |[x, y]| huber_element(x - y, delta)),
    )
}

#[inline(always)]
fn huber_element<T: RealFloat>(difference: T, delta: f64) -> T {
    let (delta, half, distance) = (T::from_f64(delta), T::from_f64(0.5), Real::abs(difference));
    if distance <= delta { half * distance * distance } else { delta * (distance - half * delta) }
}

#[inline(always)]
fn huber_derivative<T: RealFloat>(difference: T, delta: f64) -> T {
    difference.at_least(-T::from_f64(delta)).at_most(T::from_f64(delta))
}

macro_rules! define_loss_gradients {
    ($($name:ident[$($number:ident)?] $factor:literal => |$x:ident, $y:ident| $derivative:expr;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            grad_output: &Tensor,
            this: &Tensor,
            target: &Tensor,
            reduction: i64,
            $($number: f64,)?
        ) -> Result<Tensor> {
            let scale = $factor * Reduction::from_number(reduction)?.gradient_scale(this);
            let loops = loops!([f32 f64] |[grad, $x, $y]| multiply_by_f64($derivative, scale) * grad);
            compute_fresh::<aten::$name, _>([grad_output, this, target], &loops)
        }
    )*};
}

define_loss_gradients! {
    mse_loss_backward[] 2.0 => |x, y| x - y;
    smooth_l1_loss_backward[beta] 1.0 => |x, y| smooth_l1_derivative(x - y, beta);
    huber_loss_backward[delta] 1.0 => |x, y| huber_derivative(x - y, delta);
    soft_margin_loss_backward[] 1.0 => |x, y| -y * Real::sigmoid(-x * y);
}

/// Converts weights to a dtype. Absent weights are 1.
fn weights_or_one(tensor: Option<&Tensor>, dtype: DType) -> Result<Tensor> {
    match tensor {
        Some(tensor) => aten::to_dtype(tensor, dtype, false, false, None),
        None => Ok(Tensor::number(Scalar::Float(1.0))),
    }
}

#[op_impl(aten::binary_cross_entropy, CPU)]
fn binary_cross_entropy(plan: &Reduction, out: &mut Tensor, _: ...) -> Result<()> {
    check_probabilities(this)?;
    let weight = weights_or_one(weight, out.dtype())?;
    let loops = loops!([f32 f64] |[x, y, weight]| element_cross_entropy(x, y) * weight);
    write_pointwise_loss::<aten::binary_cross_entropy, _>(*plan, out, [this, target, &weight], loops)
}

/// A fold that tests if any element is not a probability.
struct NotProbabilityFold<T>(PhantomData<T>);

inlined! {
    impl[T: RealFloat + Sync] Fold for NotProbabilityFold<T> {
        type Input = T;
        type LaneAccumulator = u32;
        type TotalAccumulator = u32;
        type Output = Bool;
        fn empty_lane(&self) -> u32 = 0;
        fn add_to_lane(&self, lane: u32, x: T) -> u32 = lane | u32::from(!((x >= T::from_f64(0.0)) & (x <= T::from_f64(1.0))));
        fn join_lanes(&self, a: u32, b: u32) -> u32 = a | b;
        fn lane_to_total(&self, lane: u32) -> u32 = lane;
        fn merge_totals(&self, a: u32, b: u32) -> u32 = a | b;
        fn total_to_result(&self, total: u32) -> Bool = Bool::from(total != 0);
    }
}

fn check_probabilities(this: &Tensor) -> Result<()> {
    let all = vec![true; this.sizes().len()];
    let mut outside = Spec::contiguous(DType::Bool, &[]).on(this.device())?;
    with_compute_type!(aten::binary_cross_entropy, this.dtype(), T: [f32, f64] =>
        fold_into(&mut outside, this, &all, &NotProbabilityFold::<T>(PhantomData)))?;
    if outside.to_vec::<Bool>()?.iter().all(|outside| outside.0 == 0) {
        return Ok(());
    }
    Err(BadArgument::value("self", "a value below 0 or above 1", "a probability from 0 to 1 in every element").into())
}

#[inline(always)]
fn element_cross_entropy<T: RealFloat>(x: T, y: T) -> T {
    let (one, least) = (T::from_f64(1.0), T::from_f64(-100.0));
    (y - one) * Real::log1p(-x).at_least(least) - y * Real::log(x).at_least(least)
}

#[op_impl(aten::binary_cross_entropy_backward, CPU)]
fn binary_cross_entropy_backward(plan: &f64, out: &mut Tensor, _: ...) -> Result<()> {
    let (scale, grad, weight) =
        (*plan, weights_or_one(Some(grad_output), out.dtype())?, weights_or_one(weight, out.dtype())?);
    let loops = loops!([f32 f64] |[grad, x, y, weight]| multiply_by_f64(element_cross_entropy_derivative(x, y) * weight, scale) * grad);
    let inputs = [&grad, this, target, &weight];
    compute_with_promotion_into::<aten::binary_cross_entropy_backward, _>(Promotion::Common, out, inputs, &loops)
}

#[inline(always)]
fn element_cross_entropy_derivative<T: RealFloat>(x: T, y: T) -> T {
    (x - y) / ((T::from_f64(1.0) - x) * x).at_least(T::from_f64(1e-12))
}

#[op_impl(aten::binary_cross_entropy_with_logits, CPU)]
fn binary_cross_entropy_with_logits(plan: &Reduction, out: &mut Tensor, _: ...) -> Result<()> {
    if weight.is_none() && pos_weight.is_none() {
        let loops = loops!([f32 f64] |[x, y]| element_cross_entropy_of_logit(x, y, 1.0));
        return write_pointwise_loss::<aten::binary_cross_entropy_with_logits, _>(*plan, out, [this, target], loops);
    }
    let (weight, positive) = (weights_or_one(weight, out.dtype())?, weights_or_one(pos_weight, out.dtype())?);
    let loops = loops!([f32 f64] |[x, y, weight, positive]| element_cross_entropy_of_logit(x, y, positive) * weight);
    write_pointwise_loss::<aten::binary_cross_entropy_with_logits, _>(
        *plan,
        out,
        [this, target, &weight, &positive],
        loops,
    )
}

#[inline(always)]
fn element_cross_entropy_of_logit<T: RealFloat>(x: T, y: T, positive: T) -> T {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    let log_sigmoid = x.at_most(zero) - Real::log1p(Real::exp(-Real::abs(x)));
    (one - y) * x - log_sigmoid * ((positive - one) * y + one)
}
