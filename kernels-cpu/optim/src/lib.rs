//! CPU kernels of optimiser steps. A step reads and writes each element of a parameter and its state once, in parallel over all
//! parameters.
#![forbid(unsafe_code)]

mod adagrad;
mod adam;
mod sgd;
mod step_numbers;
mod step_pieces;
