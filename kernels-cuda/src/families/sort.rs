//! Sorted and unique elements.

mod sort_topk;
mod unique;
