//! Gradient formulas of gated linear units.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::{Gradient, op_grad};

derivatives! {
    glu(grad, this; dim: i64) => aten::glu_backward(grad, this, dim);
}

#[op_grad(aten::glu_backward)]
fn glu_backward(grad: &Tensor, grad_output: &Tensor, this: &Tensor, dim: i64) -> (impl Gradient, impl Gradient) {
    let all = move || {
        let (of, own) = (aten::glu::plan(grad, dim)?.value, aten::glu::plan(this, dim)?.value);
        Ok::<_, Error>((of.gated, of.gate, own.gated, own.gate.sigmoid()?))
    };
    (
        move || {
            let (of_gated, of_gate, gated, sigmoid) = all()?;
            (of_gated * &sigmoid)? + aten::sigmoid_backward(&(of_gate * gated)?, &sigmoid)?
        },
        move || {
            let (of_gated, of_gate, gated, sigmoid) = all()?;
            let by_gated = aten::sigmoid_backward(&(&of_gate * grad_output)?, &sigmoid)?;
            let second_derivative = ((1 - (&sigmoid * 2)?)? * (of_gate * gated)?)?;
            let by_gate = aten::sigmoid_backward(&(grad_output * (of_gated + second_derivative)?)?, &sigmoid)?;
            aten::cat(&[by_gated, by_gate], dim)
        },
    )
}
