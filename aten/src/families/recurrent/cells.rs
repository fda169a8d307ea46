//! Cells of recurrent networks: one step of `lstm`, `gru` and plain networks.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::checks::check_cell_arguments;
use crate::{add, cat, chunk, linear, mul, narrow, relu, sigmoid, split_with_sizes, sub, tanh};

const SCALAR_ONE: Scalar = Scalar::Int(1);

/// The kind of a recurrent cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Lstm,
    Gru,
    Tanh,
    Relu,
}

/// The parameters of one direction of a layer.
pub(super) struct CellWeights<'a> {
    pub(super) input: &'a Tensor,
    pub(super) hidden: &'a Tensor,
    pub(super) input_bias: Option<&'a Tensor>,
    pub(super) hidden_bias: Option<&'a Tensor>,
    /// The matrix that projects the hidden state of an LSTM.
    pub(super) projection: Option<&'a Tensor>,
}

impl CellKind {
    /// Checks the number of state tensors: two for an LSTM, one for the others.
    pub(super) fn check_state_count(self, state: &[Tensor]) -> Result<(), BadArgument> {
        let count = if self == Self::Lstm { 2 } else { 1 };
        if state.len() == count {
            return Ok(());
        }
        Err(BadArgument::length("hx", state.len(), count))
    }

    /// Returns the number of gates of a step.
    pub(super) const fn gate_count(self) -> i64 {
        match self {
            Self::Lstm => 4,
            Self::Gru => 3,
            Self::Tanh | Self::Relu => 1,
        }
    }

    /// Computes the next state from the previous state and from `gates`, the input multiplied by its weights.
    fn step(self, gates: &Tensor, state: &[Tensor], weights: &CellWeights<'_>) -> Result<Vec<Tensor>> {
        let hidden = linear(&state[0], weights.hidden, weights.hidden_bias)?;
        match self {
            Self::Tanh => Ok(vec![tanh(&add(gates, &hidden, SCALAR_ONE)?)?]),
            Self::Relu => Ok(vec![relu(&add(gates, &hidden, SCALAR_ONE)?)?]),
            Self::Gru => {
                let [reset, update, new] = split_gates(gates)?;
                let [hidden_reset, hidden_update, hidden_new] = split_gates(&hidden)?;
                let gate = |input: &Tensor, hidden: &Tensor| sigmoid(&add(input, hidden, SCALAR_ONE)?);
                let new = tanh(&add(&new, &mul(&gate(&reset, &hidden_reset)?, &hidden_new)?, SCALAR_ONE)?)?;
                Ok(vec![add(
                    &mul(&sub(&state[0], &new, SCALAR_ONE)?, &gate(&update, &hidden_update)?)?,
                    &new,
                    SCALAR_ONE,
                )?])
            }
            Self::Lstm => {
                let [input_gate, kept, new, output_gate] = split_gates(&add(gates, &hidden, SCALAR_ONE)?)?;
                let kept = mul(&sigmoid(&kept)?, &state[1])?;
                let cell = add(&kept, &mul(&sigmoid(&input_gate)?, &tanh(&new)?)?, SCALAR_ONE)?;
                let hidden = mul(&sigmoid(&output_gate)?, &tanh(&cell)?)?;
                let hidden = match weights.projection {
                    Some(projection) => linear(&hidden, projection, None)?,
                    None => hidden,
                };
                Ok(vec![hidden, cell])
            }
        }
    }

    /// Runs the cell over a packed sequence, forwards or backwards. Returns the output of each row, and the last state of each sequence.
    pub(super) fn run_packed(
        self,
        data: &Tensor,
        sizes: &[i64],
        start: &[Tensor],
        weights: &CellWeights<'_>,
        backwards: bool,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let gates = split_with_sizes(&linear(data, weights.input, weights.input_bias)?, sizes, 0)?;
        let part = |state: &[Tensor], from: i64, to: i64| -> Result<Vec<Tensor>> {
            state.iter().map(|tensor| narrow(tensor, 0, from, to - from)).collect()
        };
        let mut steps: Vec<usize> = (0..sizes.len()).collect();
        if backwards {
            steps.reverse();
        }
        let mut active = steps.first().map_or(0, |&step| sizes[step]);
        let (mut state, mut finished, mut outputs) = (part(start, 0, active)?, Vec::new(), Vec::new());
        for step in steps {
            let size = sizes[step];
            if size < active {
                finished.push(part(&state, size, active)?);
                state = part(&state, 0, size)?;
            } else if size > active {
                state = concatenate_states(&[state, part(start, active, size)?])?;
            }
            active = size;
            state = self.step(&gates[step], &state, weights)?;
            outputs.push(state[0].clone());
        }
        if backwards {
            outputs.reverse();
        }
        // The shortest sequences end first, and are last in the batch.
        finished.push(state);
        finished.reverse();
        Ok((cat(&outputs, 0)?, concatenate_states(&finished)?))
    }
}

/// Concatenates states of groups of sequences.
fn concatenate_states(parts: &[Vec<Tensor>]) -> Result<Vec<Tensor>> {
    let [only] = parts else {
        let count = 0..parts.first().map_or(0, Vec::len);
        return count.map(|kind| cat(&parts.iter().map(|part| part[kind].clone()).collect::<Vec<_>>(), 0)).collect();
    };
    Ok(only.clone())
}

/// Computes one step of a cell and returns the new state.
fn run_cell_step(
    cell: CellKind,
    input: &Tensor,
    state: &[Tensor],
    [input_weight, hidden_weight]: [&Tensor; 2],
    [input_bias, hidden_bias]: [Option<&Tensor>; 2],
) -> Result<Vec<Tensor>> {
    cell.check_state_count(state)?;
    let weights = CellWeights { input: input_weight, hidden: hidden_weight, input_bias, hidden_bias, projection: None };
    cell.step(&linear(input, input_weight, input_bias)?, state, &weights)
}

/// Splits the columns into `N` gates.
pub(super) fn split_gates<const N: usize>(gates: &Tensor) -> Result<[Tensor; N]> {
    let size = gates.sizes().last().copied().unwrap_or(0);
    if usize::try_from(size).is_ok_and(|size| size > 0 && size % N == 0) {
        return tensors_to_array(chunk(gates, i64::try_from(N).unwrap_or(1), -1)?);
    }
    Err(BadArgument::sizes("w_hh", gates.sizes(), format!("a last size that is a multiple of {N} gates")).into())
}

/// Converts the tensors to an array of `N`.
pub(super) fn tensors_to_array<const N: usize>(all: Vec<Tensor>) -> Result<[Tensor; N]> {
    let refused = |all: Vec<Tensor>| BadArgument::length("hx", all.len(), N);
    Ok(all.try_into().map_err(refused)?)
}

/// Computes one step of an LSTM. Returns the hidden state and the cell state.
#[op_def(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
    check = check_cell_arguments(CellKind::Lstm, input, hx, [w_ih, w_hh], [b_ih, b_hh])
)]
pub fn lstm_cell(_: ...) -> Result<(Tensor, Tensor)> {
    let [hidden, cell] = tensors_to_array(run_cell_step(CellKind::Lstm, input, hx, [w_ih, w_hh], [b_ih, b_hh])?)?;
    Ok((hidden, cell))
}

macro_rules! define_recurrent_cells {
    ($($cell:ident $name:ident $schema:literal;)*) => {$(
        /// Computes one step of a recurrent layer.
        #[op_def(
            $schema,
            check = check_cell_arguments(CellKind::$cell, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh])
        )]
        pub fn $name(_: ...) -> Result<Tensor> {
            let [hidden] = tensors_to_array(run_cell_step(CellKind::$cell, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh])?)?;
            Ok(hidden)
        }
    )*};
}

define_recurrent_cells! {
    Gru gru_cell
    "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
    Tanh rnn_tanh_cell
    "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
    Relu rnn_relu_cell
    "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
}
