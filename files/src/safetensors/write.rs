//! Writing of a file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use dispatch_runtime::Tensor;
use safetensors::tensor::{Dtype, View};

use super::ties::{add_ties, are_tied};
use super::{DTYPES, SafetensorsMetadata};
use crate::element_bytes::{byte_count, write_tensor};
use crate::error::{FileError, FileProblem};
use crate::replace_file::replace_file;

/// The entry of the header that is no tensor.
const METADATA_NAME: &str = "__metadata__";

pub(super) fn save<'a, N: AsRef<str>>(
    path: &Path,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
    mut metadata: SafetensorsMetadata,
) -> Result<(), FileError> {
    let (mut saved, mut ties) = (BTreeMap::new(), BTreeMap::new());
    let mut names_of_storages: HashMap<usize, Vec<String>> = HashMap::new();
    let failed = RefCell::new(None);
    for (name, tensor) in tensors {
        let name = name.as_ref();
        let refuse = |problem: FileProblem| FileError::in_entry(path, name, problem);
        if name == METADATA_NAME {
            return Err(refuse(FileProblem::ReservedName));
        }
        if saved.contains_key(name) || ties.contains_key(name) {
            return Err(refuse(FileProblem::DuplicateName));
        }
        let names = names_of_storages.entry(tensor.storage().identity()).or_default();
        let is_tied = |of: &&String| saved.get(*of).is_some_and(|saved: &SavedTensor| are_tied(saved.tensor, tensor));
        if let Some(first) = names.iter().find(is_tied) {
            ties.insert(name.to_owned(), first.clone());
            continue;
        }
        names.push(name.to_owned());
        let Some((dtype, _)) = DTYPES.into_iter().find(|(_, known)| *known == tensor.dtype()) else {
            let (dtype, format) = (tensor.dtype(), "safetensors files");
            return Err(refuse(FileProblem::UnsupportedDType { dtype, format }));
        };
        let sizes = tensor.sizes().iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
        saved.insert(name.to_owned(), SavedTensor { name: name.to_owned(), tensor, dtype, sizes, failed: &failed });
    }
    add_ties(&mut metadata, ties, |name| saved.contains_key(name)).map_err(|problem| FileError::new(path, problem))?;
    let metadata = (!metadata.is_empty()).then(|| metadata.into_iter().collect());
    replace_file(path, |new| {
        let result = safetensors::serialize_to_file(saved, metadata, new);
        match failed.take() {
            Some((name, problem)) => Err(FileError::in_entry(path, &name, problem)),
            None => result.map_err(|error| FileError::new(path, error)),
        }
    })
}

/// A tensor that is written. Its bytes are made when they are needed, so that there are never those of two tensors.
struct SavedTensor<'a> {
    name: String,
    tensor: &'a Tensor,
    dtype: Dtype,
    sizes: Vec<usize>,
    /// The first tensor whose elements could not be read, with the reason. The library has no place for it.
    failed: &'a RefCell<Option<(String, FileProblem)>>,
}

impl View for SavedTensor<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.sizes
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let mut bytes = Vec::with_capacity(byte_count(self.tensor));
        if let Err(problem) = write_tensor(self.tensor, &mut bytes) {
            self.failed.borrow_mut().get_or_insert_with(|| (self.name.clone(), problem));
        }
        bytes.into()
    }

    fn data_len(&self) -> usize {
        byte_count(self.tensor)
    }
}
