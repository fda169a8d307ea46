//! CPU kernels of sorting, selection by rank, and distinct elements.
#![allow(clippy::float_cmp, reason = "kernels compare exactly where their definitions do")]
#![allow(clippy::needless_for_each, reason = "a short step at the end of a chain")]

mod sort_select;
mod sort_topk;
mod unique;
