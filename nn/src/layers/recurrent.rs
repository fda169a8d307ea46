//! Recurrent layers: layers of cells that are applied to sequences, and single cells.

mod cells;
mod gru;
mod lstm;
mod rnn;
mod stack;

pub use cells::{GRUCell, LSTMCell, RNNCell, RNNCellOptions};
pub use gru::{GRU, GRUOptions};
pub use lstm::{LSTM, LSTMOptions};
pub use rnn::{RNN, RNNNonlinearity, RNNOptions};
