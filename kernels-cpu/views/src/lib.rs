//! CPU kernels of copies, concatenation, padding, triangles, flips and rolls.
#![allow(clippy::needless_for_each, reason = "a short closure ends a chain of iterators")]

mod copy;
mod diagonal;
mod join;
mod pad;
mod rearrange;
