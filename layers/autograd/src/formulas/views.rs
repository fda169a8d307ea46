//! Gradient formulas of views, copies, concatenation and padding.

mod copy_and_fill;
mod join;
mod pad;
mod reshape;
mod select;
