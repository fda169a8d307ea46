//! The layers, under PyTorch's names.

mod dropout;
mod linear;
mod sequential;
mod simple;

pub use dropout::Dropout;
pub use linear::Linear;
pub use sequential::Sequential;
pub use simple::ReLU;
