//! The definitions of the operators, with their plans. Nothing here computes an element.

pub(crate) mod cuda_version;
pub(crate) mod deform_conv2d;
pub(crate) mod nms;
pub(crate) mod ps_roi_align;
pub(crate) mod ps_roi_pool;
pub(crate) mod region_sizes;
pub(crate) mod roi_align;
pub(crate) mod roi_pool;
