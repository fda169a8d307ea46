//! Jacobians and Hessians, computed by `vmap` over the backward pass, which needs both autograd and vmap.

use std::fmt;

use dispatch_autograd::functional::{Pullback, grad, vjp};
use dispatch_runtime::{DType, Error, IntoTensorTree, Result, Tensor, TensorTree, TreePath};
use dispatch_vmap::vmap;

use aten::prelude::*;

/// Returns the Jacobian of a function: the derivative of each element of the result with respect to each element of the inputs.
///
/// The Jacobian of a tensor with respect to a tensor has the sizes of the result, followed by those of the input. For other
/// [trees](trait@TensorTree), it has the structure of the results, in which each tensor is replaced by the structure of the inputs: for a
/// function of a pair, `let (by_x, by_y) = jacrev(f, (&x, &y))?`. A struct of results is replaced by [`Leaves`](dispatch_runtime::Leaves).
///
/// The function runs once, and one batched backward pass for each result computes all rows. `jacrev` can be differentiated and batched:
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> opdispatch::Result<()> {
/// use opdispatch::jacobian::jacrev;
/// use opdispatch::prelude::*;
///
/// let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from(3.0));
/// let squares = jacrev(|x| x * x, &x)?;
/// assert_eq!(squares.to_vec::<f64>()?, [2.0, 0.0, 0.0, 4.0]);
///
/// let (product, exponential) = jacrev(|(x, y)| Ok((expr!(x * y)?, y.exp()?)), (&x, &y))?;
/// let (by_x, by_y) = product;
/// assert_eq!(by_x.to_vec::<f64>()?, [3.0, 0.0, 0.0, 3.0]);
/// assert_eq!(by_y.to_vec::<f64>()?, [1.0, 2.0]);
/// assert_eq!(exponential.0.to_vec::<f64>()?, [0.0, 0.0]);
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
/// Returns an error if the function or a derivative fails, and a [`JacobianError`] if an input or a result is complex.
pub fn jacrev<I: IntoTensorTree, O: TensorTree>(
    f: impl FnOnce(&I::Tree) -> Result<O>,
    inputs: I,
) -> Result<O::Map<I::Tree>> {
    let inputs = inputs.into_tensor_tree()?;
    check_not_complex("inputs", &inputs)?;
    let (results, pullback) = vjp(f, &inputs)?;
    check_not_complex("results", &results)?;
    let mut position = 0..;
    results.map_leaves(&TreePath::ROOT, &mut |_, result| {
        jacobian_of_result(&pullback, &results, (position.next().unwrap_or_default(), result), &inputs)
    })
}

/// Returns the second derivatives of a function that returns one tensor of one element: the Jacobian of its gradient.
///
/// For a function of a tensor, the sizes are those of the tensor, twice. For a function of a pair, the result is a pair of pairs.
///
/// ```
/// # #[cfg(feature = "cpu")]
/// # fn main() -> opdispatch::Result<()> {
/// use opdispatch::jacobian::hessian;
/// use opdispatch::prelude::*;
///
/// // The second derivatives of x^2 y.
/// let (x, y) = (Tensor::from(3.0), Tensor::from(5.0));
/// let ((xx, xy), (yx, yy)) = hessian(|(x, y)| expr!(x * x * y), (&x, &y))?;
/// assert_eq!([xx.item::<f64>()?, xy.item()?, yx.item()?, yy.item()?], [10.0, 6.0, 6.0, 0.0]);
///
/// let squares = hessian(|x| expr!(x * x)?.sum(), &Tensor::from([1.0, 2.0]))?;
/// assert_eq!(squares.to_vec::<f64>()?, [2.0, 0.0, 0.0, 2.0]);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "cpu"))]
/// # fn main() {}
/// ```
///
/// # Errors
///
/// Returns the errors of [`jacrev`] and of [`grad`].
pub fn hessian<I: IntoTensorTree>(
    f: impl FnOnce(&I::Tree) -> Result<Tensor>,
    inputs: I,
) -> Result<<I::Tree as TensorTree>::Map<I::Tree>> {
    jacrev(|inputs: &I::Tree| grad(f, inputs), &inputs.into_tensor_tree()?)
}

/// Returns the Jacobian of the result at a position. Each element of the result gives a row, and the rows are computed as a batch.
fn jacobian_of_result<I: TensorTree, O: TensorTree>(
    pullback: &Pullback<I, O>,
    results: &O,
    (position, result): (usize, &Tensor),
    inputs: &I,
) -> Result<I> {
    let count = result.sizes().iter().product();
    let sizes = |of: &Tensor| [result.sizes(), of.sizes()].concat();
    if count == 0 {
        return inputs.map_tensors(&TreePath::ROOT, &mut |_, input| Tensor::zeros(sizes(input), input));
    }
    let units = Tensor::eye(count, result)?.reshape([&[count], result.sizes()].concat())?;
    let zeros = results.tensors().iter().map(ConversionMethods::zeros_like).collect::<Result<Vec<_>>>()?;
    let row_of_unit = |unit: &Tensor| {
        let mut seeds = zeros.clone();
        seeds[position] = unit.clone();
        pullback.call(&results.rebuild(seeds)?)
    };
    let mut inputs = inputs.tensors().into_iter();
    vmap(row_of_unit, &units)?.map_tensors(&TreePath::ROOT, &mut |_, rows| match inputs.next() {
        Some(input) => rows.reshape(sizes(&input)),
        None => Ok(rows.clone()),
    })
}

fn check_not_complex(name: &str, tree: &impl TensorTree) -> Result<(), JacobianError> {
    let complex = tree.tensors().into_iter().zip(tree.leaf_paths()).find(|(tensor, _)| tensor.dtype().is_complex());
    complex.map_or(Ok(()), |(tensor, path)| {
        Err(JacobianError::Complex { path: format!("{name}{path}"), dtype: tensor.dtype() })
    })
}

/// The reason why a function has no Jacobian.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JacobianError {
    /// A tensor is complex: the derivative of a complex number by another is no single complex number.
    Complex {
        /// The path of the tensor, such as `inputs.0` or `results.weight`.
        path: String,
        /// The dtype of the tensor.
        dtype: DType,
    },
}

impl fmt::Display for JacobianError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complex { path, dtype } => write!(
                f,
                "`{path}` is of {dtype}, and the derivative of a complex number by another is no single number; take the \
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
