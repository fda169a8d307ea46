//! Kernels of indexing: gather, scatter, masks, embeddings, search and segments.
#![allow(clippy::needless_for_each, reason = "a short closure ends a chain of iterators")]

mod embedding;
mod embedding_bag;
mod index;
mod index_add;
mod index_pairs;
pub mod index_reduction;
mod item;
mod mask;
mod scatter;
mod search;
mod segment_reduce;
