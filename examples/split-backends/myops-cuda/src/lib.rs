//! A kernel in CUDA C++ for an operator of somebody else's. This crate builds anywhere.
#![deny(unsafe_code)]

mod kernel;
