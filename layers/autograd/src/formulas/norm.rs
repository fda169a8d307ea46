//! Of normalisations.

mod batch;
mod layer;
mod normalized;
mod softmax;
