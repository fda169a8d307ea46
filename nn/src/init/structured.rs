//! Initial values that depend on the position: identities, orthogonal matrices, sparse matrices.

use aten::SortOptions;
use aten::prelude::*;
use dispatch_runtime::{BadArgument, DType, Expected, IntoInt, Result, Tensor, guard};

/// Sets a matrix to 1 on the diagonal, and to 0 elsewhere.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::init;
/// use dispatch_runtime::Tensor;
///
/// let x = Tensor::rand((2, 2), ())?;
/// init::eye_(&x)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor that is no matrix.
pub fn eye_(tensor: &Tensor) -> Result<()> {
    let _no_grad = guard::no_grad();
    matrix_sizes(tensor)?;
    tensor.zero_()?;
    tensor.diagonal()?.fill_(1)
}

/// Sets the weight of a convolution so that it returns its input: channel by channel, and in each of `groups` groups again.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Conv1d, ConvOptions, Forward, init};
/// use dispatch_runtime::Tensor;
///
/// let layer = Conv1d::with(1, 1, 3, ConvOptions { padding: 1.into(), bias: false, ..ConvOptions::default() })?;
/// init::dirac_(&layer.weight, 1)?;
/// assert_eq!(layer.forward(&Tensor::from([[1.0_f32, 2.0]]))?.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor without three to five dimensions, or if the groups do not divide the output channels.
pub fn dirac_(tensor: &Tensor, groups: impl IntoInt) -> Result<()> {
    let groups = groups.into_int();
    let (outputs, inputs, window) = match tensor.sizes() {
        [outputs, inputs, window @ ..] if (1..=3).contains(&window.len()) => (*outputs, *inputs, window),
        other => return Err(BadArgument::rank("tensor", other.len(), 3..=5).into()),
    };
    if groups < 1 || outputs % groups != 0 {
        return Err(BadArgument::number("groups", groups, Expected::DivisorOf(outputs.into()))
            .because("this is the number of output channels")
            .into());
    }
    let _no_grad = guard::no_grad();
    tensor.zero_()?;
    if tensor.sizes().contains(&0) {
        return Ok(());
    }
    // The elements in the middle of each window, as a matrix of outputs and inputs.
    let middle = window.iter().try_fold(tensor.clone(), |rest, size| rest.select(2, size / 2))?;
    let outputs_of_group = outputs / groups;
    for group in 0..groups {
        let channels = outputs_of_group.min(inputs);
        middle.narrow(0, group * outputs_of_group, channels)?.narrow(1, 0, channels)?.diagonal()?.fill_(1)?;
    }
    Ok(())
}

/// Draws a matrix with orthonormal rows or columns, whichever are fewer, times `gain`. Dimensions after the first count as one.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{Linear, init};
/// use dispatch_runtime::{DType, Tensor};
///
/// let weight = Linear::new(5, 3)?.weight.tensor().detach()?;
/// init::orthogonal_(&weight, 1.0)?;
/// assert!((weight.mm(&weight.t()?)? - Tensor::eye(3, DType::F32)?)?.abs()?.lt(1e-5)?.all()?.item::<bool>()?);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor of fewer than two dimensions.
pub fn orthogonal_(tensor: &Tensor, gain: f64) -> Result<()> {
    let [outputs, rest @ ..] = tensor.sizes() else {
        return Err(BadArgument::rank("tensor", 0, 2..).into());
    };
    if rest.is_empty() {
        return Err(BadArgument::rank("tensor", 1, 2..).into());
    }
    if tensor.sizes().contains(&0) {
        return Ok(());
    }
    let _no_grad = guard::no_grad();
    let columns = tensor.numel() / outputs;
    let (vectors, length) = if *outputs < columns { (*outputs, columns) } else { (columns, *outputs) };
    let dtype = if tensor.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    // Gram-Schmidt on random rows. Each gap to the span of the rows before is a random direction, so the result is uniformly distributed.
    let rows = Tensor::randn((vectors, length), (dtype, tensor.device()))?;
    for row in 0..vectors {
        let (mut vector, before) = (rows.narrow(0, row, 1)?, rows.narrow(0, 0, row)?);
        // The second pass removes the rounding errors of the first.
        for _ in 0..2 {
            vector = (&vector - vector.mm(&before.t()?)?.mm(&before)?)?;
        }
        let norm = (&vector * &vector)?.sum()?.sqrt()?;
        rows.narrow(0, row, 1)?.copy_(&(vector / norm)?)?;
    }
    let matrix = if *outputs < columns { rows } else { rows.t()? };
    tensor.copy_(&(matrix * gain)?.reshape(tensor.sizes())?)
}

/// Draws a matrix from a normal distribution, and sets a part of each column to 0: `sparsity` of its elements, rounded up.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::init;
/// use dispatch_runtime::Tensor;
///
/// let x = Tensor::empty((10, 3), ())?;
/// init::sparse_(&x, 0.25, 0.01)?;
/// assert_eq!(x.eq(0)?.sum_dims(0)?.to_vec::<i64>()?, [3, 3, 3]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] for a tensor that is no matrix, or a part that is not from 0 to 1.
pub fn sparse_(tensor: &Tensor, sparsity: f64, std: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&sparsity) {
        return Err(BadArgument::number("sparsity", sparsity, 0.0..=1.0).into());
    }
    let [rows, _] = matrix_sizes(tensor)?;
    let _no_grad = guard::no_grad();
    tensor.normal_(0.0, std)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a part of a size is rounded up")]
    let zeros = (sparsity * rows as f64).ceil() as i64;
    let order = Tensor::rand(tensor.sizes(), tensor.device())?
        .argsort_with(SortOptions { dim: 0, ..SortOptions::default() })?;
    tensor.scatter_(0, &order.narrow(0, 0, zeros)?, 0)
}

fn matrix_sizes(tensor: &Tensor) -> Result<[i64; 2]> {
    tensor.sizes().try_into().map_err(|_| BadArgument::rank("tensor", tensor.sizes().len(), 2).into())
}
