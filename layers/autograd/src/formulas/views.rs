//! Gradient formulas of views, copies, concatenation and padding.

mod cat_and_flip;
mod copy_and_fill;
mod pad;
mod reshape;
mod select_and_split;
