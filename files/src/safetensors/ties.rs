//! Tied tensors: several names for the same elements, such as an embedding and the output layer that shares its weight.
//!
//! The format has no shared elements, so the first name is saved, and an entry of the metadata per other name says `other name: first name`,
//! as `safetensors.torch.save_model` writes it. Nothing else in the file marks such an entry. Therefore no other entry of the metadata may
//! have the name of a saved tensor as its value, unless its key is also the name of one.

use std::collections::BTreeMap;

use dispatch_runtime::Tensor;

use super::SafetensorsMetadata;
use crate::error::FileProblem;

/// Returns whether two tensors are the same elements of the same memory.
pub(super) fn are_tied(a: &Tensor, b: &Tensor) -> bool {
    a.storage().same(b.storage())
        && a.dtype() == b.dtype()
        && a.geometry() == b.geometry()
        && a.math_bits() == b.math_bits()
}

/// Adds the ties, from the other name to the saved name, to the metadata of a file with tensors of these names.
pub(super) fn add_ties(
    metadata: &mut SafetensorsMetadata,
    ties: BTreeMap<String, String>,
    is_saved: impl Fn(&str) -> bool,
) -> Result<(), FileProblem> {
    let is_ambiguous = |key: &str, value: &str| ties.contains_key(key) || (is_saved(value) && !is_saved(key));
    if let Some((key, _)) = metadata.iter().find(|(key, value)| is_ambiguous(key, value)) {
        return Err(FileProblem::TieInMetadata { key: key.clone() });
    }
    metadata.extend(ties);
    Ok(())
}

/// Moves the ties out of the metadata of a file: each becomes another handle of the tensor that it names.
pub(super) fn restore_ties(tensors: &mut BTreeMap<String, Tensor>, metadata: &mut SafetensorsMetadata) {
    let mut tied = Vec::new();
    metadata.retain(|key, value| match tensors.get(value) {
        Some(tensor) if !tensors.contains_key(key) => {
            tied.push((key.clone(), tensor.clone()));
            false
        }
        _ => true,
    });
    tensors.extend(tied);
}
