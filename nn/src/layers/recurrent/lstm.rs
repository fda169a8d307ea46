//! Long short-term memory.

use dispatch_runtime::{IntoInt, Result, Tensor};

use super::stack::{RecurrentStack, StackCall, StackOptions, impl_module_for_stack};
use crate::summary::observe;
use crate::utils::rnn::PackedSequence;

/// Layers of long short-term memory, applied to sequences.
///
/// Parameters are named `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, and `weight_hr_l0` if there is a projection, with the
/// number of the layer. Those of the second direction end in `_reverse`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{LSTM, LSTMOptions};
/// use dispatch_runtime::Tensor;
///
/// let lstm = LSTM::with(4, 8, LSTMOptions { num_layers: 2, batch_first: true, ..LSTMOptions::default() })?;
/// let x = Tensor::randn((3, 5, 4), ())?;
/// let (output, state) = lstm.forward(&x, None)?;
/// assert_eq!(output.sizes(), [3, 5, 8]);
/// // The hidden state and the cell state of each layer: the next part of the sequences continues with them.
/// assert_eq!((state.0.sizes(), state.1.sizes()), (&[2, 3, 8][..], &[2, 3, 8][..]));
/// lstm.forward(&x, Some(&state))?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LSTM {
    stack: RecurrentStack,
}

/// The options of [`LSTM`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{LSTM, LSTMOptions, Module};
/// let lstm = LSTM::with(4, 8, LSTMOptions { proj_size: 2, bias: false, ..LSTMOptions::default() })?;
/// let names: Vec<String> = lstm.parameters().into_iter().map(|parameter| parameter.name).collect();
/// assert_eq!(names, ["weight_ih_l0", "weight_hh_l0", "weight_hr_l0"]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LSTMOptions {
    /// The number of layers. Each has the output of the one before as its input.
    pub num_layers: i64,
    /// Whether the layers have biases.
    pub bias: bool,
    /// Whether inputs have sizes `[batch, length, features]` instead of `[length, batch, features]`.
    pub batch_first: bool,
    /// The probability of setting outputs of a layer to zero while training. The last layer has no dropout.
    pub dropout: f64,
    /// Whether a second direction runs from the end to the start. The output has the features of both.
    pub bidirectional: bool,
    /// The size that each output is projected to. 0 is no projection.
    pub proj_size: i64,
}

impl Default for LSTMOptions {
    fn default() -> Self {
        Self { num_layers: 1, bias: true, batch_first: false, dropout: 0.0, bidirectional: false, proj_size: 0 }
    }
}

impl LSTM {
    /// Creates one layer. Its parameters are uniform in `±1/sqrt(hidden_size)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if a size is not positive.
    pub fn new(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::with(input_size, hidden_size, LSTMOptions::default())
    }

    /// Creates layers with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if a size or the number of layers is not positive, if `dropout` is no
    /// probability, or if `proj_size` is not less than `hidden_size`.
    pub fn with(input_size: impl IntoInt, hidden_size: impl IntoInt, options: LSTMOptions) -> Result<Self> {
        let LSTMOptions { num_layers, bias, batch_first, dropout, bidirectional, proj_size } = options;
        let stack = RecurrentStack::new(StackOptions {
            input_size: input_size.into_int(),
            hidden_size: hidden_size.into_int(),
            proj_size: (proj_size != 0).then_some(proj_size),
            gate_count: 4,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
        })?;
        Ok(Self { stack })
    }

    /// Applies the layers to sequences, or to one sequence of sizes `[length, features]`. The state is that of the hidden units and of the
    /// cells, each with the sizes `[layers * directions, batch, size]`; without one, it starts with zeros. Returns the output of each step
    /// and the last state.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward(&self, input: &Tensor, state: Option<&(Tensor, Tensor)>) -> Result<(Tensor, (Tensor, Tensor))> {
        let (output, [hidden, cell]) =
            self.stack.run_padded(input, state.map(|(hidden, cell)| [hidden, cell]), |input, call| {
                let StackCall { state, params, options, training } = call;
                let StackOptions { num_layers, bias, dropout, bidirectional, .. } = options;
                let (output, hidden, cell) = aten::lstm_input(
                    input,
                    &state,
                    &params,
                    bias,
                    num_layers,
                    dropout,
                    training,
                    bidirectional,
                    options.batch_first,
                )?;
                Ok((output, [hidden, cell]))
            })?;
        observe(self, Ok((output, (hidden, cell))))
    }

    /// Applies the layers to packed sequences of different lengths.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_packed(
        &self,
        input: &PackedSequence,
        state: Option<&(Tensor, Tensor)>,
    ) -> Result<(PackedSequence, (Tensor, Tensor))> {
        let (output, [hidden, cell]) =
            self.stack.run_packed(input, state.map(|(hidden, cell)| [hidden, cell]), |input, call| {
                let StackCall { state, params, options, training } = call;
                let StackOptions { num_layers, bias, dropout, bidirectional, .. } = options;
                let (data, sizes) = (&input.data, &input.batch_sizes);
                let (output, hidden, cell) =
                    aten::lstm_data(data, sizes, &state, &params, bias, num_layers, dropout, training, bidirectional)?;
                Ok((output, [hidden, cell]))
            })?;
        Ok((output, (hidden, cell)))
    }
}

impl_module_for_stack!(LSTM);
