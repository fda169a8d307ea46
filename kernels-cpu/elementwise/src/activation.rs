//! Kernels of activation functions.

use dispatch_runtime::{BadArgument, DType, DTypes, MemoryFormat, Result, Tensor, op_impl};

use engine::compute::Fraction;
use engine::elementwise::{LoopInput, elementwise, fresh, loops};
use engine::math::Real;

elementwise! {
    relu [few] => cheap positive;
    leaky_relu => cheap leaky_relu;
    elu => |[x]| {
        if x <= 0.0 { Real::expm1(x * input_scale) * (alpha * scale) } else { x * scale }
    };
    hardtanh => cheap between;
    gelu => by { gelu_loops(approximate) };
    hardsigmoid => |[x]| gate(x) / 6.0;
    hardswish => |[x]| x * gate(x) / 6.0;
    softplus => |[x]| {
        if x * beta > threshold { x } else { Real::log1p(Real::exp(x * beta)) / beta }
    };
    mish => |[x]| x * Real::tanh(softplus(x));
    threshold => cheap beyond;
    hardshrink => |[x]| if (x >= -lambd) & (x <= lambd) { 0.0 } else { x };
    softshrink => |[x]| {
        if x > lambd { x - lambd } else if x < -lambd { x + lambd } else { x * 0.0 }
    };
    _prelu_kernel => |[x, weight]| if x > 0.0 { x } else { weight * x };
}

fn gelu_loops(approximate: &str) -> impl Fn(DType, &mut LoopInput<'_, 1>) -> Result<(), &'static [DType]> + use<> {
    let by_tanh = approximate == "tanh";
    move |dtype, loop_input: &mut LoopInput<'_, 1>| {
        if by_tanh {
            loops!([f32 f64] |[x]| gelu_by_tanh(x))(dtype, loop_input)
        } else {
            loops!([f32 f64] |[x]| Real::gelu(x))(dtype, loop_input)
        }
    }
}

#[inline(always)]
fn gelu_by_tanh<T: Fraction>(x: T) -> T {
    T::near(0.5) * x * (T::near(1.0) + Real::tanh(gelu_inner(x)))
}

/// Returns the argument of the hyperbolic tangent in [`gelu_by_tanh`].
#[inline(always)]
pub(crate) fn gelu_inner<T: Fraction>(x: T) -> T {
    let scale = T::near(std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2);
    scale * (x + T::near(0.044_715) * x * x * x)
}

/// Returns `x + 3`, limited to the range from 0 to 6.
#[inline(always)]
fn gate<T: Fraction>(x: T) -> T {
    (x + T::near(3.0)).at_least(T::near(0.0)).at_most(T::near(6.0))
}

/// Returns `log(1 + exp(x))`. For large `x`, where the exponential could overflow, the result is `x` to the last bit.
#[inline(always)]
pub(crate) fn softplus<T: Fraction>(x: T) -> T {
    if x > T::near(40.0) { x } else { Real::log1p(Real::exp(x)) }
}

#[op_impl(aten::log_sigmoid_forward, CPU)]
fn log_sigmoid_forward(this: &Tensor) -> Result<(Tensor, Tensor)> {
    if !this.dtype().is_floating() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Floating).into());
    }
    let this = &aten::contiguous(this, MemoryFormat::Contiguous)?;
    let output = fresh::<aten::silu, _>([this], &loops!([f32 f64] |[x]| log_sigmoid(x)))?;
    let buffer = fresh::<aten::silu, _>([this], &loops!([f32 f64] |[x]| Real::exp(-Real::abs(x))))?;
    Ok((output, buffer))
}

#[inline(always)]
fn log_sigmoid<T: Fraction>(x: T) -> T {
    x.at_most(T::near(0.0)) - Real::log1p(Real::exp(-Real::abs(x)))
}
