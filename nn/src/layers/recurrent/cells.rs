//! Recurrent cells: one step of a recurrent layer.

use aten::prelude::*;
use dispatch_runtime::{BadArgument, IntoInt, Result, Tensor};

use super::rnn::RNNNonlinearity;
use super::stack::try_map;
use crate::layers::checks::check_positive;
use crate::layers::linear::uniform_for_inputs;
use crate::param::Param;
use crate::summary::observe;

macro_rules! define_cells {
    ($($(#[$doc:meta])* $cell:ident $gate_count:literal { $($(#[$field_doc:meta])* $field:ident: $ty:ty)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, crate::Module)]
        pub struct $cell {
            /// The weights of the input, of sizes `[gates * hidden_size, input_size]`.
            pub weight_ih: Param,
            /// The weights of the hidden state, of sizes `[gates * hidden_size, hidden_size]`.
            pub weight_hh: Param,
            /// The bias of the input.
            pub bias_ih: Option<Param>,
            /// The bias of the hidden state.
            pub bias_hh: Option<Param>,
            $($(#[$field_doc])* $field: $ty)?
        }

        impl $cell {
            /// Creates a cell with parameters that are uniform in `±1/sqrt(hidden_size)`.
            fn initial(input_size: i64, hidden_size: i64, bias: bool, $($field: $ty)?) -> Result<Self> {
                check_positive("input_size", input_size)?;
                check_positive("hidden_size", hidden_size)?;
                let gates = hidden_size.saturating_mul($gate_count);
                let weight = |columns| uniform_for_inputs([gates, columns], hidden_size);
                let one_bias = || bias.then(|| uniform_for_inputs(gates, hidden_size)).transpose();
                Ok(Self {
                    weight_ih: weight(input_size)?,
                    weight_hh: weight(hidden_size)?,
                    bias_ih: one_bias()?,
                    bias_hh: one_bias()?,
                    $($field)?
                })
            }
        }
    )*};
}

define_cells! {
    /// One step of an [`RNN`](crate::RNN).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::RNNCell;
    /// use dispatch_runtime::Tensor;
    /// let cell = RNNCell::new(4, 8)?;
    /// let state = cell.forward(&Tensor::zeros((3, 4), ())?, None)?;
    /// assert_eq!(cell.forward(&Tensor::zeros((3, 4), ())?, Some(&state))?.sizes(), [3, 8]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    RNNCell 1 {
        #[module(skip)]
        nonlinearity: RNNNonlinearity
    }

    /// One step of an [`LSTM`](crate::LSTM).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::LSTMCell;
    /// use dispatch_runtime::Tensor;
    /// let cell = LSTMCell::new(4, 8)?;
    /// let state = cell.forward(&Tensor::zeros((3, 4), ())?, None)?;
    /// let (hidden, cell) = cell.forward(&Tensor::zeros((3, 4), ())?, Some(&state))?;
    /// assert_eq!((hidden.sizes(), cell.sizes()), (&[3, 8][..], &[3, 8][..]));
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    LSTMCell 4 {}

    /// One step of a [`GRU`](crate::GRU).
    ///
    /// ```
    /// # use kernels_cpu as _;
    /// use aten::prelude::*;
    /// use dispatch_nn::GRUCell;
    /// use dispatch_runtime::Tensor;
    /// let cell = GRUCell::new(4, 8)?;
    /// let state = cell.forward(&Tensor::zeros((3, 4), ())?, None)?;
    /// assert_eq!(cell.forward(&Tensor::zeros((3, 4), ())?, Some(&state))?.sizes(), [3, 8]);
    /// # Ok::<(), dispatch_runtime::Error>(())
    /// ```
    GRUCell 3 {}
}

/// The options of [`RNNCell`].
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{RNNCell, RNNCellOptions, RNNNonlinearity};
/// let options = RNNCellOptions { nonlinearity: RNNNonlinearity::ReLU, ..RNNCellOptions::default() };
/// RNNCell::with(4, 8, options)?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RNNCellOptions {
    /// Whether the cell has biases.
    pub bias: bool,
    /// The function of the hidden units.
    pub nonlinearity: RNNNonlinearity,
}

impl Default for RNNCellOptions {
    fn default() -> Self {
        Self { bias: true, nonlinearity: RNNNonlinearity::Tanh }
    }
}

impl RNNCell {
    /// Creates a cell. Its parameters are uniform in `±1/sqrt(hidden_size)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is not positive.
    pub fn new(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::with(input_size, hidden_size, RNNCellOptions::default())
    }

    /// Creates a cell with options.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is not positive.
    pub fn with(input_size: impl IntoInt, hidden_size: impl IntoInt, options: RNNCellOptions) -> Result<Self> {
        Self::initial(input_size.into_int(), hidden_size.into_int(), options.bias, options.nonlinearity)
    }

    /// Computes one step for inputs of sizes `[batch, features]` or `[features]`. Without a state, it starts with zeros.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit.
    pub fn forward(&self, input: &Tensor, state: Option<&Tensor>) -> Result<Tensor> {
        let operator = match self.nonlinearity {
            RNNNonlinearity::Tanh => aten::rnn_tanh_cell,
            RNNNonlinearity::ReLU => aten::rnn_relu_cell,
        };
        let [state] = step(input, &self.weight_hh, state.map(|state| [state]), |input, [state]| {
            let biases = (self.bias_ih.as_deref(), self.bias_hh.as_deref());
            Ok([operator(input, &state, &self.weight_ih, &self.weight_hh, biases.0, biases.1)?])
        })?;
        observe(self, Ok(state))
    }
}

impl LSTMCell {
    /// Creates a cell. Its parameters are uniform in `±1/sqrt(hidden_size)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is not positive.
    pub fn new(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::initial(input_size.into_int(), hidden_size.into_int(), true)
    }

    /// Creates a cell without biases. PyTorch: `LSTMCell(.., bias=False)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is not positive.
    pub fn without_bias(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::initial(input_size.into_int(), hidden_size.into_int(), false)
    }

    /// Computes one step for inputs of sizes `[batch, features]` or `[features]`. Returns the hidden state and the cell state. Without a
    /// state, it starts with zeros.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit.
    pub fn forward(&self, input: &Tensor, state: Option<&(Tensor, Tensor)>) -> Result<(Tensor, Tensor)> {
        let state = state.map(|(hidden, cell)| [hidden, cell]);
        let [hidden, cell] = step(input, &self.weight_hh, state, |input, state| {
            let biases = (self.bias_ih.as_deref(), self.bias_hh.as_deref());
            let (hidden, cell) = aten::lstm_cell(input, &state, &self.weight_ih, &self.weight_hh, biases.0, biases.1)?;
            Ok([hidden, cell])
        })?;
        observe(self, Ok((hidden, cell)))
    }
}

impl GRUCell {
    /// Creates a cell. Its parameters are uniform in `±1/sqrt(hidden_size)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is not positive.
    pub fn new(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::initial(input_size.into_int(), hidden_size.into_int(), true)
    }

    /// Creates a cell without biases. PyTorch: `GRUCell(.., bias=False)`.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if a size is not positive.
    pub fn without_bias(input_size: impl IntoInt, hidden_size: impl IntoInt) -> Result<Self> {
        Self::initial(input_size.into_int(), hidden_size.into_int(), false)
    }

    /// Computes one step for inputs of sizes `[batch, features]` or `[features]`. Without a state, it starts with zeros.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if sizes do not fit.
    pub fn forward(&self, input: &Tensor, state: Option<&Tensor>) -> Result<Tensor> {
        let [state] = step(input, &self.weight_hh, state.map(|state| [state]), |input, [state]| {
            let biases = (self.bias_ih.as_deref(), self.bias_hh.as_deref());
            Ok([aten::gru_cell(input, &state, &self.weight_ih, &self.weight_hh, biases.0, biases.1)?])
        })?;
        observe(self, Ok(state))
    }
}

/// Runs an operator on a batch, or on one input as a batch of one.
fn step<const STATES: usize>(
    input: &Tensor,
    weight_hh: &Tensor,
    state: Option<[&Tensor; STATES]>,
    operator: impl FnOnce(&Tensor, [Tensor; STATES]) -> Result<[Tensor; STATES]>,
) -> Result<[Tensor; STATES]> {
    let rank = input.sizes().len();
    if rank != 1 && rank != 2 {
        return Err(BadArgument::rank("input", rank, &[1, 2]).because("the batch is optional").into());
    }
    if let Some(odd) = state.into_iter().flatten().find(|part| part.sizes().len() != rank) {
        return Err(BadArgument::rank("state", odd.sizes().len(), rank).like("input").into());
    }
    let batched = |tensor: &Tensor| if rank == 1 { tensor.unsqueeze(0) } else { Ok(tensor.clone()) };
    let input = batched(input)?;
    let state = if let Some(state) = state {
        try_map(state, batched)?
    } else {
        let batch = input.sizes().first().copied().unwrap_or(0);
        let zeros = Tensor::zeros((batch, weight_hh.sizes().last().copied().unwrap_or(0)), &input)?;
        std::array::from_fn(|_| zeros.clone())
    };
    let state = operator(&input, state)?;
    if rank == 1 { try_map(state.each_ref(), |part| part.squeeze_dims(0)) } else { Ok(state) }
}
