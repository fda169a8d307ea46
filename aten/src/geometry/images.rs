//! Images, of two dimensions or three, after their batch and channels.

use dispatch_runtime::{Geometry, Spec, Tensor};

/// Images of these sizes, of the dtype of others and laid out as they are.
pub(crate) fn images_like(others: &Tensor, sizes: &[i64]) -> Spec {
    let geometry = Geometry::in_format(sizes, others.geometry().format());
    Spec { dtype: others.dtype(), geometry: geometry.unwrap_or_else(|| Geometry::contiguous(sizes)) }
}
