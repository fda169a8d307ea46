//! CPU kernels of decompositions and linear systems.
#![forbid(unsafe_code)]
