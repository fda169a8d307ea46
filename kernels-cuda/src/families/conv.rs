//! CUDA kernels of convolutions, and of `im2col` and `col2im`.

mod convolution;
mod im2col;
