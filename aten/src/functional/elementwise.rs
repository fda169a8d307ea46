//! Activation functions.

use dispatch_runtime::prelude::*;

use crate::prelude::*;

/// Computes `x / (1 + |x|)`.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// assert_eq!(aten::functional::softsign(&Tensor::from([-1.0, 3.0]))?.to_vec::<f64>()?, [-0.5, 0.75]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if an operator does not support the tensor.
pub fn softsign(input: &Tensor) -> Result<Tensor> {
    input / (input.abs()? + 1)?
}

/// Computes `x - tanh(x)`.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// assert_eq!(aten::functional::tanhshrink(&Tensor::from([0.0]))?.to_vec::<f64>()?, [0.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if an operator does not support the tensor.
pub fn tanhshrink(input: &Tensor) -> Result<Tensor> {
    input - input.tanh()?
}
