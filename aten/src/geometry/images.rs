//! Specs of batches of images.

use dispatch_runtime::{Geometry, Spec, Tensor};

/// Returns a spec of images with `sizes`, and with the dtype and the memory format of `others`.
pub(crate) fn image_spec_like(others: &Tensor, sizes: &[i64]) -> Spec {
    let geometry = Geometry::in_format(sizes, others.geometry().suggested_format());
    Spec { dtype: others.dtype(), geometry: geometry.unwrap_or_else(|| Geometry::contiguous(sizes)) }
}
