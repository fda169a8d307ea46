//! Elements at places: indexing, masks, scatters, segments, searches.

mod bags;
mod elements;
mod masked;
mod scatter;
mod search;
mod segments;

pub use bags::*;
pub use elements::*;
pub use masked::*;
pub use scatter::*;
pub use search::*;
pub use segments::*;
