//! Products of matrices, and what is made of them.

mod chains;
mod contraction;
mod covariance;
mod distance;
mod equations;
mod product;

pub use chains::*;
pub use contraction::*;
pub use covariance::*;
pub use distance::*;
pub use equations::*;
pub use product::*;
