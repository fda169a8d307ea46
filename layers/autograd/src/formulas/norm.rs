//! Gradient formulas of normalizations and softmax.

mod batch;
mod group;
mod layer;
mod normalized;
mod softmax;
