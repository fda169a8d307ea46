//! Helpers of layers, under PyTorch's names.

pub mod rnn;
