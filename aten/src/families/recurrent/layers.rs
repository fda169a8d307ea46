//! Recurrent layers: cells applied to whole sequences, in one or both directions, in several layers.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::cells::{Cell, Weights, exactly};
use super::packed_sequence::batch_sizes_of;
use crate::{cat, check_calls, dropout, flatten_using_ints, reshape, select_int, stack, transpose_int};

/// The parameters and options of stacked recurrent layers.
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
    /// Returns the parameters of each direction of each layer.
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

    /// Runs all layers over a packed sequence. `start` has a tensor for each kind of state, with one state for each direction of each
    /// layer.
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

    /// Runs all layers over padded sequences.
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

macro_rules! layers {
    ($($cell:ident [$($result:tt)+] $start:expr => $end:expr;
        $padded:ident $padded_schema:literal $packed:ident $packed_schema:literal;)*) => {$(
        /// Applies recurrent layers to padded sequences. Returns the output of each step, and the last states.
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

        /// Applies recurrent layers to packed sequences. Returns the output of each step, and the last states.
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
