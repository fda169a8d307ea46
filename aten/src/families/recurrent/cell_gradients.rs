//! The gradients of one step of `lstm` and `gru`, from the products of the inputs and of the state with their weights.
//!
//! A gradient that does not exist has no elements. As in PyTorch, both biases have a gradient if there is an `input_bias`, and else none.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::cells::split_gates;
use crate::prelude::*;
use crate::{cat, check_same_device, sigmoid_backward, tanh_backward};

/// Returns whether weights of recurrent layers are stored in one piece, as cuDNN needs them. They are not.
#[op_def("_use_cudnn_rnn_flatten_weight() -> bool")]
pub fn _use_cudnn_rnn_flatten_weight() -> Result<bool> {
    Ok(false)
}

/// The gradients of a step of a GRU for `input_gates`, `hidden_gates`, `hx` and the biases.
#[op_def(
    "_thnn_differentiable_gru_cell_backward(Tensor grad_hy, Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias, Tensor? hidden_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)]
pub fn _thnn_differentiable_gru_cell_backward(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    check_gates("input_gates", input_gates, 3, ("hx", hx))?;
    check_gates("hidden_gates", hidden_gates, 3, ("hx", hx))?;
    check_state("grad_hy", grad_hy, ("hx", hx))?;
    let [reset, update, new] = split_gates(&add_bias(input_gates, input_bias)?)?;
    let [hidden_reset, hidden_update, hidden_new] = split_gates(&add_bias(hidden_gates, hidden_bias)?)?;
    let (reset, update) = ((reset + hidden_reset)?.sigmoid()?, (update + hidden_update)?.sigmoid()?);
    let new = (new + (&reset * &hidden_new)?)?.tanh()?;
    let of_new = tanh_backward(&(grad_hy * (1 - &update)?)?, &new)?;
    let of_update = sigmoid_backward(&(grad_hy * (hx - &new)?)?, &update)?;
    let of_reset = sigmoid_backward(&(&of_new * hidden_new)?, &reset)?;
    let of_hidden_new = (&of_new * reset)?;
    let of_input_gates = cat(&[of_reset.clone(), of_update.clone(), of_new], 1)?;
    let of_hidden_gates = cat(&[of_reset, of_update, of_hidden_new], 1)?;
    let of_input_bias = gradient_of_bias(&of_input_gates, input_bias.is_some())?;
    let of_hidden_bias = gradient_of_bias(&of_hidden_gates, input_bias.is_some())?;
    Ok((of_input_gates, of_hidden_gates, (grad_hy * update)?, of_input_bias, of_hidden_bias))
}

/// The gradients of a step of an LSTM for `input_gates`, `hidden_gates`, the biases and `cx`. Without `grad_hy` and `grad_cy`, all are empty.
#[op_def(
    "_thnn_differentiable_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor input_gates, Tensor hidden_gates, Tensor? input_bias, Tensor? hidden_bias, Tensor cx, Tensor cy) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)]
pub fn _thnn_differentiable_lstm_cell_backward(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    check_gates("input_gates", input_gates, 4, ("cx", cx))?;
    check_gates("hidden_gates", hidden_gates, 4, ("cx", cx))?;
    let gates = (add_bias(input_gates, input_bias)? + add_bias(hidden_gates, hidden_bias)?)?;
    let [input, kept, new, output] = split_gates(&gates)?;
    let activated = [input.sigmoid()?, kept.sigmoid()?, new.tanh()?, output.sigmoid()?];
    lstm_gradients([grad_hy, grad_cy], &activated, [cx, cy], input_bias.is_some())
}

/// The gradients of a step of an LSTM, as those of [`_thnn_differentiable_lstm_cell_backward`]. `workspace` has the activated gates.
#[op_def(
    "_thnn_fused_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)]
pub fn _thnn_fused_lstm_cell_backward(_: ...) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    check_gates("workspace", workspace, 4, ("cx", cx))?;
    lstm_gradients([grad_hy, grad_cy], &split_gates(workspace)?, [cx, cy], has_bias)
}

/// Returns the gradients of a step of an LSTM, given the activated gates in the order input, kept, new and output.
fn lstm_gradients(
    [of_hidden, of_next]: [Option<&Tensor>; 2],
    [input, kept, new, output]: &[Tensor; 4],
    [cx, cy]: [&Tensor; 2],
    has_biases: bool,
) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    for (name, state) in [("cy", Some(cy)), ("grad_hy", of_hidden), ("grad_cy", of_next)] {
        if let Some(state) = state {
            check_state(name, state, ("cx", cx))?;
        }
    }
    let tanh_of_cell = cy.tanh()?;
    let of_cell_by_output = of_hidden.map(|grad| tanh_backward(&(grad * output)?, &tanh_of_cell)).transpose()?;
    let of_cell = match (of_cell_by_output, of_next) {
        (Some(by_output), Some(grad)) => (by_output + grad)?,
        (Some(grad), None) => grad,
        (None, Some(grad)) => grad.clone(),
        (None, None) => {
            let empty = || Tensor::empty(0, cx);
            return Ok((empty()?, empty()?, empty()?, empty()?, empty()?));
        }
    };
    let of_output = match of_hidden {
        Some(grad) => sigmoid_backward(&(grad * tanh_of_cell)?, output)?,
        None => cx.zeros_like()?,
    };
    let of_input = sigmoid_backward(&(&of_cell * new)?, input)?;
    let of_kept = sigmoid_backward(&(&of_cell * cx)?, kept)?;
    let of_new = tanh_backward(&(&of_cell * input)?, new)?;
    let of_gates = cat(&[of_input, of_kept, of_new, of_output], 1)?;
    let of_bias = gradient_of_bias(&of_gates, has_biases)?;
    Ok((of_gates.clone(), of_gates, (of_cell * kept)?, of_bias.clone(), of_bias))
}

fn add_bias(gates: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    bias.map_or_else(|| Ok(gates.clone()), |bias| gates + bias)
}

/// Returns the gradient of a bias of gates, which has no elements if there is no bias.
fn gradient_of_bias(of_gates: &Tensor, has_bias: bool) -> Result<Tensor> {
    if has_bias { of_gates.sum_dims(0) } else { Tensor::empty(0, of_gates) }
}

/// Checks that `gates` has `count` times the columns of the state.
fn check_gates(
    name: &'static str,
    gates: &Tensor,
    count: i64,
    state: (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    let &[rows, columns] = state.1.sizes() else {
        return Err(BadArgument::rank(state.0, state.1.sizes().len(), 2));
    };
    check_like_state(name, gates, &[rows, columns.saturating_mul(count)], state)
}

fn check_state(name: &'static str, tensor: &Tensor, state: (&'static str, &Tensor)) -> Result<(), BadArgument> {
    check_like_state(name, tensor, state.1.sizes(), state)
}

fn check_like_state(
    name: &'static str,
    tensor: &Tensor,
    sizes: &[i64],
    (state_name, state): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    check_same_device([(state_name, state), (name, tensor)])?;
    if !state.dtype().is_floating() {
        return Err(BadArgument::dtype(state_name, state.dtype(), dispatch_runtime::DTypes::Floating));
    }
    if tensor.sizes() != sizes {
        return Err(BadArgument::sizes(name, tensor.sizes(), sizes)
            .because(format!("`{state_name}` has sizes {:?}", state.sizes())));
    }
    if tensor.dtype() != state.dtype() {
        return Err(BadArgument::dtype(name, tensor.dtype(), state.dtype()).like(state_name));
    }
    Ok(())
}
