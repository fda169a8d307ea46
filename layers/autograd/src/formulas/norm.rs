//! Gradient formulas of normalizations and softmax.

mod batch_norm;
mod group_norm;
mod layer_norm;
mod shared_gradients;
mod softmax;
