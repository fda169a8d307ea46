//! The CPU kernels. Each computes its elements in the order of torchvision's kernel and rounds after each operation, so the results of all
//! dtypes are equal.

mod deform_conv2d;
mod elements;
mod nms;
mod pixel_bins;
mod ps_roi_align;
mod ps_roi_pool;
mod regions;
mod roi_align;
mod roi_pool;
mod sample_grid;
