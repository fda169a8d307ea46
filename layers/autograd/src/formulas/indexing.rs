//! Of elements at places.

mod embedding_bag;
mod index;
mod scatter;
mod scatter_reduce;
mod segment_reduce;
mod unsafe_index;
