//! Errors of decompositions that do not exist or did not converge, from LAPACK's codes.

use std::fmt;

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::Convert;

/// The error of a decomposition or a solution that does not exist for a matrix.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_runtime::prelude::*;
///
/// let info = Tensor::from([0_i32, 2]);
/// let error = aten::_linalg_check_errors!(&info, "linalg_inv", is_matrix = false).unwrap_err();
/// let failed: &aten::DecompositionFailed = std::error::Error::source(&error).unwrap().downcast_ref().unwrap();
/// assert_eq!((failed.batch_element, failed.info), (Some(1), 2));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecompositionFailed {
    /// The function that the program called, such as `linalg_inv`.
    pub function: String,
    /// The index of the first failed matrix, if the program passed a batch.
    pub batch_element: Option<usize>,
    /// LAPACK's code of the failure, which is not zero.
    pub info: i32,
}

impl fmt::Display for DecompositionFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, batch_element, info } = self;
        write!(f, "`{function}` failed")?;
        if let Some(index) = batch_element {
            write!(f, " for matrix {index} of the batch")?;
        }
        let name = function.strip_prefix("torch.").unwrap_or(function).replace('.', "_");
        match name.trim_start_matches("linalg_") {
            _ if *info < 0 => write!(f, ": the matrix has an element that is not finite"),
            name if name.starts_with("cholesky") => {
                write!(
                    f,
                    ": the matrix is not positive-definite, because its leading minor of order {info} is not positive"
                )
            }
            name if ["eig", "svd", "lstsq", "pinv"].iter().any(|start| name.starts_with(start)) => {
                write!(
                    f,
                    ": the algorithm did not converge (code {info}); a matrix with close singular values or eigenvalues, or NaN, is a cause"
                )
            }
            _ => write!(f, ": the matrix is singular, because element {info} of the diagonal of its factor is zero"),
        }
    }
}

impl std::error::Error for DecompositionFailed {}

/// Returns the error [`DecompositionFailed`] if one of LAPACK's codes is not zero.
#[op_def(
    "_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
    body = CompositeExplicitAutograd
)]
pub fn _linalg_check_errors(info: &Tensor, api_name: &str, is_matrix: bool) -> Result<()> {
    if info.dtype() != DType::I32 {
        return Err(BadArgument::dtype("info", info.dtype(), "int32").into());
    }
    let codes = info.to(Device::CPU)?.to_vec::<i32>()?;
    let Some(index) = codes.iter().position(|&code| code != 0) else { return Ok(()) };
    Err(Error::kernel(DecompositionFailed {
        function: api_name.to_owned(),
        batch_element: (!is_matrix).then_some(index),
        info: codes[index],
    }))
}

/// On Meta there are no codes, so none is an error.
#[op_meta(_linalg_check_errors)]
fn check_errors_meta(_: ...) -> Result<()> {
    Ok(())
}
