//! Functions and traits for applications.

pub(crate) mod checkpoint;
pub(crate) mod differentiable;
pub(crate) mod differentiation;
pub mod functional;
mod operators;
