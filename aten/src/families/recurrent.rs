//! Recurrent networks: cells, layers and packed sequences.

mod cell_gradients;
mod cells;
mod checks;
mod layers;
mod packed_sequence;

/// The public items of the family. They are in a module of their own, as a file may have the name of an operator.
pub(crate) mod operators {
    // A glob import of names that all begin with `_` counts as unused.
    pub use super::cell_gradients::{
        _thnn_differentiable_gru_cell_backward, _thnn_differentiable_lstm_cell_backward,
        _thnn_fused_lstm_cell_backward, _use_cudnn_rnn_flatten_weight,
    };
    pub use super::{cells::*, layers::*, packed_sequence::*};
}
