//! Activation functions.

use aten::GeluApproximation;
use dispatch_nn::{
    CELU, ELU, GELU, GLU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, LogSigmoid, LogSoftmax, Mish, PReLU,
    PReLUOptions, ReLU, ReLU6, SELU, SiLU, Sigmoid, Softmax, Softmax2d, Softmin, Softplus, Softshrink, Softsign, Tanh,
    Tanhshrink, Threshold,
};
use dispatch_runtime::prelude::*;

use crate::recording::Group;

macro_rules! compare {
    ($group:ident: $($layer:ident)*; $($with_options:ident)*) => {
        $($group.layer(stringify!($layer), Ok($layer))?;)*
        $($group.layer(stringify!($with_options), Ok($with_options::new()))?;)*
    };
}

#[test]
fn activations_are_as_recorded() -> Result<()> {
    let mut group = Group::load("activation")?;
    compare! { group:
        ReLU ReLU6 SELU SiLU Mish Sigmoid LogSigmoid Tanh Tanhshrink Softsign Hardsigmoid Hardswish Softmax2d;
        LeakyReLU ELU CELU GELU Softplus Softshrink Hardshrink Hardtanh GLU
    }
    group.layer("PReLU", PReLU::new())?;
    group.layer("PReLU options", PReLU::with(PReLUOptions { num_parameters: 3, init: 0.5 }))?;
    group.layer("Softmax2d without items", Ok(Softmax2d))?;
    group.layer("LeakyReLU options", Ok(LeakyReLU { negative_slope: 0.5 }))?;
    group.layer("ELU options", Ok(ELU { alpha: 0.5 }))?;
    group.layer("CELU options", Ok(CELU { alpha: 0.5 }))?;
    group.layer("GELU options", Ok(GELU { approximate: GeluApproximation::Tanh }))?;
    group.layer("Softplus options", Ok(Softplus { beta: 2.0, threshold: 1.0 }))?;
    group.layer("Softshrink options", Ok(Softshrink { lambd: 0.25 }))?;
    group.layer("Hardshrink options", Ok(Hardshrink { lambd: 0.25 }))?;
    group.layer("Hardtanh options", Ok(Hardtanh { min_val: -0.5, max_val: 0.75 }))?;
    group.layer("GLU options", Ok(GLU { dim: 0 }))?;
    group.layer("Threshold", Ok(Threshold::new(0.25, 9.0)))?;
    group.layer("Softmax", Ok(Softmax::new(1)))?;
    group.layer("Softmin", Ok(Softmin::new(-1)))?;
    group.layer("LogSoftmax", Ok(LogSoftmax::new(0)))?;
    group.finish();
    Ok(())
}
