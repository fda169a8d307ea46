//! Dropout.

use dispatch_runtime::{BadArgument, Result, Tensor};

use crate::forward::Forward;
use crate::param::Training;

/// Sets elements to zero with the probability `p` while training, and divides the others by `1 - p`.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Dropout, Forward, Module};
/// use dispatch_runtime::Tensor;
///
/// let mut dropout = Dropout::new(0.5)?;
/// dropout.eval();
/// assert_eq!(dropout.forward(&Tensor::from([1.0, 2.0]))?.to_vec::<f64>()?, [1.0, 2.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug, crate::Module)]
pub struct Dropout {
    p: f64,
    training: Training,
}

impl Dropout {
    /// Creates the layer.
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if `p` is not between 0 and 1.
    pub fn new(p: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&p) {
            Ok(Self { p, training: Training::ON })
        } else {
            Err(BadArgument::value("p", p, "a probability between 0 and 1").into())
        }
    }
}

impl Forward for Dropout {
    type Output = Tensor;

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        aten::dropout(x, self.p, self.training.is_on())
    }
}
