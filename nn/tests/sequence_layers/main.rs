//! Tests that embeddings, attention, transformers and recurrent layers compute what PyTorch recorded (`record.py`), with the same gradients
//! and the same names of parameters, in f64 and in f32.

mod attention;
mod embeddings;
mod recording;
mod recurrent;
mod transformers;

use kernels_cpu as _;
