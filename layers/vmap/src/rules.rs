//! Rules for operators of aten that no word speaks for.

mod along;
mod products;
mod reductions;
mod same;
