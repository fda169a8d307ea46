//! Jacobians, computed by `vmap` over the backward pass, which needs both autograd and vmap.

use std::fmt;

use dispatch_autograd::functional::{Pullback, vjp};
use dispatch_runtime::{DType, Error, Result, Tensor};
use dispatch_vmap::vmap;

use aten::prelude::*;

/// Returns the Jacobian of a function: the derivative of each element of the result with respect to each element of `x`. Its sizes are
/// those of the result, followed by those of `x`.
///
/// The function runs once, and one batched backward pass computes all rows. `jacrev` can be differentiated and batched, so it nests:
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> opdispatch::Result<()> {
/// use opdispatch::jacrev;
/// use opdispatch::prelude::*;
///
/// let x = Tensor::from([1.0, 2.0]);
/// let squares = jacrev(|x| x * x, &x)?;
/// assert_eq!(squares.to_vec::<f64>()?, [2.0, 0.0, 0.0, 4.0]);
///
/// // The second derivatives of x^2 y.
/// let f = |x: &Tensor| (x.i(0)? * x.i(0)?)? * x.i(1)?;
/// let hessian = jacrev(|x| jacrev(f, x), &x)?;
/// assert_eq!(hessian.to_vec::<f64>()?, [4.0, 2.0, 2.0, 0.0]);
///
/// // The Jacobian of each sample.
/// let samples = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let each = opdispatch::vmap::vmap(|x| jacrev(|x| x * x, x), &samples)?;
/// assert_eq!(each.sizes(), [2, 2, 2]);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "cpu"))]
/// # fn main() {}
/// ```
///
/// # Errors
///
/// Returns an error in the same cases as [`jacobians`].
pub fn jacrev(f: impl FnOnce(&Tensor) -> Result<Tensor>, x: &Tensor) -> Result<Tensor> {
    let mut found = jacobians(|inputs| Ok(vec![f(&inputs[0])?]), &[x])?;
    Ok(found.remove(0).remove(0))
}

/// Returns the Jacobians of a function of several tensors with several results. Element `[i][j]` is the Jacobian of result `i` with respect
/// to input `j`.
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> opdispatch::Result<()> {
/// use opdispatch::jacobians;
/// use opdispatch::prelude::*;
///
/// let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from(3.0));
/// let found = jacobians(|inputs| Ok(vec![(&inputs[0] * &inputs[1])?, inputs[1].exp()?]), &[&x, &y])?;
/// assert_eq!(found[0][0].to_vec::<f64>()?, [3.0, 0.0, 0.0, 3.0]);
/// assert_eq!(found[0][1].to_vec::<f64>()?, [1.0, 2.0]);
/// assert_eq!(found[1][0].to_vec::<f64>()?, [0.0, 0.0]);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "cpu"))]
/// # fn main() {}
/// ```
///
/// # Errors
///
/// Returns an error if the function or a derivative fails, and a [`JacobianError`] if an input or a result is complex.
pub fn jacobians(f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>, inputs: &[&Tensor]) -> Result<Vec<Vec<Tensor>>> {
    check_not_complex("input", inputs.iter().copied())?;
    let (outputs, pullback) = vjp(f, inputs)?;
    check_not_complex("result", &outputs)?;
    (0..outputs.len()).map(|i| jacobians_of_result(&pullback, &outputs, i, inputs)).collect()
}

/// Returns the Jacobians of result `i`. Each element of the result gives a row, and the rows are computed as a batch.
fn jacobians_of_result(pullback: &Pullback, outputs: &[Tensor], i: usize, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let output = &outputs[i];
    let count = output.sizes().iter().product();
    let sizes = |of: &Tensor| [output.sizes(), of.sizes()].concat();
    if count == 0 {
        return inputs.iter().map(|input| Tensor::zeros(sizes(input), *input)).collect();
    }
    let units = Tensor::eye(count, output)?.reshape([&[count], output.sizes()].concat())?;
    let zeros = outputs.iter().map(ConversionMethods::zeros_like).collect::<Result<Vec<_>>>()?;
    let row_of_unit = |unit: &Tensor| {
        let mut seeds: Vec<&Tensor> = zeros.iter().collect();
        seeds[i] = unit;
        pullback.call(&seeds)
    };
    let found = vmap(row_of_unit, &units)?;
    found.iter().zip(inputs).map(|(rows, input)| rows.reshape(sizes(input))).collect()
}

fn check_not_complex<'a>(
    role: &'static str,
    tensors: impl IntoIterator<Item = &'a Tensor>,
) -> Result<(), JacobianError> {
    for (position, tensor) in tensors.into_iter().enumerate() {
        if tensor.dtype().is_complex() {
            return Err(JacobianError::Complex { role, position, dtype: tensor.dtype() });
        }
    }
    Ok(())
}

/// The reason why a function has no Jacobian.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JacobianError {
    /// A tensor is complex: the derivative of a complex number by another is no single complex number.
    Complex {
        /// Whether the tensor is an `input` or a `result`.
        role: &'static str,
        /// The index of the tensor among the inputs or results.
        position: usize,
        /// The dtype of the tensor.
        dtype: DType,
    },
}

impl fmt::Display for JacobianError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complex { role, position, dtype } => write!(
                f,
                "{role} {position} is of {dtype}, and the derivative of a complex number by another is no single number; take the \
                 Jacobian of its real and its imaginary part, `view_as_real`"
            ),
        }
    }
}

impl std::error::Error for JacobianError {}

impl From<JacobianError> for Error {
    #[cold]
    fn from(error: JacobianError) -> Self {
        Self::kernel(error)
    }
}
