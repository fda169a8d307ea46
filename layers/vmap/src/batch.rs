//! The batch of a level, and tensors as batch rules receive them.

use dispatch_runtime::{Dims, Geometry, KeySet, Result, Tensor, Value, keys};
use dispatch_transform::{Level, LiftInfo};

use crate::error::VmapError;
use crate::vmap::Randomness;

/// The batch of a call: its size, its level, and its random numbers.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
/// use dispatch_vmap::{Batch, Mapped, op_vmap, vmap};
///
/// #[op_def("middle(Tensor self) -> Tensor")]
/// pub fn middle(this: &Tensor) -> Result<Tensor>;
///
/// #[op_impl(middle, CompositeExplicitAutograd)]
/// fn middle_any(this: &Tensor) -> Result<Tensor> {
///     aten::clone(&this.select(-1, this.sizes()[this.sizes().len() - 1] / 2)?, None)
/// }
///
/// // A batch dimension in front does not affect the last dimension.
/// #[op_vmap(middle)]
/// fn middle_of_each(_: &Batch, this: Mapped) -> Result<Mapped> {
///     Ok(Mapped::from_batch_first(middle(&this.batch_first()?)?))
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// assert_eq!(vmap(|row| middle(row), &x)?.to_vec::<f64>()?, [2.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub struct Batch {
    pub(crate) level: Level,
    pub(crate) size: i64,
    pub(crate) randomness: Randomness,
}

/// The extension of a batched tensor: the batch dimension of the tensor below.
struct BatchDim(usize);

/// A tensor as a batch rule receives it: the tensor below the level, and its batch dimension.
#[derive(Clone)]
pub struct Mapped {
    pub(crate) tensor: Tensor,
    pub(crate) dim: Option<usize>,
}

impl Mapped {
    /// Makes a result whose batch dimension is 0.
    #[must_use]
    pub const fn from_batch_first(tensor: Tensor) -> Self {
        Self { tensor, dim: Some(0) }
    }

    /// Makes a tensor that is the same for all slices.
    #[must_use]
    pub const fn same_for_all(tensor: Tensor) -> Self {
        Self { tensor, dim: None }
    }

    /// Whether the tensor has a batch dimension.
    #[must_use]
    pub const fn is_mapped(&self) -> bool {
        self.dim.is_some()
    }

    /// Returns the tensor below the level, with its batch dimension.
    #[must_use]
    pub const fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Returns the number of dimensions of a slice.
    #[must_use]
    pub fn slice_rank(&self) -> usize {
        self.tensor.sizes().len().saturating_sub(usize::from(self.is_mapped()))
    }

    /// Returns the first slice.
    ///
    /// # Errors
    ///
    /// Returns the error of `select`.
    pub(crate) fn first_slice(&self) -> Result<Tensor> {
        match self.dim.and_then(|dim| i64::try_from(dim).ok()) {
            Some(dim) => aten::select_int(&self.tensor, dim, 0),
            None => Ok(self.tensor.clone()),
        }
    }

    /// Returns the tensor below with its batch dimension moved to 0. A tensor without batch dimension is returned unchanged.
    ///
    /// # Errors
    ///
    /// Returns the error of `permute`.
    pub fn batch_first(&self) -> Result<Tensor> {
        match self.dim {
            None | Some(0) => Ok(self.tensor.clone()),
            Some(dim) => {
                let rank = self.tensor.sizes().len();
                let order = std::iter::once(dim).chain((0..rank).filter(|&other| other != dim));
                aten::permute(&self.tensor, &order.filter_map(|at| i64::try_from(at).ok()).collect::<Vec<_>>())
            }
        }
    }
}

impl Batch {
    /// Returns the number of slices.
    #[must_use]
    pub const fn size(&self) -> i64 {
        self.size
    }

    /// Unwraps a tensor of the mapped function to the tensor below and its batch dimension.
    pub(crate) fn unwrap_tensor(&self, tensor: &Tensor) -> Mapped {
        let dim = tensor.extension::<BatchDim>().filter(|_| self.level.owns(tensor)).map(|dim| dim.0);
        let below = tensor.extension::<LiftInfo>().filter(|_| dim.is_some()).map(LiftInfo::tensor_below);
        Mapped { tensor: below.unwrap_or(tensor).clone(), dim }
    }

    /// Wraps a tensor as the mapped function sees it: without its batch dimension.
    pub(crate) fn wrap_tensor(&self, mapped: Mapped) -> Result<Tensor> {
        let Mapped { tensor, dim: Some(dim) } = mapped else { return Ok(mapped.tensor) };
        let slice = tensor.restride(geometry_without_dim(tensor.geometry(), dim))?;
        let wrapped = self.level.lift_with_geometry(&slice, &tensor, KeySet::layers_of(keys::FuncTorchBatched));
        wrapped.extension_or_init(|| BatchDim(dim));
        Ok(wrapped)
    }

    /// Returns the tensor with its batch dimension moved to 0. A tensor that is the same for all slices is expanded.
    ///
    /// # Errors
    ///
    /// Returns the error of `permute` or `expand`.
    pub fn expand_batch_first(&self, mapped: &Mapped) -> Result<Tensor> {
        if mapped.is_mapped() {
            return mapped.batch_first();
        }
        let mut sizes = vec![self.size];
        sizes.extend_from_slice(mapped.tensor.sizes());
        aten::expand(&mapped.tensor, &sizes, false)
    }

    /// Finds a tensor of a value whose batch dimension does not have the batch size.
    pub(crate) fn find_tensor_with_wrong_batch_size(&self, value: &Value) -> Option<(Tensor, usize)> {
        let mut all = value.tensors().filter_map(|tensor| {
            let Mapped { tensor, dim } = self.unwrap_tensor(tensor);
            Some((tensor, dim?))
        });
        all.find(|(tensor, dim)| tensor.sizes().get(*dim) != Some(&self.size))
    }

    /// Whether a value has a batched tensor.
    pub(crate) fn has_batched_tensor(&self, value: &Value) -> bool {
        value.tensors().any(|tensor| self.level.owns(tensor))
    }

    /// Whether a value has a tensor that is the same for all slices.
    pub(crate) fn has_unbatched_tensor(&self, value: &Value) -> bool {
        value.tensors().any(|tensor| !self.level.owns(tensor))
    }

    /// Wraps results whose batch dimension is 0 as the mapped function sees them.
    pub(crate) fn wrap_batch_first_results(
        &self,
        operator: &dyn std::fmt::Display,
        results: Vec<Value>,
    ) -> Result<Vec<Value>> {
        let front = |tensor: Tensor| self.wrap_tensor(Mapped::from_batch_first(tensor));
        let wrap_result = |value| match value {
            Value::Tensor(tensor) => Ok(front(tensor)?.into()),
            Value::Tensors(tensors) => Ok(tensors.into_iter().map(front).collect::<Result<Vec<_>>>()?.into()),
            Value::None => Ok(Value::None),
            _ => Err(VmapError::UnexpectedResults { operator: operator.to_string() }.into()),
        };
        results.into_iter().map(wrap_result).collect()
    }
}

/// Returns the geometry of a slice: the geometry without a dimension.
fn geometry_without_dim(geometry: &Geometry, dim: usize) -> Geometry {
    let left = |values: &[i64]| -> Dims {
        values.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, value)| *value).collect()
    };
    let (sizes, strides) = (left(geometry.sizes()), left(geometry.strides()));
    Geometry::strided(&sizes, &strides, geometry.offset()).unwrap_or_else(|| geometry.clone())
}
