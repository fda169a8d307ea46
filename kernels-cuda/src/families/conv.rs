//! Convolutions, and their patches as columns of a matrix.

mod convolution;
mod im2col;
