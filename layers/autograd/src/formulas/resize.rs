//! Of images of other sizes.

mod grid;
mod upsample;
