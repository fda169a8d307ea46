//! CUDA kernels of indexing operators: gather, scatter, masks, embeddings and searches.

mod embedding;
mod embedding_bag;
mod index;
mod index_add;
mod item;
mod mask;
mod scatter;
mod scatter_target;
mod search;
mod segment_reduce;
