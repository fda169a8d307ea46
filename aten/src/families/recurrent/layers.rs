//! Recurrent layers.
//!
//! A layer walks over a pack: rows step by step, and how many sequences each step has. Padded sequences are a pack whose steps all have
//! as many. What the input adds to the gates is one product for all steps.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::checks::check_step;
use super::packed_sequence::batch_sizes_of;
use crate::check_calls;
use crate::{
    add, cat, chunk, dropout, flatten_using_ints, linear, mul, narrow, relu, reshape, select_int, sigmoid,
    split_with_sizes, stack, sub, tanh, transpose_int,
};

const ONE: Scalar = Scalar::Int(1);

/// What happens in a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Lstm,
    Gru,
    Tanh,
    Relu,
}

/// The parameters of one direction of a layer.
pub(super) struct Weights<'a> {
    input: &'a Tensor,
    hidden: &'a Tensor,
    input_bias: Option<&'a Tensor>,
    hidden_bias: Option<&'a Tensor>,
    /// What makes the state that is given on of the one that was computed, if that is another.
    projection: Option<&'a Tensor>,
}

impl Cell {
    /// Refuses another number of states than it has.
    pub(super) fn check(self, state: &[Tensor]) -> Result<(), BadArgument> {
        let kinds = if self == Self::Lstm { 2 } else { 1 };
        if state.len() == kinds {
            return Ok(());
        }
        Err(BadArgument::length("hx", state.len(), kinds))
    }

    /// How many gates a step has.
    pub(super) const fn gates(self) -> i64 {
        match self {
            Self::Lstm => 4,
            Self::Gru => 3,
            Self::Tanh | Self::Relu => 1,
        }
    }

    /// The next state, of what the input adds to the gates and of the state before.
    fn step(self, gates: &Tensor, state: &[Tensor], weights: &Weights<'_>) -> Result<Vec<Tensor>> {
        let hidden = linear(&state[0], weights.hidden, weights.hidden_bias)?;
        match self {
            Self::Tanh => Ok(vec![tanh(&add(gates, &hidden, ONE)?)?]),
            Self::Relu => Ok(vec![relu(&add(gates, &hidden, ONE)?)?]),
            Self::Gru => {
                let [reset, update, new] = parts(gates)?;
                let [by_reset, by_update, by_new] = parts(&hidden)?;
                let gate = |input: &Tensor, hidden: &Tensor| sigmoid(&add(input, hidden, ONE)?);
                let new = tanh(&add(&new, &mul(&gate(&reset, &by_reset)?, &by_new)?, ONE)?)?;
                Ok(vec![add(&mul(&sub(&state[0], &new, ONE)?, &gate(&update, &by_update)?)?, &new, ONE)?])
            }
            Self::Lstm => {
                let [written, kept, new, shown] = parts(&add(gates, &hidden, ONE)?)?;
                let kept = mul(&sigmoid(&kept)?, &state[1])?;
                let cell = add(&kept, &mul(&sigmoid(&written)?, &tanh(&new)?)?, ONE)?;
                let hidden = mul(&sigmoid(&shown)?, &tanh(&cell)?)?;
                let hidden = match weights.projection {
                    Some(projection) => linear(&hidden, projection, None)?,
                    None => hidden,
                };
                Ok(vec![hidden, cell])
            }
        }
    }

    /// Walks over a pack, from either end. Gives what came of each row, and the last state of each sequence.
    fn walk(
        self,
        data: &Tensor,
        sizes: &[i64],
        start: &[Tensor],
        weights: &Weights<'_>,
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
        let mut running = steps.first().map_or(0, |&step| sizes[step]);
        let (mut state, mut ended, mut outputs) = (part(start, 0, running)?, Vec::new(), Vec::new());
        for step in steps {
            let size = sizes[step];
            if size < running {
                ended.push(part(&state, size, running)?);
                state = part(&state, 0, size)?;
            } else if size > running {
                state = joined(&[state, part(start, running, size)?])?;
            }
            running = size;
            state = self.step(&gates[step], &state, weights)?;
            outputs.push(state[0].clone());
        }
        if backwards {
            outputs.reverse();
        }
        // The shortest sequences are last, and ended first.
        ended.push(state);
        ended.reverse();
        Ok((cat(&outputs, 0)?, joined(&ended)?))
    }
}

/// Parts of states as one.
fn joined(parts: &[Vec<Tensor>]) -> Result<Vec<Tensor>> {
    let [only] = parts else {
        let kinds = 0..parts.first().map_or(0, Vec::len);
        return kinds.map(|kind| cat(&parts.iter().map(|part| part[kind].clone()).collect::<Vec<_>>(), 0)).collect();
    };
    Ok(only.clone())
}

/// How layers are stacked.
pub(super) struct Stack<'a> {
    pub(super) cell: Cell,
    pub(super) params: &'a [Tensor],
    has_biases: bool,
    pub(super) num_layers: i64,
    dropout: f64,
    train: bool,
    pub(super) bidirectional: bool,
}

impl Stack<'_> {
    /// The parameters of each direction of each layer.
    pub(super) fn weights(&self, projected: bool) -> Result<Vec<Weights<'_>>, BadArgument> {
        let each = if self.has_biases { 4 } else { 2 } + usize::from(projected);
        let directions = if self.bidirectional { 2 } else { 1 };
        let wanted = usize::try_from(self.num_layers).unwrap_or(0).saturating_mul(directions);
        if wanted == 0 {
            return Err(BadArgument::number("num_layers", self.num_layers, 1..));
        }
        let all = wanted.saturating_mul(each);
        if self.params.len() != all {
            return Err(BadArgument::length("params", self.params.len(), all)
                .because(format!("each direction of each layer has {each}")));
        }
        let weights = self.params.chunks(each).map(|params| Weights {
            input: &params[0],
            hidden: &params[1],
            input_bias: params.get(2).filter(|_| self.has_biases),
            hidden_bias: params.get(3).filter(|_| self.has_biases),
            projection: params.last().filter(|_| projected),
        });
        Ok(weights.collect())
    }

    /// Walks over a pack, layer by layer. `start` has a tensor for each kind of state, with one state for each direction of each layer.
    fn run(&self, data: &Tensor, sizes: &[i64], start: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        self.cell.check(start)?;
        let projected = self.cell == Cell::Lstm && start[0].sizes().last() != start[1].sizes().last();
        let weights = self.weights(projected)?;
        let batch = sizes.first().copied().unwrap_or(0);
        for state in start {
            let fits = matches!(state.sizes(), &[count, own, _] if usize::try_from(count) == Ok(weights.len()) && own == batch);
            if !fits {
                let expected = format!("[{}, {batch}, _], a state for each layer and sequence", weights.len());
                return Err(BadArgument::sizes("hx", state.sizes(), expected).into());
            }
        }
        let (mut data, mut ends, mut at) = (data.clone(), vec![Vec::new(); start.len()], 0);
        let layers = weights.chunks(if self.bidirectional { 2 } else { 1 });
        let last = layers.len() - 1;
        for (layer, directions) in layers.enumerate() {
            let mut outputs = Vec::new();
            for (direction, weights) in directions.iter().enumerate() {
                let first = start.iter().map(|state| select_int(state, 0, at)).collect::<Result<Vec<_>>>()?;
                let (output, end) = self.cell.walk(&data, sizes, &first, weights, direction == 1)?;
                outputs.push(output);
                ends.iter_mut().zip(end).for_each(|(ends, end)| ends.push(end));
                at += 1;
            }
            data = if let [only] = &outputs[..] { only.clone() } else { cat(&outputs, -1)? };
            if self.train && self.dropout > 0.0 && layer < last {
                data = dropout(&data, self.dropout, true)?;
            }
        }
        Ok((data, ends.iter().map(|ends| stack(ends, 0)).collect::<Result<_>>()?))
    }

    /// The same over padded sequences.
    fn run_padded(&self, input: &Tensor, start: &[Tensor], batch_first: bool) -> Result<(Tensor, Vec<Tensor>)> {
        if input.sizes().len() != 3 {
            return Err(BadArgument::rank("input", input.sizes().len(), 3).into());
        }
        let input = if batch_first { transpose_int(input, 0, 1)? } else { input.clone() };
        let [steps, batch] = [input.sizes()[0], input.sizes()[1]];
        if steps == 0 {
            return Err(BadArgument::sizes("input", input.sizes(), "at least one step").into());
        }
        check_calls("input", steps)?;
        let sizes = vec![batch; usize::try_from(steps).unwrap_or(0)];
        let (output, ends) = self.run(&flatten_using_ints(&input, 0, 1)?, &sizes, start)?;
        let output = reshape(&output, &[steps, batch, output.sizes()[1]])?;
        Ok((if batch_first { transpose_int(&output, 0, 1)? } else { output }, ends))
    }
}

/// One step: the state after it.
fn step(
    cell: Cell,
    input: &Tensor,
    state: &[Tensor],
    [input_weight, hidden_weight]: [&Tensor; 2],
    [input_bias, hidden_bias]: [Option<&Tensor>; 2],
) -> Result<Vec<Tensor>> {
    cell.check(state)?;
    let weights = Weights { input: input_weight, hidden: hidden_weight, input_bias, hidden_bias, projection: None };
    cell.step(&linear(input, input_weight, input_bias)?, state, &weights)
}

/// The gates that lie side by side.
fn parts<const N: usize>(gates: &Tensor) -> Result<[Tensor; N]> {
    let size = gates.sizes().last().copied().unwrap_or(0);
    if usize::try_from(size).is_ok_and(|size| size > 0 && size % N == 0) {
        return exactly(chunk(gates, i64::try_from(N).unwrap_or(1), -1)?);
    }
    Err(BadArgument::sizes("w_hh", gates.sizes(), format!("rows for {N} gates")).into())
}

/// As many tensors as there are known to be.
fn exactly<const N: usize>(all: Vec<Tensor>) -> Result<[Tensor; N]> {
    let refused = |all: Vec<Tensor>| BadArgument::length("hx", all.len(), N);
    Ok(all.try_into().map_err(refused)?)
}

/// One step of a long short-term memory: its output, and its memory.
#[op_def(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
    check = check_step(Cell::Lstm, input, hx, [w_ih, w_hh], [b_ih, b_hh])
)]
pub fn lstm_cell(_: ...) -> Result<(Tensor, Tensor)> {
    let [hidden, cell] = exactly(step(Cell::Lstm, input, hx, [w_ih, w_hh], [b_ih, b_hh])?)?;
    Ok((hidden, cell))
}

macro_rules! cells {
    ($($cell:ident $name:ident $schema:literal;)*) => {$(
        /// One step of a recurrent layer.
        #[op_def(
            $schema,
            check = check_step(Cell::$cell, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh])
        )]
        pub fn $name(_: ...) -> Result<Tensor> {
            let [hidden] = exactly(step(Cell::$cell, input, std::slice::from_ref(hx), [w_ih, w_hh], [b_ih, b_hh])?)?;
            Ok(hidden)
        }
    )*};
}

cells! {
    Gru gru_cell
    "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
    Tanh rnn_tanh_cell
    "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
    Relu rnn_relu_cell
    "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor";
}

macro_rules! layers {
    ($($cell:ident [$($result:tt)+] $start:expr => $end:expr;
        $padded:ident $padded_schema:literal $packed:ident $packed_schema:literal;)*) => {$(
        /// Recurrent layers over padded sequences: what came of each step, and the last states.
        #[op_def(
            $padded_schema,
            check = Stack { cell: Cell::$cell, params, has_biases, num_layers, dropout, train, bidirectional }
                .check(("input", input), $start(hx))
        )]
        pub fn $padded(_: ...) -> $($result)+ {
            let stack = Stack { cell: Cell::$cell, params, has_biases, num_layers, dropout, train, bidirectional };
            let (output, ends) = stack.run_padded(input, $start(hx), batch_first)?;
            $end(output, ends)
        }

        /// Recurrent layers over packed sequences: what came of each step, and the last states.
        #[op_def(
            $packed_schema,
            check = Stack { cell: Cell::$cell, params, has_biases, num_layers, dropout, train, bidirectional }
                .check(("data", data), $start(hx))
        )]
        pub fn $packed(_: ...) -> $($result)+ {
            let stack = Stack { cell: Cell::$cell, params, has_biases, num_layers, dropout, train, bidirectional };
            let (output, ends) = stack.run(data, &batch_sizes_of(batch_sizes, data, $packed::operator())?, $start(hx))?;
            $end(output, ends)
        }
    )*};
}

layers! {
    Lstm [Result<(Tensor, Tensor, Tensor)>] std::convert::identity => with_two;
    lstm_input
    "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"
    lstm_data
    "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)";
    Gru [Result<(Tensor, Tensor)>] std::slice::from_ref => with_one;
    gru_input
    "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    gru_data
    "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
    Tanh [Result<(Tensor, Tensor)>] std::slice::from_ref => with_one;
    rnn_tanh_input
    "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    rnn_tanh_data
    "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
    Relu [Result<(Tensor, Tensor)>] std::slice::from_ref => with_one;
    rnn_relu_input
    "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    rnn_relu_data
    "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
}

fn with_one(output: Tensor, ends: Vec<Tensor>) -> Result<(Tensor, Tensor)> {
    let [hidden] = exactly(ends)?;
    Ok((output, hidden))
}

fn with_two(output: Tensor, ends: Vec<Tensor>) -> Result<(Tensor, Tensor, Tensor)> {
    let [hidden, cell] = exactly(ends)?;
    Ok((output, hidden, cell))
}
