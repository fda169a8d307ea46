//! Plain recurrent layers.

use dispatch_runtime::{IntoInt, Result, Tensor};

use super::stack::{RecurrentStack, StackCall, StackOptions, impl_module_for_stack};
use crate::summary::observe;
use crate::utils::rnn::PackedSequence;

/// Plain recurrent layers, `tanh(W_ih x + b_ih + W_hh h + b_hh)`, applied to sequences. Parameters are named as those of [`LSTM`](crate::LSTM).
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::RNN;
/// use dispatch_runtime::Tensor;
///
/// let (output, state) = RNN::new(4, 8)?.forward(&Tensor::randn((5, 3, 4), ())?, None)?;
/// assert_eq!((output.sizes(), state.sizes()), (&[5, 3, 8][..], &[1, 3, 8][..]));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RNN {
    stack: RecurrentStack,
    nonlinearity: RNNNonlinearity,
}

/// The function of the hidden units of [`RNN`] and [`RNNCell`](crate::RNNCell).
///
/// ```
/// assert_eq!(dispatch_nn::RNNNonlinearity::default(), dispatch_nn::RNNNonlinearity::Tanh);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RNNNonlinearity {
    /// The hyperbolic tangent.
    #[default]
    Tanh,
    /// `max(x, 0)`.
    ReLU,
}

/// The options of [`RNN`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{RNN, RNNOptions, Module};
/// let rnn = RNN::with(4, 8, RNNOptions { bidirectional: true, bias: false, ..RNNOptions::default() })?;
/// assert_eq!(rnn.parameters()[2].name, "weight_ih_l0_reverse");
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RNNOptions {
    /// The function of the hidden units.
    pub nonlinearity: RNNNonlinearity,
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
}

impl Default for RNNOptions {
    fn default() -> Self {
        Self {
            nonlinearity: RNNNonlinearity::Tanh,
            num_layers: 1,
            bias: true,
            batch_first: false,
            dropout: 0.0,
            bidirectional: false,
        }
    }
}

impl RNN {
    /// Creates one layer. Its parameters are uniform in `±1/sqrt(hidden_size)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if a size is not positive.
    pub fn new(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::with(input_size, hidden_size, RNNOptions::default())
    }

    /// Creates layers with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if a size or the number of layers is not positive, or if `dropout` is no
    /// probability.
    pub fn with(input_size: impl IntoInt, hidden_size: impl IntoInt, options: RNNOptions) -> Result<Self> {
        let RNNOptions { nonlinearity, num_layers, bias, batch_first, dropout, bidirectional } = options;
        let stack = RecurrentStack::new(StackOptions {
            input_size: input_size.into_int(),
            hidden_size: hidden_size.into_int(),
            proj_size: None,
            gate_count: 1,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
        })?;
        Ok(Self { stack, nonlinearity })
    }

    /// Applies the layers to sequences, or to one sequence of sizes `[length, features]`. The state has the sizes
    /// `[layers * directions, batch, hidden_size]`; without one, it starts with zeros. Returns the output of each step and the last state.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward(&self, input: &Tensor, state: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
        let (output, [state]) = self.stack.run_padded(input, state.map(|state| [state]), |input, call| {
            let StackCall { state: [state], params, options, training } = call;
            let StackOptions { num_layers, bias, dropout, bidirectional, .. } = options;
            let operator = match self.nonlinearity {
                RNNNonlinearity::Tanh => aten::rnn_tanh_input,
                RNNNonlinearity::ReLU => aten::rnn_relu_input,
            };
            let (output, state) = operator(
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
            Ok((output, [state]))
        })?;
        observe(self, Ok((output, state)))
    }

    /// Applies the layers to packed sequences of different lengths.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`](dispatch_runtime::BadArgument) if sizes do not fit.
    pub fn forward_packed(&self, input: &PackedSequence, state: Option<&Tensor>) -> Result<(PackedSequence, Tensor)> {
        let (output, [state]) = self.stack.run_packed(input, state.map(|state| [state]), |input, call| {
            let StackCall { state: [state], params, options, training } = call;
            let StackOptions { num_layers, bias, dropout, bidirectional, .. } = options;
            let (data, sizes) = (&input.data, &input.batch_sizes);
            let operator = match self.nonlinearity {
                RNNNonlinearity::Tanh => aten::rnn_tanh_data,
                RNNNonlinearity::ReLU => aten::rnn_relu_data,
            };
            let (output, state) =
                operator(data, sizes, &state, &params, bias, num_layers, dropout, training, bidirectional)?;
            Ok((output, [state]))
        })?;
        Ok((output, state))
    }
}

impl_module_for_stack!(RNN);
