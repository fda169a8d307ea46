//! CPU kernels of sorting, selection by rank, and distinct elements.
#![allow(clippy::float_cmp, reason = "kernels compare exactly if their definitions do")]
#![allow(clippy::needless_for_each, reason = "a short closure ends a chain of iterators")]

mod sort_select;
mod sort_topk;
mod unique;
