//! The index of a model in several files (shards), such as `model.safetensors.index.json`: a map from the name of each tensor to its file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};

use serde_json::Value;

use super::Contents;
use super::read::load_file;
use crate::error::{FileError, FileProblem};

/// Loads all files that an index names. They are in the folder of the index.
pub(super) fn load_shards(path: &Path) -> Result<Contents, FileError> {
    let refuse = |problem: FileProblem| FileError::new(path, problem);
    let bytes = fs::read(path).map_err(|error| refuse(error.into()))?;
    let weight_map = read_weight_map(&bytes).map_err(refuse)?;
    let files: BTreeSet<&String> = weight_map.values().collect();
    if let Some(file) = files.iter().find(|file| !is_inside_folder(file)) {
        return Err(refuse(FileProblem::OutsideFolder { file: (*file).clone() }));
    }
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let mut all = Contents::default();
    for file in files {
        let shard_path = folder.join(file);
        let (tensors, metadata) = load_file(&shard_path)?;
        let mut listed = weight_map.iter().filter(|(_, of_name)| *of_name == file).map(|(name, _)| name);
        if let Some(missing) = listed.find(|name| !tensors.contains_key(*name)) {
            return Err(FileError::in_entry(&shard_path, missing, FileProblem::MissingTensor));
        }
        for (name, tensor) in tensors {
            if all.0.contains_key(&name) {
                return Err(FileError::in_entry(&shard_path, &name, FileProblem::DuplicateName));
            }
            all.0.insert(name, tensor);
        }
        for (key, value) in metadata {
            all.1.entry(key).or_insert(value);
        }
    }
    Ok(all)
}

fn read_weight_map(bytes: &[u8]) -> Result<BTreeMap<String, String>, FileProblem> {
    let damaged = |source| FileProblem::Damaged { format: "index of a model", source };
    let index: Value = serde_json::from_slice(bytes).map_err(|error| damaged(error.into()))?;
    let Some(Value::Object(map)) = index.get("weight_map") else {
        return Err(damaged("it has no object `weight_map`, which maps names of tensors to files".into()));
    };
    let mut weight_map = BTreeMap::new();
    for (name, file) in map {
        let Value::String(file) = file else {
            return Err(damaged(format!("the file of the tensor `{name}` is {file}, not text").into()));
        };
        weight_map.insert(name.clone(), file.clone());
    }
    Ok(weight_map)
}

/// Returns whether a path is relative and has no `..`. Symbolic links are followed, because caches of downloads consist of them.
fn is_inside_folder(file: &str) -> bool {
    let mut components = Path::new(file).components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}
