//! Layers without state.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

use crate::forward::Forward;

/// `max(x, 0)`.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::{Forward, ReLU};
/// use dispatch_runtime::Tensor;
/// assert_eq!(ReLU.forward(&Tensor::from([-1.0, 2.0]))?.to_vec::<f64>()?, [0.0, 2.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, crate::Module)]
pub struct ReLU;

impl Forward for ReLU {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.relu()
    }
}
