//! Of views, copies, and wholes made of parts.

mod copying;
mod geometry;
mod join;
mod pads;
mod parts;
