//! Gradient formulas of views, copies, concatenation and padding.

mod copy;
mod join;
mod pad;
mod reshape;
mod select;
