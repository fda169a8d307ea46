//! The layers, under PyTorch's names.

mod attention;
mod checks;
mod dropout;
mod embedding;
mod embedding_bag;
mod initial;
mod linear;
mod module_dict;
mod recurrent;
mod sequential;
mod simple;

pub use attention::{AttentionMasks, MultiheadAttention, MultiheadAttentionOptions};
pub use dropout::Dropout;
pub use embedding::{Embedding, EmbeddingOptions};
pub use embedding_bag::{EmbeddingBag, EmbeddingBagOptions};
pub use linear::Linear;
pub use module_dict::{ModuleDict, ModuleList};
pub use recurrent::*;
pub use sequential::Sequential;
pub use simple::ReLU;
