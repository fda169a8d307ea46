//! Of normalisations.

mod batch;
mod group;
mod layer;
mod normalized;
mod softmax;
