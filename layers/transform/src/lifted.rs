//! Lifted tensors: the tensors of a level.

use dispatch_runtime::{KeySet, Operator, Result, Stack, Tensor, keys, op_fallback};

use crate::level_stack::{Level, TransformError};

/// The extension of a level's tensor: its level, and the tensor below, whose elements it shows.
///
/// The lifted tensor is a separate tensor with the keys of levels added. It shares the storage of the tensor below.
pub struct LiftInfo {
    level: Level,
    below: Tensor,
}

impl LiftInfo {
    /// Returns the level that the tensor belongs to.
    #[must_use]
    pub const fn level(&self) -> &Level {
        &self.level
    }

    /// Returns the tensor below the level, whose elements the lifted tensor shows.
    #[must_use]
    pub const fn tensor_below(&self) -> &Tensor {
        &self.below
    }
}

/// Whether a tensor belongs to a level, ended or not.
#[must_use]
pub fn is_lifted(tensor: &Tensor) -> bool {
    tensor.extension::<LiftInfo>().is_some()
}

pub(crate) fn lift(level: &Level, tensor: &Tensor) -> Tensor {
    let tensor = &unwrap_ended_levels(tensor);
    if level.owns(tensor) {
        return tensor.clone();
    }
    let own = [keys::AutogradCPU, keys::ADInplaceOrView, keys::FuncTorchGradWrapper];
    let own = own.into_iter().fold(KeySet::EMPTY, |all, key| all | KeySet::layers_of(key));
    let lifted = tensor.with_keys(tensor.keys() | own);
    lifted.extension_or_init(|| LiftInfo { level: level.clone(), below: tensor.clone() });
    lifted
}

pub(crate) fn lift_with_geometry(level: &Level, shown: &Tensor, below: &Tensor, layers: KeySet) -> Tensor {
    let own = layers | KeySet::layers_of(keys::FuncTorchGradWrapper);
    let lifted = shown.opaque_with_keys(shown.keys() | own);
    lifted.extension_or_init(|| LiftInfo { level: level.clone(), below: below.clone() });
    lifted
}

pub(crate) fn lower(level: &Level, tensor: &Tensor) -> Tensor {
    match tensor.extension::<LiftInfo>() {
        Some(lifted) if lifted.level == *level => lifted.below.clone(),
        _ => tensor.clone(),
    }
}

/// Returns the tensor below all levels that have ended.
///
/// ```
/// use dispatch_runtime::Tensor;
/// let x = Tensor::from_slice(&[1.0_f32]);
/// assert!(dispatch_transform::unwrap_ended_levels(&x).same(&x));
/// ```
#[must_use]
pub fn unwrap_ended_levels(tensor: &Tensor) -> Tensor {
    let mut tensor = tensor.clone();
    while let Some(lifted) = tensor.extension::<LiftInfo>().filter(|lifted| !lifted.level.is_alive()) {
        tensor = lifted.below.clone();
    }
    tensor
}

/// Replaces tensors of ended levels by the tensors below, for calls that no level intercepts. Returns an error if a tensor's level runs on
/// another thread.
#[op_fallback(FuncTorchGradWrapper)]
fn unwrap_ended_fallback(operator: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    for value in stack.top_mut(operator.argument_count()).unwrap_or_default() {
        let mut is_on_other_thread = false;
        for tensor in value.tensors_mut() {
            *tensor = unwrap_ended_levels(tensor);
            is_on_other_thread |=
                tensor.extension::<LiftInfo>().is_some_and(|lifted| !lifted.level.is_on_this_thread());
        }
        if is_on_other_thread {
            return Err(TransformError::OtherThread { operator: operator.name().to_string() }.into());
        }
    }
    let _guard = dispatch_runtime::guard::exclude(KeySet::from(keys::FuncTorchGradWrapper));
    operator.call_boxed_below(keys::FuncTorchGradWrapper, stack)
}
