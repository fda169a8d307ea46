//! torchvision's operators on images, regions of images and boxes, in the namespace `torchvision`.
#![forbid(unsafe_code)]

mod autocast;
mod batch_rules;
mod checks;
mod derivatives;
mod kernels;
mod operators;

pub use operators::deform_conv2d::{_deform_conv2d_backward, DeformableConvolution, deform_conv2d};
pub use operators::nms::nms;
pub use operators::ps_roi_align::{_ps_roi_align_backward, ps_roi_align};
pub use operators::ps_roi_pool::{_ps_roi_pool_backward, ps_roi_pool};
pub use operators::region_sizes::RegionSizes;
pub use operators::roi_align::{_roi_align_backward, roi_align};
pub use operators::roi_pool::{_roi_pool_backward, roi_pool};
