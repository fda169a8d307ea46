//! Recurrent layers: cells applied to whole sequences, in one or both directions, in several layers.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use super::cells::{CellKind, CellWeights, tensors_to_array};
use super::packed_sequence::read_batch_sizes;
use crate::{cat, check_call_count, dropout, flatten_using_ints, reshape, select_int, stack, transpose_int};

/// The parameters and options of stacked recurrent layers.
pub(super) struct RecurrentLayers<'a> {
    pub(super) cell: CellKind,
    pub(super) params: &'a [Tensor],
    has_biases: bool,
    pub(super) num_layers: i64,
    dropout: f64,
    train: bool,
    pub(super) bidirectional: bool,
}

impl RecurrentLayers<'_> {
    /// Returns the parameters of each direction of each layer.
    pub(super) fn direction_weights(&self, projected: bool) -> Result<Vec<CellWeights<'_>>, BadArgument> {
        let each = if self.has_biases { 4 } else { 2 } + usize::from(projected);
        let directions = if self.bidirectional { 2 } else { 1 };
        let direction_count = usize::try_from(self.num_layers).unwrap_or(0).saturating_mul(directions);
        if direction_count == 0 {
            return Err(BadArgument::number("num_layers", self.num_layers, 1..));
        }
        let all = direction_count.saturating_mul(each);
        if self.params.len() != all {
            return Err(BadArgument::length("params", self.params.len(), all)
                .because(format!("each direction of each layer has {each}")));
        }
        let weights = self.params.chunks(each).map(|params| CellWeights {
            input: &params[0],
            hidden: &params[1],
            input_bias: params.get(2).filter(|_| self.has_biases),
            hidden_bias: params.get(3).filter(|_| self.has_biases),
            projection: params.last().filter(|_| projected),
        });
        Ok(weights.collect())
    }

    /// Runs all layers over a packed sequence. `initial_state` has a tensor for each kind of state, with one state for each direction of each
    /// layer.
    fn run_packed(&self, data: &Tensor, sizes: &[i64], initial_state: &[Tensor]) -> Result<(Tensor, Vec<Tensor>)> {
        self.cell.check_state_count(initial_state)?;
        let projected =
            self.cell == CellKind::Lstm && initial_state[0].sizes().last() != initial_state[1].sizes().last();
        let weights = self.direction_weights(projected)?;
        let batch = sizes.first().copied().unwrap_or(0);
        for state in initial_state {
            let fits = matches!(state.sizes(), &[count, own, _] if usize::try_from(count) == Ok(weights.len()) && own == batch);
            if !fits {
                let expected = format!("[{}, {batch}, _], with a state for each layer and sequence", weights.len());
                return Err(BadArgument::sizes("hx", state.sizes(), expected).into());
            }
        }
        let (mut data, mut final_states, mut at) = (data.clone(), vec![Vec::new(); initial_state.len()], 0);
        let layers = weights.chunks(if self.bidirectional { 2 } else { 1 });
        let last = layers.len() - 1;
        for (layer, directions) in layers.enumerate() {
            let mut outputs = Vec::new();
            for (direction, weights) in directions.iter().enumerate() {
                let first = initial_state.iter().map(|state| select_int(state, 0, at)).collect::<Result<Vec<_>>>()?;
                let (output, end) = self.cell.run_packed(&data, sizes, &first, weights, direction == 1)?;
                outputs.push(output);
                final_states.iter_mut().zip(end).for_each(|(final_states, end)| final_states.push(end));
                at += 1;
            }
            data = if let [only] = &outputs[..] { only.clone() } else { cat(&outputs, -1)? };
            if self.train && self.dropout > 0.0 && layer < last {
                data = dropout(&data, self.dropout, true)?;
            }
        }
        Ok((data, final_states.iter().map(|final_states| stack(final_states, 0)).collect::<Result<_>>()?))
    }

    /// Runs all layers over padded sequences.
    fn run_padded(&self, input: &Tensor, initial_state: &[Tensor], batch_first: bool) -> Result<(Tensor, Vec<Tensor>)> {
        if input.sizes().len() != 3 {
            return Err(BadArgument::rank("input", input.sizes().len(), 3).into());
        }
        let input = if batch_first { transpose_int(input, 0, 1)? } else { input.clone() };
        let [steps, batch] = [input.sizes()[0], input.sizes()[1]];
        if steps == 0 {
            return Err(BadArgument::sizes("input", input.sizes(), "at least one step").into());
        }
        check_call_count("input", steps)?;
        let sizes = vec![batch; usize::try_from(steps).unwrap_or(0)];
        let (output, final_states) = self.run_packed(&flatten_using_ints(&input, 0, 1)?, &sizes, initial_state)?;
        let output = reshape(&output, &[steps, batch, output.sizes()[1]])?;
        Ok((if batch_first { transpose_int(&output, 0, 1)? } else { output }, final_states))
    }
}

macro_rules! define_recurrent_layers {
    ($($cell:ident [$($result:tt)+] $initial_state:expr => $results:expr;
        $padded:ident $padded_schema:literal $packed:ident $packed_schema:literal;)*) => {$(
        /// Applies recurrent layers to padded sequences. Returns the output of each step, and the last states.
        #[op_def(
            $padded_schema,
            check = RecurrentLayers { cell: CellKind::$cell, params, has_biases, num_layers, dropout, train, bidirectional }
                .check_params(("input", input), $initial_state(hx))
        )]
        pub fn $padded(_: ...) -> $($result)+ {
            let stack = RecurrentLayers { cell: CellKind::$cell, params, has_biases, num_layers, dropout, train, bidirectional };
            let (output, final_states) = stack.run_padded(input, $initial_state(hx), batch_first)?;
            $results(output, final_states)
        }

        /// Applies recurrent layers to packed sequences. Returns the output of each step, and the last states.
        #[op_def(
            $packed_schema,
            check = RecurrentLayers { cell: CellKind::$cell, params, has_biases, num_layers, dropout, train, bidirectional }
                .check_params(("data", data), $initial_state(hx))
        )]
        pub fn $packed(_: ...) -> $($result)+ {
            let stack = RecurrentLayers { cell: CellKind::$cell, params, has_biases, num_layers, dropout, train, bidirectional };
            let (output, final_states) = stack.run_packed(data, &read_batch_sizes(batch_sizes, data, $packed::operator())?, $initial_state(hx))?;
            $results(output, final_states)
        }
    )*};
}

define_recurrent_layers! {
    Lstm [Result<(Tensor, Tensor, Tensor)>] std::convert::identity => output_hidden_and_cell;
    lstm_input
    "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"
    lstm_data
    "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)";
    Gru [Result<(Tensor, Tensor)>] std::slice::from_ref => output_and_hidden;
    gru_input
    "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    gru_data
    "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
    Tanh [Result<(Tensor, Tensor)>] std::slice::from_ref => output_and_hidden;
    rnn_tanh_input
    "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    rnn_tanh_data
    "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
    Relu [Result<(Tensor, Tensor)>] std::slice::from_ref => output_and_hidden;
    rnn_relu_input
    "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
    rnn_relu_data
    "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)";
}

fn output_and_hidden(output: Tensor, final_states: Vec<Tensor>) -> Result<(Tensor, Tensor)> {
    let [hidden] = tensors_to_array(final_states)?;
    Ok((output, hidden))
}

fn output_hidden_and_cell(output: Tensor, final_states: Vec<Tensor>) -> Result<(Tensor, Tensor, Tensor)> {
    let [hidden, cell] = tensors_to_array(final_states)?;
    Ok((output, hidden, cell))
}
