//! CUDA kernels of `sort`, `topk`, medians and `unique`.

mod sort_topk;
mod unique;
