//! A CUDA C++ kernel for an operator of another crate. This crate builds on any machine.
#![deny(unsafe_code)]

mod kernel;
