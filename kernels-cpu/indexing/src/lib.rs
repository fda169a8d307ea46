//! Kernels of indexing: gather, scatter, masks, embeddings, search and segments.
#![allow(clippy::needless_for_each, reason = "a short closure ends a chain of iterators")]

mod embedding;
mod embedding_bag;
mod gather;
mod index;
mod index_add;
pub mod index_reduction;
mod item;
mod mask;
mod scatter;
mod search;
mod segment_reduce;
