//! Rules for operators of aten that no word speaks for.

mod along;
mod geometry;
mod images;
mod indexing;
mod normalized;
mod products;
mod reductions;
mod same;
