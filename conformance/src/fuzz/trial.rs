//! A trial: a call of an operator with unchecked arguments, or the text of a graph.

use dispatch_checks::plumbing::{Array, HOST_DEVICE, to_tensor};
use dispatch_runtime::{DType, Geometry, Scalar, Storage, Tensor, Value};

use crate::error::{Error, Result};

/// The largest number of elements, of a CPU tensor or of its storage.
pub(super) const MAX_ELEMENT_COUNT: i64 = 1 << 18;

/// A trial: a call of an operator, or a graph that is parsed and run.
///
/// ```
/// use conformance::fuzz::{Outcome, Trial};
///
/// let trial = Trial::parse(r#"{"op": "aten::numel", "args": [{"tensor": {"dtype": "f32", "shape": [2], "on": "meta"}}]}"#)?;
/// assert!(matches!(trial.run(), Outcome::Results));
/// # Ok::<(), conformance::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trial(pub(super) TrialKind);

#[derive(Clone, Debug)]
pub(super) enum TrialKind {
    Call(Call),
    /// The text of a graph without constants.
    Graph(String),
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) operator: String,
    pub(super) arguments: Vec<TrialArgument>,
    pub(super) layers: Layers,
}

/// The layers that the call uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layers {
    BackendOnly,
    /// Autograd: floating-point tensors require gradients, and the results are differentiated.
    Autograd,
    /// Vmap. Bit `i`, counted from the lowest, says whether dimension 0 of tensor `i` is the batch dimension.
    Vmap(u64),
}

#[derive(Clone, Debug)]
pub(super) enum TrialArgument {
    Tensor(TensorDescription),
    Tensors(Vec<TensorDescription>),
    OptionalTensors(Vec<Option<TensorDescription>>),
    NonTensor(Value),
}

/// The description of a tensor that the call creates.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TensorDescription {
    pub(super) dtype: DType,
    pub(super) sizes: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) offset: i64,
    pub(super) is_meta: bool,
    /// The number of the storage: tensors of a call with the same number share it. The first one defines its elements.
    pub(super) memory: Option<usize>,
    /// The elements of the storage from its start, repeated to fill it.
    pub(super) elements: Vec<Scalar>,
    /// Whether the tensor is a wrapped scalar (`Tensor::number`) of the first element.
    pub(super) is_number: bool,
}

impl TensorDescription {
    /// Creates the description of a contiguous tensor on the CPU.
    pub(super) fn new(dtype: DType, sizes: &[i64], elements: Vec<Scalar>) -> Self {
        let strides = Geometry::contiguous(sizes).strides().to_vec();
        let (offset, is_meta, memory, is_number) = (0, false, None, false);
        Self { dtype, sizes: sizes.to_vec(), strides, offset, is_meta, memory, elements, is_number }
    }

    pub(super) fn from_array(array: &Array) -> Self {
        let elements = array.elements.iter().copied().take(64).collect();
        let (strides, offset) = (array.strides.clone(), array.offset);
        Self { strides, offset, ..Self::new(array.dtype, &array.sizes, elements) }
    }

    /// Changes the sizes and makes the strides contiguous.
    pub(super) fn resize(&mut self, sizes: Vec<i64>) {
        self.strides = Geometry::contiguous(&sizes).strides().to_vec();
        self.sizes = sizes;
    }

    pub(super) fn geometry(&self) -> Result<Geometry> {
        Geometry::strided(&self.sizes, &self.strides, self.offset)
            .ok_or(Error::Check(dispatch_checks::Error::InvalidGeometry))
    }

    /// Returns the number of elements that the storage must hold, or `None` if the geometry is invalid or too large.
    pub(super) fn required_element_count(&self) -> Option<i64> {
        self.geometry().ok()?.end()
    }

    /// Returns the number of elements of the tensor. Some may share memory.
    pub(super) fn element_count(&self) -> i64 {
        self.geometry().map_or(0, |geometry| geometry.count())
    }

    fn required_bytes(&self) -> i64 {
        let size = i64::try_from(self.dtype.size()).unwrap_or(1);
        self.required_element_count().unwrap_or(0).saturating_mul(size)
    }

    fn create_tensor(&self, storages: &mut CallStorages) -> Result<Tensor> {
        if self.is_number {
            return Ok(Tensor::number(self.elements.first().copied().unwrap_or(Scalar::Int(0))));
        }
        let storage = storages.find_or_create(self)?;
        Ok(Tensor::new(storage, self.dtype, self.geometry()?).map_err(dispatch_checks::Error::from)?)
    }
}

/// The storages of a call.
struct CallStorages {
    /// For each tensor with a storage number, this number and the bytes that the tensor needs.
    needed_bytes: Vec<(usize, i64)>,
    created: Vec<(usize, Storage)>,
}

impl CallStorages {
    fn find_or_create(&mut self, description: &TensorDescription) -> Result<Storage> {
        let Some(number) = description.memory else { return create_storage(description, description.required_bytes()) };
        if let Some((_, storage)) = self.created.iter().find(|(at, _)| *at == number) {
            return Ok(storage.clone());
        }
        let bytes = self.needed_bytes.iter().filter(|(at, _)| *at == number).map(|&(_, bytes)| bytes).max();
        let storage = create_storage(description, bytes.unwrap_or(0))?;
        self.created.push((number, storage.clone()));
        Ok(storage)
    }
}

fn create_storage(description: &TensorDescription, bytes: i64) -> Result<Storage> {
    if description.is_meta {
        return Ok(Storage::new_meta(usize::try_from(bytes).unwrap_or(usize::MAX)));
    }
    let count =
        bytes.min(MAX_ELEMENT_COUNT * 16).unsigned_abs().div_ceil(u64::try_from(description.dtype.size()).unwrap_or(1));
    let (count, zero) = (usize::try_from(count).unwrap_or(0), [Scalar::Int(0)]);
    let pattern = if description.elements.is_empty() { &zero[..] } else { &description.elements };
    let elements = pattern.iter().copied().cycle().take(count).collect();
    let array = Array::new(description.dtype, &[i64::try_from(count).unwrap_or(0)], elements);
    Ok(to_tensor(&array, HOST_DEVICE)?.storage().clone())
}

impl TrialArgument {
    pub(super) fn descriptions(&self) -> Vec<&TensorDescription> {
        match self {
            Self::Tensor(description) => vec![description],
            Self::Tensors(descriptions) => descriptions.iter().collect(),
            Self::OptionalTensors(descriptions) => descriptions.iter().flatten().collect(),
            Self::NonTensor(_) => Vec::new(),
        }
    }

    pub(super) fn descriptions_mut(&mut self) -> Vec<&mut TensorDescription> {
        match self {
            Self::Tensor(description) => vec![description],
            Self::Tensors(descriptions) => descriptions.iter_mut().collect(),
            Self::OptionalTensors(descriptions) => descriptions.iter_mut().flatten().collect(),
            Self::NonTensor(_) => Vec::new(),
        }
    }

    fn create_value(&self, storages: &mut CallStorages) -> Result<Value> {
        Ok(match self {
            Self::Tensor(description) => description.create_tensor(storages)?.into(),
            Self::Tensors(descriptions) => descriptions
                .iter()
                .map(|description| description.create_tensor(storages))
                .collect::<Result<Vec<_>>>()?
                .into(),
            Self::OptionalTensors(descriptions) => {
                let mut create = |description: &Option<TensorDescription>| {
                    description.as_ref().map(|description| description.create_tensor(storages)).transpose()
                };
                descriptions.iter().map(&mut create).collect::<Result<Vec<_>>>()?.into()
            }
            Self::NonTensor(value) => value.clone(),
        })
    }
}

impl Call {
    pub(super) fn descriptions(&self) -> impl Iterator<Item = &TensorDescription> {
        self.arguments.iter().flat_map(TrialArgument::descriptions)
    }

    pub(super) fn descriptions_mut(&mut self) -> impl Iterator<Item = &mut TensorDescription> {
        self.arguments.iter_mut().flat_map(TrialArgument::descriptions_mut)
    }

    /// Creates the arguments, in new storages.
    pub(super) fn create_values(&self) -> Result<Vec<Value>> {
        let needed_bytes = self
            .descriptions()
            .filter_map(|description| Some((description.memory?, description.required_bytes())))
            .collect();
        let mut storages = CallStorages { needed_bytes, created: Vec::new() };
        self.arguments.iter().map(|argument| argument.create_value(&mut storages)).collect()
    }
}
