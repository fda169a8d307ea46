//! Kernels of activation functions.

use dispatch_runtime::{BadArgument, DType, DTypes, MemoryFormat, Result, Tensor, op_impl};

use engine::compute::RealFloat;
use engine::elementwise::{LoopReceiver, compute_fresh, elementwise, loops};
use engine::math::Real;

elementwise! {
    relu [few] => cheap relu;
    leaky_relu => cheap leaky_relu;
    elu => |[x]| {
        if x <= 0.0 { Real::expm1(x * input_scale) * (alpha * scale) } else { x * scale }
    };
    hardtanh => cheap clamp;
    gelu => by { gelu_loops(approximate) };
    hardsigmoid => |[x]| relu6_of_plus_3(x) / 6.0;
    hardswish => |[x]| x * relu6_of_plus_3(x) / 6.0;
    softplus => |[x]| {
        if x * beta > threshold { x } else { Real::log1p(Real::exp(x * beta)) / beta }
    };
    mish => |[x]| x * Real::tanh(softplus(x));
    threshold => cheap threshold;
    hardshrink => |[x]| if (x >= -lambd) & (x <= lambd) { 0.0 } else { x };
    softshrink => |[x]| {
        if x > lambd { x - lambd } else if x < -lambd { x + lambd } else { x * 0.0 }
    };
    _prelu_kernel => |[x, weight]| if x > 0.0 { x } else { weight * x };
}

fn gelu_loops(approximate: &str) -> impl Fn(DType, &mut LoopReceiver<'_, 1>) -> Result<(), &'static [DType]> + use<> {
    let by_tanh = approximate == "tanh";
    move |dtype, loop_input: &mut LoopReceiver<'_, 1>| {
        if by_tanh {
            loops!([f32 f64] |[x]| tanh_gelu(x))(dtype, loop_input)
        } else {
            loops!([f32 f64] |[x]| Real::gelu(x))(dtype, loop_input)
        }
    }
}

#[inline(always)]
fn tanh_gelu<T: RealFloat>(x: T) -> T {
    T::from_f64(0.5) * x * (T::from_f64(1.0) + Real::tanh(tanh_gelu_argument(x)))
}

/// Returns the argument of the hyperbolic tangent in [`tanh_gelu`].
#[inline(always)]
pub(crate) fn tanh_gelu_argument<T: RealFloat>(x: T) -> T {
    let scale = T::from_f64(std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
    scale * (x + T::from_f64(0.044_715) * x * x * x)
}

/// Returns `x + 3`, limited to the range from 0 to 6.
#[inline(always)]
fn relu6_of_plus_3<T: RealFloat>(x: T) -> T {
    (x + T::from_f64(3.0)).at_least(T::from_f64(0.0)).at_most(T::from_f64(6.0))
}

/// Returns `log(1 + exp(x))`. For large `x`, where the exponential could overflow, the result is `x` to the last bit.
#[inline(always)]
pub(crate) fn softplus<T: RealFloat>(x: T) -> T {
    if x > T::from_f64(40.0) { x } else { Real::log1p(Real::exp(x)) }
}

#[op_impl(aten::log_sigmoid_forward, CPU)]
fn log_sigmoid_forward(this: &Tensor) -> Result<(Tensor, Tensor)> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating).into());
    }
    let this = &aten::contiguous(this, MemoryFormat::Contiguous)?;
    let output = compute_fresh::<aten::silu, _>([this], &loops!([f32 f64] |[x]| log_sigmoid(x)))?;
    let buffer = compute_fresh::<aten::silu, _>([this], &loops!([f32 f64] |[x]| Real::exp(-Real::abs(x))))?;
    Ok((output, buffer))
}

#[inline(always)]
fn log_sigmoid<T: RealFloat>(x: T) -> T {
    x.at_most(T::from_f64(0.0)) - Real::log1p(Real::exp(-Real::abs(x)))
}
