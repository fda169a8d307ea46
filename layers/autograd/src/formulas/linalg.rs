//! Of products, and of distances.

mod distance;
mod product;
