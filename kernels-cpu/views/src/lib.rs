//! Copies of what views show, joined and padded.
#![allow(clippy::needless_for_each, reason = "a short step at the end of a chain")]

mod copy;
mod diagonal;
mod join;
mod pad;
mod rearrange;
