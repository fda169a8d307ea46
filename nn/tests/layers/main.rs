//! Layers compared with recordings of PyTorch's, which `record.py` makes: outputs, gradients, and buffers, in training and in evaluation.

#![allow(clippy::cast_precision_loss, reason = "counts of elements are small")]
#![allow(clippy::float_cmp, reason = "these numbers are exact")]

mod activation;
mod conv;
mod initial;
mod loss;
mod norm;
mod options;
mod padding;
mod pooling;
mod random;
mod recording;
mod shape;
