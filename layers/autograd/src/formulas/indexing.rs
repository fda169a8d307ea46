//! Of elements at places.

mod bags;
mod elements;
mod masked;
mod reduced;
mod scatter;
mod segments;
