//! Elements by their places: gathered, picked, scattered.
#![allow(clippy::needless_for_each, reason = "a short step at the end of a chain")]

mod bags;
mod gather;
mod index;
mod mask;
pub mod scatter;
mod search;
mod segments;
