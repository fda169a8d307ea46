//! CPU kernels of decompositions and linear systems.
//!
//! A result has column-major matrices, so most kernels copy the operand there and decompose it in place. Small matrices are decomposed
//! column by column, and large ones are divided into blocks, whose products and triangular systems are those of `faer`. A batch is divided
//! among threads; if it has few matrices, the blocks are.
#![forbid(unsafe_code)]
#![allow(non_snake_case, reason = "arguments have the names of the schemas")]

mod blocks;
mod cholesky;
mod determinant;
mod eigenvalues;
mod general_eigenvalues;
mod ldl;
mod lu;
mod matrices;
mod matrix_exp;
mod number;
mod qr;
mod reflectors;
mod singular_values;
mod solve;
mod spectra;
mod triangular;
