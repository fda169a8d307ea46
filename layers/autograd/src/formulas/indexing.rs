//! Gradient formulas of indexing, gather and scatter operators.

mod embedding_bag;
mod index;
mod scatter;
mod scatter_reduce;
mod segment_reduce;
mod unsafe_index;
