//! The function `vmap` and its options.

use dispatch_runtime::{
    BadArgument, Device, Generator, IntoTensorTree, Result, Tensor, TensorTree, TreePath, wrap_dim,
};
use dispatch_transform::{enter, unwrap_ended_levels};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;
use crate::level::VmapTransform;

/// How random operators in a mapped function draw their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Randomness {
    /// A random operator is an error. This is the default.
    #[default]
    Error,
    /// All slices get the same random numbers.
    Same,
    /// Each slice gets different random numbers.
    Different,
}

/// Maps a function of slices over a batch. The function runs once, for all slices.
///
/// Inputs and results are trees of tensors ([`TensorTree`](trait@TensorTree)): tensors, tuples, lists, maps, structs with
/// `#[derive(TensorTree)]`. The batch is dimension 0 of each of their tensors. [`Vmap`] has other options.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::{Result, Tensor};
/// use dispatch_vmap::vmap;
///
/// # fn main() -> Result<()> {
/// let (x, y) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([[1.0, 1.0], [0.0, 1.0]]));
/// let (dots, sums) = vmap(|(x, y)| Ok((x.dot(y)?, (x + y)?)), (&x, &y))?;
/// assert_eq!(dots.to_vec::<f64>()?, [3.0, 4.0]);
/// assert_eq!(sums.to_vec::<f64>()?, [2.0, 3.0, 3.0, 5.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the error of the function, and a [`VmapError`] if the function cannot be mapped.
pub fn vmap<I: IntoTensorTree, O: TensorTree>(f: impl Fn(&I::Tree) -> Result<O>, inputs: I) -> Result<O> {
    Vmap::new().call(f, inputs)
}

/// The options of a mapped function: dimensions, random numbers, chunk size.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::{Result, Tensor};
/// use dispatch_vmap::Vmap;
///
/// # fn main() -> Result<()> {
/// let (x, y) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([10.0, 20.0]));
/// let columns = Vmap::new().in_dims([Some(1), None]).out_dims([Some(1)]).chunk_size(1);
/// let sums = columns.call(|(column, y)| column + y, (&x, &y))?;
/// assert_eq!(sums.to_vec::<f64>()?, [11.0, 12.0, 23.0, 24.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Vmap {
    in_dims: Option<Vec<Option<i64>>>,
    out_dims: Option<Vec<Option<i64>>>,
    randomness: Randomness,
    chunk_size: Option<i64>,
}

impl Vmap {
    /// Makes the default options: dimension 0 of every tensor, no random numbers, one chunk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the mapped dimension of each input tensor, in order. `None` for a tensor that all slices share.
    #[must_use]
    pub fn in_dims(mut self, dims: impl Into<Vec<Option<i64>>>) -> Self {
        self.in_dims = Some(dims.into());
        self
    }

    /// Sets the batch dimension of each result tensor, in order. `None` for a result that is the same for all slices.
    #[must_use]
    pub fn out_dims(mut self, dims: impl Into<Vec<Option<i64>>>) -> Self {
        self.out_dims = Some(dims.into());
        self
    }

    /// Sets how random operators draw their numbers.
    #[must_use]
    pub const fn randomness(mut self, randomness: Randomness) -> Self {
        self.randomness = randomness;
        self
    }

    /// Sets the maximal number of slices per run of the function. Smaller chunks need less memory.
    #[must_use]
    pub const fn chunk_size(mut self, chunk_size: i64) -> Self {
        self.chunk_size = Some(chunk_size);
        self
    }

    /// Runs a function over the batch.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`vmap`]. Returns [`VmapError::InvalidChunkSize`] if the chunk size is not positive.
    pub fn call<I: IntoTensorTree, O: TensorTree>(&self, f: impl Fn(&I::Tree) -> Result<O>, inputs: I) -> Result<O> {
        let structure = inputs.into_tensor_tree()?;
        let (mapped, size) = self.resolve_mapped_inputs(&structure.tensors())?;
        let chunk = self.chunk_size.unwrap_or(size);
        if chunk < 1 {
            return Err(VmapError::InvalidChunkSize { chunk_size: chunk }.into());
        }
        if chunk >= size {
            return self.run_chunk(&f, &structure, mapped, size);
        }
        let calls = (size - 1) / chunk + 1;
        aten::check_call_count("chunk_size", calls).map_err(|_| {
            BadArgument::value("chunk_size", chunk, format!("more, as {size} slices would take {calls} calls"))
        })?;
        let mut parts = Vec::new();
        let same = if self.randomness == Randomness::Same { fork_generators(&mapped) } else { Vec::new() };
        for start in (0..size).step_by(usize::try_from(chunk).unwrap_or(usize::MAX)) {
            let length = chunk.min(size - start);
            let part = mapped.iter().map(|input| narrow_chunk(input, start, length)).collect::<Result<Vec<_>>>()?;
            // Each chunk starts at the same position of the random stream.
            let _same: Vec<_> =
                same.iter().map(|fork| Generator::new(fork.device(), fork.seed()).make_default()).collect();
            parts.push(self.run_chunk(&f, &structure, part, length)?);
        }
        self.concat_chunks(&parts)
    }

    /// Returns the inputs with their mapped dimensions, and the number of slices.
    fn resolve_mapped_inputs(&self, tensors: &[Tensor]) -> Result<(Vec<Mapped>, i64)> {
        let dims = dims_or_zeros("in_dims", self.in_dims.as_deref(), tensors.len())?;
        let (mut mapped, mut size) = (Vec::new(), None);
        for (position, (tensor, dim)) in tensors.iter().zip(dims).enumerate() {
            let tensor = unwrap_ended_levels(tensor);
            let rank = tensor.sizes().len();
            let dim = dim.map(|dim| wrap_mapped_dim("in_dims", position, dim, rank)).transpose()?;
            if let Some(dim) = dim {
                let found = tensor.sizes()[dim];
                let expected = *size.get_or_insert(found);
                if found != expected {
                    return Err(VmapError::BatchSizeMismatch { expected, position, found }.into());
                }
            }
            mapped.push(Mapped { tensor, dim });
        }
        match size {
            None => Err(VmapError::NoMappedInput.into()),
            Some(0) => Err(VmapError::EmptyBatch.into()),
            Some(size) => Ok((mapped, size)),
        }
    }

    /// Runs the function for one chunk of the batch, at a level of its own.
    fn run_chunk<S: TensorTree, O: TensorTree>(
        &self,
        f: &impl Fn(&S) -> Result<O>,
        structure: &S,
        inputs: Vec<Mapped>,
        size: i64,
    ) -> Result<O> {
        let (outputs, found) = {
            let entered = enter(VmapTransform { size, randomness: self.randomness });
            let batch = Batch { level: entered.level().clone(), size, randomness: self.randomness };
            let wrapped = inputs.into_iter().map(|input| batch.wrap_tensor(input)).collect::<Result<Vec<_>>>()?;
            let inputs = structure.rebuild(wrapped)?;
            let outputs = f(&inputs)?;
            let found: Vec<Mapped> =
                outputs.tensors().iter().map(|tensor| batch.unwrap_tensor(&unwrap_ended_levels(tensor))).collect();
            (outputs, found)
        };
        let dims = dims_or_zeros("out_dims", self.out_dims.as_deref(), found.len())?;
        let results = found.iter().zip(dims).enumerate().map(|(i, (found, dim))| move_result_dim(found, dim, i, size));
        let results = results.collect::<Result<Vec<_>>>()?;
        outputs.rebuild(results)
    }

    /// Concatenates the results of all chunks.
    fn concat_chunks<O: TensorTree>(&self, parts: &[O]) -> Result<O> {
        let Some((first, others)) = parts.split_first() else { return Err(VmapError::EmptyBatch.into()) };
        for other in others {
            first.check_same_structure("results of the first chunk", other, "results of another chunk")?;
        }
        let columns: Vec<Vec<Tensor>> = parts.iter().map(TensorTree::tensors).collect();
        let dims = dims_or_zeros("out_dims", self.out_dims.as_deref(), columns[0].len())?;
        let mut dims = dims.into_iter().enumerate();
        first.map_tensors(&TreePath::ROOT, &mut |_, tensor| match dims.next() {
            Some((i, Some(dim))) => {
                let column: Vec<Tensor> = columns.iter().filter_map(|tensors| tensors.get(i).cloned()).collect();
                aten::cat(&column, dim)
            }
            _ => Ok(tensor.clone()),
        })
    }
}

fn dims_or_zeros(
    argument: &'static str,
    given: Option<&[Option<i64>]>,
    tensors: usize,
) -> Result<Vec<Option<i64>>, VmapError> {
    match given {
        None => Ok(vec![Some(0); tensors]),
        Some(dims) if dims.len() == tensors => Ok(dims.to_vec()),
        Some(dims) => Err(VmapError::WrongDimCount { argument, found: dims.len(), tensors }),
    }
}

fn wrap_mapped_dim(argument: &'static str, position: usize, dim: i64, rank: usize) -> Result<usize, VmapError> {
    match wrap_dim(argument, dim, rank) {
        Ok(at) if at < rank => Ok(at),
        _ => Err(VmapError::MissingDim { argument, position, dim, rank }),
    }
}

/// Returns a fork of the default generator of the CPU and of each input's device.
fn fork_generators(inputs: &[Mapped]) -> Vec<Generator> {
    let mut devices = vec![Device::CPU];
    for input in inputs {
        if !devices.contains(&input.tensor.device()) {
            devices.push(input.tensor.device());
        }
    }
    devices.into_iter().map(|device| Generator::default_for(device).fork()).collect()
}

fn narrow_chunk(input: &Mapped, start: i64, length: i64) -> Result<Mapped> {
    let Some(dim) = input.dim else { return Ok(input.clone()) };
    let tensor = aten::narrow(&input.tensor, i64::try_from(dim).unwrap_or(i64::MAX), start, length)?;
    Ok(Mapped { tensor, dim: input.dim })
}

/// Moves the batch dimension of a result to the requested dimension.
fn move_result_dim(found: &Mapped, dim: Option<i64>, position: usize, size: i64) -> Result<Tensor> {
    let rank = found.slice_rank() + 1;
    let Some(dim) = dim else {
        return if found.is_mapped() {
            Err(VmapError::MappedResultWithoutDim { position }.into())
        } else {
            Ok(found.tensor.clone())
        };
    };
    let to = wrap_mapped_dim("out_dims", position, dim, rank)?;
    match found.dim {
        Some(from) if from == to => Ok(found.tensor.clone()),
        Some(from) => {
            let [from, to] = [from, to].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
            aten::movedim_int(&found.tensor, from, to)
        }
        None => {
            let mut sizes = found.tensor.sizes().to_vec();
            sizes.insert(to, size);
            aten::expand(&aten::unsqueeze(&found.tensor, i64::try_from(to).unwrap_or(i64::MAX))?, &sizes, false)
        }
    }
}
