//! Gradient formulas of normalizations and softmax.

mod batch;
mod group;
mod layer;
mod shared_gradients;
mod softmax;
