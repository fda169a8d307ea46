//! What a node does with gradients, and what it keeps for that.

use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{Argument, DType, Device, Error, Result, Shared, Spec, Tensor, Value};
use smallvec::SmallVec;

use crate::derivative::Derivative;
use crate::error::GradientError;
use crate::history;
use crate::node::{Gradients, Node};
use crate::outline::Outline;

/// How gradients go back through a computation of somebody's own, see [`record`](crate::record()).
///
/// An operator's derivative is better written as an `#[op_grad]` function. This is for what is no operator: a closure that is computed
/// again, a call to another program.
pub trait Backward: Send + Sync + 'static {
    /// What error messages call it.
    fn name(&self) -> String;

    /// Gradients of the results in, of the inputs out: one for each input, none where it has none. `needs` says which are asked for.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong.
    fn backward(&self, gradients: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>>;

    /// Forgets what was saved: there will be no other backward.
    fn release(&self) {}
}

/// What a node does with gradients.
pub(crate) enum Function {
    /// An operator's derivative, with what it saved. None after it was freed.
    Derivative(&'static Derivative, Mutex<Option<Saved>>),
    /// Anything else.
    Own(Box<dyn Backward>),
}

/// In the order in which the derivative takes it.
pub(crate) type Saved = SmallVec<[Kept; 2]>;

/// A value that a derivative needs.
pub(crate) enum Kept {
    Value(Value),
    Tensor(SavedTensor),
    Tensors(Vec<Option<SavedTensor>>),
    /// As a `Tensor?[]`, where some may be missing.
    OptionalTensors(Vec<Option<SavedTensor>>),
    Outline(Box<Outline>),
    Outlines(Box<[Outline]>),
    /// A tensor for gradients that nobody asks for. It is unpacked as some tensor that nobody looks at.
    Unneeded,
}

/// A tensor as it was when it was saved.
pub(crate) struct SavedTensor {
    tensor: Tensor,
    version: u64,
    /// Which result of the node it is. Such a tensor is kept without its history, which is the node.
    result: Option<u32>,
}

/// A saved value as a derivative takes it.
pub enum Unpacked {
    /// A value of the operator's.
    Value(Value),
    /// A tensor's outline.
    Outline(Box<Outline>),
    /// Those of several.
    Outlines(Box<[Outline]>),
}

impl Function {
    #[inline]
    pub(crate) fn derivative(rule: &'static Derivative) -> Self {
        Self::Derivative(rule, Mutex::new(Some(Saved::new())))
    }

    /// What a derivative has saved so far, before anybody else can see it.
    #[inline]
    pub(crate) fn saved(&mut self) -> &mut [Kept] {
        match self {
            Self::Derivative(_, saved) => match saved.get_mut().unwrap_or_else(PoisonError::into_inner) {
                Some(saved) => saved,
                None => &mut [],
            },
            Self::Own(_) => &mut [],
        }
    }

    /// Saves one more value for a derivative.
    #[inline]
    pub(crate) fn save(&mut self, kept: Kept) {
        if let Self::Derivative(_, saved) = self
            && let Some(saved) = saved.get_mut().unwrap_or_else(PoisonError::into_inner)
        {
            saved.push(kept);
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Derivative(rule, _) => rule.operator().name().to_string(),
            Self::Own(function) => function.name(),
        }
    }

    /// Runs it: gradients of the results in, of the inputs out.
    pub(crate) fn run(self_node: &Shared<Node>, gradients: &mut [Option<Tensor>], needs: &[bool]) -> Result<Gradients> {
        let out = match self_node.function() {
            Self::Derivative(rule, saved) => {
                let mut unpacked = {
                    let saved = saved.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(saved) = &*saved else {
                        return Err(GradientError::Freed { operator: rule.operator().name().to_string() }.into());
                    };
                    let unpack = saved.iter().enumerate().map(|(i, kept)| kept.unpack(self_node, rule, i));
                    unpack.collect::<Result<SmallVec<[Unpacked; 4]>>>()?
                };
                let mut out = Gradients::new();
                rule.run(self_node.results(), gradients, &mut unpacked, needs, &mut out)?;
                out
            }
            Self::Own(function) => function.backward(gradients, needs)?.into(),
        };
        let (found, expected) = (out.len(), needs.len());
        if found != expected {
            return Err(GradientError::GradientCount { operator: self_node.name(), found, expected }.into());
        }
        Ok(out)
    }

    /// Frees what was saved, as there will be no other backward. Who saved nothing has nothing to miss.
    pub(crate) fn release(&self) {
        match self {
            Self::Derivative(_, saved) => {
                let mut saved = saved.lock().unwrap_or_else(PoisonError::into_inner);
                if saved.as_ref().is_some_and(|saved| saved.iter().any(Kept::holds_memory)) {
                    // Dropped after the lock is gone: a tensor may be the last handle to a part of the graph.
                    let freed = saved.take();
                    drop(saved);
                    drop(freed);
                }
            }
            Self::Own(function) => function.release(),
        }
    }

    /// Leaves nothing behind, for a drop that must not recurse.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Own(Box::new(Nothing(String::new()))))
    }
}

impl Kept {
    /// What an operator was called with.
    pub(crate) fn argument(value: Value, name: impl Fn() -> (String, String)) -> Result<Self> {
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
            Self::Value(_) | Self::Outline(_) | Self::Outlines(_) | Self::Unneeded => false,
        }
    }

    fn unpack(&self, node: &Shared<Node>, rule: &Derivative, position: usize) -> Result<Unpacked> {
        let tensor = |saved: &SavedTensor| saved.unpack(node, &|| rule.saved_name(position));
        Ok(Unpacked::Value(match self {
            Self::Value(value) => value.clone(),
            Self::Tensor(saved) => Value::Tensor(tensor(saved)?),
            Self::Tensors(saved) => {
                Value::Tensors(Box::new(saved.iter().flatten().map(tensor).collect::<Result<_>>()?))
            }
            Self::OptionalTensors(saved) => {
                let tensors = saved.iter().map(|saved| saved.as_ref().map(tensor).transpose());
                Value::OptionalTensors(Box::new(tensors.collect::<Result<_>>()?))
            }
            Self::Outline(outline) => return Ok(Unpacked::Outline(outline.clone())),
            Self::Outlines(outlines) => return Ok(Unpacked::Outlines(outlines.clone())),
            Self::Unneeded => Value::Tensor(Spec::contiguous(DType::F32, &[0]).on(Device::META)?),
        }))
    }
}

impl SavedTensor {
    pub(crate) fn new(tensor: Tensor, name: impl Fn() -> (String, String)) -> Result<Self> {
        if tensor.is_inference() {
            let (operator, saved) = name();
            return Err(GradientError::InferenceSaved { operator, saved }.into());
        }
        let version = tensor.storage().version();
        Ok(Self { tensor, version, result: None })
    }

    /// A result of the node that saves it.
    pub(crate) fn of_result(tensor: &Tensor, result: u32) -> Result<Self> {
        let version = tensor.storage().version();
        Ok(Self { tensor: history::bare(tensor)?, version, result: Some(result) })
    }

    /// Whether it was written to since.
    pub(crate) fn is_modified(&self) -> bool {
        self.tensor.storage().version() != self.version
    }

    fn unpack(&self, node: &Shared<Node>, saved: &dyn Fn() -> String) -> Result<Tensor> {
        let found = self.tensor.storage().version();
        if found != self.version {
            return Err(GradientError::Modified {
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
            Some(result) if dispatch_runtime::guard::is_grad_enabled() => {
                let mut tensor = history::bare(&self.tensor)?;
                history::set(&mut tensor, node.clone(), result);
                Ok(tensor)
            }
            _ => Ok(self.tensor.clone()),
        }
    }
}

/// No gradient goes back: what was there before has no part in what is there now.
pub(crate) struct Nothing(pub(crate) String);

impl Backward for Nothing {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn backward(&self, _: &[Option<Tensor>], needs: &[bool]) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![None; needs.len()])
    }
}

/// A saved value of the operator's own type.
#[doc(hidden)]
pub fn value<'a, T: Argument<'a>>(saved: &'a mut Unpacked) -> Result<T> {
    let value = match saved {
        Unpacked::Value(value) => T::from_value(value),
        Unpacked::Outline(_) | Unpacked::Outlines(_) => None,
    };
    value.ok_or_else(another_kind)
}

/// A saved outline.
#[doc(hidden)]
pub fn outline(saved: &mut Unpacked) -> Result<&Outline> {
    match saved {
        Unpacked::Outline(outline) => Ok(outline),
        _ => Err(another_kind()),
    }
}

/// The saved outlines of a list.
#[doc(hidden)]
pub fn outlines(saved: &mut Unpacked) -> Result<&[Outline]> {
    match saved {
        Unpacked::Outlines(outlines) => Ok(outlines),
        _ => Err(another_kind()),
    }
}

fn another_kind() -> Error {
    Error::kernel("a saved value is of another kind than it was saved as")
}

/// Fewer or more values than were saved.
#[doc(hidden)]
pub fn lost() -> Result<()> {
    Err(Error::kernel("saved values were lost"))
}
