//! CPU kernels of decompositions and linear systems.
#![forbid(unsafe_code)]

mod eigenvalues;
mod general_eigenvalues;
mod matrices;
mod matrix_exp;
mod number;
mod singular_values;
mod spectra;
