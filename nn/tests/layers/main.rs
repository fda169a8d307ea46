//! Layers compared with recordings of PyTorch's, which `record.py` makes: outputs, gradients, and buffers, in training and in evaluation.

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
