//! CPU kernels of copies, concatenation, padding, triangles, flips and rolls.
#![allow(clippy::needless_for_each, reason = "a short step at the end of a chain")]

mod copy;
mod diagonal;
mod join;
mod pad;
mod rearrange;
