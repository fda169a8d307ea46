//! Of views, copies, and wholes made of parts.

mod copy;
mod join;
mod pad;
mod reshape;
mod select;
