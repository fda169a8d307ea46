//! Kernels of pointwise losses and of their gradients.

use std::marker::PhantomData;

use aten::Reduction;
use dispatch_runtime::{BadArgument, Bool, DType, Operation, Promotion, Result, Scalar, Spec, Tensor, op_impl};

use super::reduced;
use engine::compute::Fraction;
use engine::elementwise::{LoopInput, fresh, loops, part, part_into};
use engine::inlined::inlined;
use engine::math::Real;
use engine::reduce::{Fold, computed, fold_into};

/// Computes a loss, given the loss of each element.
fn loss<O: Operation, const N: usize>(
    reduction: Reduction,
    out: &mut Tensor,
    inputs: [&Tensor; N],
    loops: impl Fn(DType, &mut LoopInput<'_, N>) -> Result<(), &'static [DType]>,
) -> Result<()> {
    if reduction == Reduction::None {
        return part_into::<O, _>(Promotion::Common, out, inputs, &loops);
    }
    reduced(out, &part::<O, _>(Promotion::Common, inputs, &loops)?, reduction)
}

#[op_impl(aten::mse_loss, CPU)]
fn mse_loss(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor) -> Result<()> {
    loss::<aten::mse_loss, _>(*plan, out, [this, target], loops!([f32 f64] |[x, y]| (x - y) * (x - y)))
}

#[inline(always)]
fn scaled<T: Fraction>(x: T, scale: f64) -> T {
    x * T::near(scale)
}

#[op_impl(aten::smooth_l1_loss, CPU)]
fn smooth_l1_loss(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor, beta: f64) -> Result<()> {
    loss::<aten::smooth_l1_loss, _>(*plan, out, [this, target], loops!([f32 f64] |[x, y]| smooth(x - y, beta)))
}

#[inline(always)]
fn smooth<T: Fraction>(off: T, beta: f64) -> T {
    let (beta, half, far) = (T::near(beta), T::near(0.5), Real::abs(off));
    if far < beta { half * far * far / beta } else { far - half * beta }
}

#[inline(always)]
fn smooth_slope<T: Fraction>(off: T, beta: f64) -> T {
    let (beta, one) = (T::near(beta), T::near(1.0));
    if off <= -beta {
        -one
    } else if off >= beta {
        one
    } else {
        off / beta
    }
}

#[op_impl(aten::huber_loss, CPU)]
fn huber_loss(plan: &Reduction, out: &mut Tensor, this: &Tensor, target: &Tensor, delta: f64) -> Result<()> {
    loss::<aten::huber_loss, _>(*plan, out, [this, target], loops!([f32 f64] |[x, y]| huber(x - y, delta)))
}

#[inline(always)]
fn huber<T: Fraction>(off: T, delta: f64) -> T {
    let (delta, half, far) = (T::near(delta), T::near(0.5), Real::abs(off));
    if far <= delta { half * far * far } else { delta * (far - half * delta) }
}

#[inline(always)]
fn huber_slope<T: Fraction>(off: T, delta: f64) -> T {
    off.at_least(-T::near(delta)).at_most(T::near(delta))
}

macro_rules! gradients {
    ($($name:ident[$($number:ident)?] $factor:literal => |$x:ident, $y:ident| $slope:expr;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            grad_output: &Tensor,
            this: &Tensor,
            target: &Tensor,
            reduction: i64,
            $($number: f64,)?
        ) -> Result<Tensor> {
            let scale = $factor * Reduction::parse(reduction)?.gradient_scale(this);
            let loops = loops!([f32 f64] |[grad, $x, $y]| scaled($slope, scale) * grad);
            fresh::<aten::$name, _>([grad_output, this, target], &loops)
        }
    )*};
}

gradients! {
    mse_loss_backward[] 2.0 => |x, y| x - y;
    smooth_l1_loss_backward[beta] 1.0 => |x, y| smooth_slope(x - y, beta);
    huber_loss_backward[delta] 1.0 => |x, y| huber_slope(x - y, delta);
    soft_margin_loss_backward[] 1.0 => |x, y| -y * Real::sigmoid(-x * y);
}

/// Converts weights to a dtype. Absent weights are 1.
fn weights(tensor: Option<&Tensor>, dtype: DType) -> Result<Tensor> {
    match tensor {
        Some(tensor) => aten::to_dtype(tensor, dtype, false, false, None),
        None => Ok(Tensor::number(Scalar::Float(1.0))),
    }
}

#[op_impl(aten::binary_cross_entropy, CPU)]
fn binary_cross_entropy(plan: &Reduction, out: &mut Tensor, _: ...) -> Result<()> {
    check_probabilities(this)?;
    let weight = weights(weight, out.dtype())?;
    let loops = loops!([f32 f64] |[x, y, weight]| entropy(x, y) * weight);
    loss::<aten::binary_cross_entropy, _>(*plan, out, [this, target, &weight], loops)
}

/// A fold that tests if any element is not a probability.
struct Outside<T>(PhantomData<T>);

inlined! {
    impl[T: Fraction + Sync] Fold for Outside<T> {
        type In = T;
        type Lane = u32;
        type Total = u32;
        type Out = Bool;
        fn lane(&self) -> u32 = 0;
        fn add(&self, lane: u32, x: T) -> u32 = lane | u32::from(!((x >= T::near(0.0)) & (x <= T::near(1.0))));
        fn join(&self, a: u32, b: u32) -> u32 = a | b;
        fn total(&self, lane: u32) -> u32 = lane;
        fn merge(&self, a: u32, b: u32) -> u32 = a | b;
        fn finish(&self, total: u32) -> Bool = Bool::from(total != 0);
    }
}

fn check_probabilities(this: &Tensor) -> Result<()> {
    let all = vec![true; this.sizes().len()];
    let mut outside = Spec::contiguous(DType::Bool, &[]).on(this.device())?;
    computed!(aten::binary_cross_entropy, this.dtype(), T: [f32, f64] =>
        fold_into(&mut outside, this, &all, &Outside::<T>(PhantomData)))?;
    if outside.to_vec::<Bool>()?.iter().all(|outside| outside.0 == 0) {
        return Ok(());
    }
    Err(BadArgument::value("self", "a number that is no probability", "0 to 1 in every element").into())
}

#[inline(always)]
fn entropy<T: Fraction>(x: T, y: T) -> T {
    let (one, least) = (T::near(1.0), T::near(-100.0));
    (y - one) * Real::log1p(-x).at_least(least) - y * Real::log(x).at_least(least)
}

#[op_impl(aten::binary_cross_entropy_backward, CPU)]
fn binary_cross_entropy_backward(plan: &f64, out: &mut Tensor, _: ...) -> Result<()> {
    let (scale, grad, weight) = (*plan, weights(Some(grad_output), out.dtype())?, weights(weight, out.dtype())?);
    let loops = loops!([f32 f64] |[grad, x, y, weight]| scaled(entropy_slope(x, y) * weight, scale) * grad);
    let inputs = [&grad, this, target, &weight];
    part_into::<aten::binary_cross_entropy_backward, _>(Promotion::Common, out, inputs, &loops)
}

#[inline(always)]
fn entropy_slope<T: Fraction>(x: T, y: T) -> T {
    (x - y) / ((T::near(1.0) - x) * x).at_least(T::near(1e-12))
}

#[op_impl(aten::binary_cross_entropy_with_logits, CPU)]
fn binary_cross_entropy_with_logits(plan: &Reduction, out: &mut Tensor, _: ...) -> Result<()> {
    if weight.is_none() && pos_weight.is_none() {
        let loops = loops!([f32 f64] |[x, y]| logit_entropy(x, y, 1.0));
        return loss::<aten::binary_cross_entropy_with_logits, _>(*plan, out, [this, target], loops);
    }
    let (weight, positive) = (weights(weight, out.dtype())?, weights(pos_weight, out.dtype())?);
    let loops = loops!([f32 f64] |[x, y, weight, positive]| logit_entropy(x, y, positive) * weight);
    loss::<aten::binary_cross_entropy_with_logits, _>(*plan, out, [this, target, &weight, &positive], loops)
}

#[inline(always)]
fn logit_entropy<T: Fraction>(x: T, y: T, positive: T) -> T {
    let (zero, one) = (T::near(0.0), T::near(1.0));
    let log_sigmoid = x.at_most(zero) - Real::log1p(Real::exp(-Real::abs(x)));
    (one - y) * x - log_sigmoid * ((positive - one) * y + one)
}
