//! Of normalisations.

mod batch;
mod layers;
mod shared;
mod softmax;
