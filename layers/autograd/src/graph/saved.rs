//! Values that a node saves for the backward pass. A saved tensor keeps its version, so that a later write to it is an error and not a
//! wrong gradient.

use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{Argument, DType, Device, Error, Result, Shared, Spec, Tensor, Value, guard};
use smallvec::{SmallVec, smallvec};

use crate::error::GradientError;
use crate::graph::history;
use crate::graph::node::Node;
use crate::graph::outline::{self, TensorOutline};

/// The saved values of a node, in the order of its function's parameters.
#[derive(Default)]
pub(crate) struct SavedValues(Mutex<SmallVec<[SavedValue; 2]>>);

/// A saved value.
pub(crate) enum SavedValue {
    Value(Value),
    Tensor(SavedTensor),
    Tensors(Vec<Option<SavedTensor>>),
    /// A `Tensor?[]`, whose entries may be missing.
    OptionalTensors(Vec<Option<SavedTensor>>),
    Outline(Box<TensorOutline>),
    Outlines(Box<[TensorOutline]>),
    /// A tensor that no requested gradient needs. It is unpacked as an empty placeholder.
    Unneeded,
    /// The mark that all saved values were freed.
    Freed,
}

/// A tensor with its version when it was saved.
pub(crate) struct SavedTensor {
    tensor: Tensor,
    version: u64,
    /// The index of the tensor among the results of the node, if it is one. A result is saved without history, as its history is the node
    /// itself.
    result: Option<u32>,
}

/// A saved value as it is passed to a derivative.
pub enum UnpackedValue {
    /// A value of the operator's call.
    Value(Value),
    /// The outline of a tensor.
    Outline(Box<TensorOutline>),
    /// The outlines of a list of tensors.
    Outlines(Box<[TensorOutline]>),
}

impl SavedValues {
    pub(crate) fn new(saved_value: impl IntoIterator<Item = SavedValue>) -> Self {
        Self(Mutex::new(saved_value.into_iter().collect()))
    }

    /// Returns the values saved so far. The node is not shared yet.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut SmallVec<[SavedValue; 2]> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unpacks the values for the function of `node`. `name` returns the name of a position for errors.
    #[inline]
    pub(crate) fn unpack(
        &self,
        node: &Shared<Node>,
        name: impl Fn(usize) -> String,
    ) -> Result<SmallVec<[UnpackedValue; 4]>> {
        let saved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        saved.iter().enumerate().map(|(i, saved_value)| saved_value.unpack(node, &|| name(i))).collect()
    }

    /// Frees the saved values after the last backward pass. Does nothing if none holds memory, so another backward pass stays possible.
    pub(crate) fn release(&self) {
        let mut saved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if saved.iter().any(SavedValue::holds_memory) {
            // The values are dropped without the lock: a tensor may be the last handle to a part of the graph.
            let freed = std::mem::replace(&mut *saved, smallvec![SavedValue::Freed]);
            drop(saved);
            drop(freed);
        }
    }
}

impl SavedValue {
    /// Saves an argument of an operator.
    pub(crate) fn from_argument(value: Value, name: impl Fn() -> (String, String)) -> Result<Self> {
        Ok(match value {
            Value::Tensor(tensor) => Self::Tensor(SavedTensor::new(tensor, name)?),
            Value::Tensors(tensors) => {
                let saved = tensors.into_iter().map(|tensor| SavedTensor::new(tensor, &name).map(Some));
                Self::Tensors(saved.collect::<Result<_>>()?)
            }
            Value::OptionalTensors(tensors) => {
                let saved =
                    tensors.into_iter().map(|tensor| tensor.map(|tensor| SavedTensor::new(tensor, &name)).transpose());
                Self::OptionalTensors(saved.collect::<Result<_>>()?)
            }
            value => Self::Value(value),
        })
    }

    fn holds_memory(&self) -> bool {
        match self {
            Self::Tensor(_) => true,
            Self::Tensors(tensors) | Self::OptionalTensors(tensors) => !tensors.is_empty(),
            Self::Value(_) | Self::Outline(_) | Self::Outlines(_) | Self::Unneeded | Self::Freed => false,
        }
    }

    fn unpack(&self, node: &Shared<Node>, name: &dyn Fn() -> String) -> Result<UnpackedValue> {
        let tensor = |saved: &SavedTensor| saved.unpack(node, name);
        Ok(UnpackedValue::Value(match self {
            Self::Value(value) => value.clone(),
            Self::Tensor(saved) => Value::Tensor(tensor(saved)?),
            Self::Tensors(saved) => {
                Value::Tensors(Box::new(saved.iter().flatten().map(tensor).collect::<Result<_>>()?))
            }
            Self::OptionalTensors(saved) => {
                let tensors = saved.iter().map(|saved| saved.as_ref().map(tensor).transpose());
                Value::OptionalTensors(Box::new(tensors.collect::<Result<_>>()?))
            }
            Self::Outline(outline) => return Ok(UnpackedValue::Outline(outline.clone())),
            Self::Outlines(outlines) => return Ok(UnpackedValue::Outlines(outlines.clone())),
            Self::Unneeded => Value::Tensor(Spec::contiguous(DType::F32, &[0]).on(Device::META)?),
            Self::Freed => return Err(GradientError::SavedTensorsFreed { operator: node.name() }.into()),
        }))
    }
}

impl SavedTensor {
    /// Saves a tensor that is no result of the node. `name` returns the names of the operator and of the tensor.
    pub(crate) fn new(tensor: Tensor, name: impl Fn() -> (String, String)) -> Result<Self> {
        let version = tensor.storage().version();
        Self::with_version(tensor, version, name)
    }

    /// Saves a tensor with a version that was read earlier.
    pub(crate) fn with_version(tensor: Tensor, version: u64, name: impl Fn() -> (String, String)) -> Result<Self> {
        if tensor.is_inference() {
            let (operator, saved) = name();
            return Err(GradientError::InferenceTensorSaved { operator, saved }.into());
        }
        Ok(Self { tensor, version, result: None })
    }

    /// Saves a result of the node.
    pub(crate) fn from_result(tensor: &Tensor, result: u32) -> Result<Self> {
        let version = tensor.storage().version();
        Ok(Self { tensor: history::detach(tensor)?, version, result: Some(result) })
    }

    /// Whether the tensor was written to after it was saved.
    pub(crate) fn is_modified(&self) -> bool {
        self.tensor.storage().version() != self.version
    }

    fn unpack(&self, node: &Shared<Node>, saved: &dyn Fn() -> String) -> Result<Tensor> {
        let found = self.tensor.storage().version();
        if found != self.version {
            return Err(GradientError::SavedTensorModified {
                operator: node.name(),
                saved: saved(),
                sizes: self.tensor.sizes().to_vec(),
                dtype: self.tensor.dtype(),
                version: self.version,
                found,
            }
            .into());
        }
        match self.result {
            Some(result) if guard::is_grad_enabled() && outline::is_differentiable(self.tensor.dtype()) => {
                let mut tensor = history::detach(&self.tensor)?;
                history::set_node(&mut tensor, node.clone(), result);
                Ok(tensor)
            }
            _ => Ok(self.tensor.clone()),
        }
    }
}

/// Unpacks a saved value as the type of the derivative's parameter.
#[doc(hidden)]
pub fn unpack_value<'a, T: Argument<'a>>(saved: &'a mut UnpackedValue) -> Result<T> {
    let value = match saved {
        UnpackedValue::Value(value) => T::from_value(value),
        UnpackedValue::Outline(_) | UnpackedValue::Outlines(_) => None,
    };
    value.ok_or_else(wrong_saved_kind_error)
}

/// Unpacks a saved outline.
#[doc(hidden)]
pub fn unpack_outline(saved: &mut UnpackedValue) -> Result<&TensorOutline> {
    match saved {
        UnpackedValue::Outline(outline) => Ok(outline),
        _ => Err(wrong_saved_kind_error()),
    }
}

/// Unpacks the saved outlines of a list.
#[doc(hidden)]
pub fn unpack_outlines(saved: &mut UnpackedValue) -> Result<&[TensorOutline]> {
    match saved {
        UnpackedValue::Outlines(outlines) => Ok(outlines),
        _ => Err(wrong_saved_kind_error()),
    }
}

fn wrong_saved_kind_error() -> Error {
    Error::kernel("a saved value has another kind than when it was saved")
}

/// Returns the error that more or fewer values were unpacked than saved.
#[doc(hidden)]
pub fn saved_count_error() -> Result<()> {
    Err(Error::kernel("the number of saved values differs from the number of parameters of the derivative"))
}
