//! The batch of a level, and tensors as rules see them.

use dispatch_runtime::{Dims, Geometry, KeySet, Result, Tensor, Value, keys};
use dispatch_transform::{Level, Lifted};

use crate::error::VmapError;
use crate::vmap::Randomness;

/// The batch that a call is for.
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
///     aten::clone(&this.select_int(-1, this.sizes()[this.sizes().len() - 1] / 2)?, None)
/// }
///
/// // A batch in front of all dimensions does not disturb the last.
/// #[op_vmap(middle)]
/// fn middle_of_each(_: &Batch, this: Mapped) -> Result<Mapped> {
///     Ok(Mapped::in_front(middle(&this.front()?)?))
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

/// Marks a tensor of a level of this layer: which dimension of the tensor below is the batch.
struct BatchDim(usize);

/// A tensor as a batch rule sees it: what is below, and which dimension of it is the batch.
#[derive(Clone)]
pub struct Mapped {
    pub(crate) tensor: Tensor,
    pub(crate) dim: Option<usize>,
}

impl Mapped {
    /// A result with the batch in dimension 0.
    #[must_use]
    pub const fn in_front(tensor: Tensor) -> Self {
        Self { tensor, dim: Some(0) }
    }

    /// A tensor that is the same for all slices.
    #[must_use]
    pub const fn same_for_all(tensor: Tensor) -> Self {
        Self { tensor, dim: None }
    }

    /// Whether there is a slice for each of the batch.
    #[must_use]
    pub const fn is_mapped(&self) -> bool {
        self.dim.is_some()
    }

    /// The tensor below.
    #[must_use]
    pub const fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// How many dimensions a slice has.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.tensor.sizes().len().saturating_sub(usize::from(self.is_mapped()))
    }

    /// The first slice: what all look like.
    ///
    /// # Errors
    ///
    /// Those of the view.
    pub(crate) fn first(&self) -> Result<Tensor> {
        match self.dim.and_then(|dim| i64::try_from(dim).ok()) {
            Some(dim) => aten::select_int(&self.tensor, dim, 0),
            None => Ok(self.tensor.clone()),
        }
    }

    /// The tensor below with the batch in dimension 0, if there is one.
    ///
    /// # Errors
    ///
    /// Those of moving it there.
    pub fn front(&self) -> Result<Tensor> {
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
    /// How many slices there are.
    #[must_use]
    pub const fn size(&self) -> i64 {
        self.size
    }

    /// A tensor of this level's functions, as what it stands for.
    pub(crate) fn mapped(&self, tensor: &Tensor) -> Mapped {
        let dim = tensor.extension::<BatchDim>().filter(|_| self.level.has(tensor)).map(|dim| dim.0);
        let below = tensor.extension::<Lifted>().filter(|_| dim.is_some()).map(Lifted::below);
        Mapped { tensor: below.unwrap_or(tensor).clone(), dim }
    }

    /// The tensor that the function sees.
    pub(crate) fn shown(&self, mapped: Mapped) -> Result<Tensor> {
        let Mapped { tensor, dim: Some(dim) } = mapped else { return Ok(mapped.tensor) };
        let slice = tensor.restride(without(tensor.geometry(), dim))?;
        let shown = self.level.show(&slice, &tensor, KeySet::layers_of(keys::FuncTorchBatched));
        shown.extension_or_init(|| BatchDim(dim));
        Ok(shown)
    }

    /// A tensor with the batch in dimension 0: one that is the same for all is shown to each.
    ///
    /// # Errors
    ///
    /// Those of the views that it takes.
    pub fn each(&self, mapped: &Mapped) -> Result<Tensor> {
        if mapped.is_mapped() {
            return mapped.front();
        }
        let mut sizes = vec![self.size];
        sizes.extend_from_slice(mapped.tensor.sizes());
        aten::expand(&mapped.tensor, &sizes, false)
    }

    /// A tensor of a value whose batch is not in the dimension that it is said to be in.
    pub(crate) fn misplaced(&self, value: &Value) -> Option<(Tensor, usize)> {
        let mut all = value.tensors().filter_map(|tensor| {
            let Mapped { tensor, dim } = self.mapped(tensor);
            Some((tensor, dim?))
        });
        all.find(|(tensor, dim)| tensor.sizes().get(*dim) != Some(&self.size))
    }

    /// Whether a value has a tensor with a slice for each of the batch.
    pub(crate) fn maps(&self, value: &Value) -> bool {
        value.tensors().any(|tensor| self.level.has(tensor))
    }

    /// Whether a value has a tensor that is the same for all slices.
    pub(crate) fn shares(&self, value: &Value) -> bool {
        value.tensors().any(|tensor| !self.level.has(tensor))
    }

    /// Results as the function sees them, where each has the batch in dimension 0.
    pub(crate) fn all_in_front(&self, operator: &dyn std::fmt::Display, results: Vec<Value>) -> Result<Vec<Value>> {
        let front = |tensor: Tensor| self.shown(Mapped::in_front(tensor));
        let bring = |value| match value {
            Value::Tensor(tensor) => Ok(front(tensor)?.into()),
            Value::Tensors(tensors) => Ok(tensors.into_iter().map(front).collect::<Result<Vec<_>>>()?.into()),
            Value::None => Ok(Value::None),
            _ => Err(VmapError::Results { operator: operator.to_string() }.into()),
        };
        results.into_iter().map(bring).collect()
    }
}

/// A slice's geometry.
fn without(geometry: &Geometry, dim: usize) -> Geometry {
    let left = |values: &[i64]| -> Dims {
        values.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, value)| *value).collect()
    };
    let (sizes, strides) = (left(geometry.sizes()), left(geometry.strides()));
    Geometry::strided(&sizes, &strides, geometry.offset()).unwrap_or_else(|| geometry.clone())
}
