//! Safetensors files: named tensors with a header in JSON.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use dispatch_runtime::{DType, Tensor};
use safetensors::tensor::{Dtype, View};
use safetensors::{SafeTensorError, SafeTensors};

use crate::element_bytes::{ByteOrder, ElementLayout, ElementOrder, byte_count, read_tensor, write_tensor};
use crate::error::{FileError, FileProblem};
use crate::replace_file::replace_file;

/// The entry of the header that is no tensor.
const METADATA_NAME: &str = "__metadata__";

/// The dtypes of the format, with those of tensors.
const DTYPES: [(Dtype, DType); 16] = [
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::U8),
    (Dtype::I8, DType::I8),
    (Dtype::I16, DType::I16),
    (Dtype::I32, DType::I32),
    (Dtype::I64, DType::I64),
    (Dtype::F16, DType::F16),
    (Dtype::BF16, DType::BF16),
    (Dtype::F32, DType::F32),
    (Dtype::F64, DType::F64),
    (Dtype::C64, DType::C64),
    (Dtype::F8_E5M2, DType::F8E5M2),
    (Dtype::F8_E4M3, DType::F8E4M3FN),
    (Dtype::F8_E5M2FNUZ, DType::F8E5M2FNUZ),
    (Dtype::F8_E4M3FNUZ, DType::F8E4M3FNUZ),
    (Dtype::F8_E8M0, DType::F8E8M0FNU),
];

/// Loads all tensors of a safetensors file, by their names.
///
/// ```no_run
/// let weights = dispatch_files::load_safetensors("model.safetensors")?;
/// for (name, tensor) in &weights {
///     println!("{name}: {:?}", tensor.sizes());
/// }
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if the file cannot be read, is damaged or cut off, or has elements for which there is no dtype.
pub fn load_safetensors(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>, FileError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| FileError::new(path, error))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| FileError::new(path, error))?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.iter() {
        let load = || {
            let Some((_, dtype)) = DTYPES.into_iter().find(|(known, _)| *known == view.dtype()) else {
                return Err(FileProblem::UnsupportedElements { found: view.dtype().to_string() });
            };
            let layout = ElementLayout {
                dtype,
                byte_order: ByteOrder::Little,
                element_order: ElementOrder::RowMajor,
                sizes: view.shape().iter().map(|&size| size as u64).collect(),
            };
            read_tensor(&mut view.data(), &layout, view.data().len() as u64)
        };
        tensors.insert(name.to_owned(), load().map_err(|problem| FileError::in_entry(path, name, problem))?);
    }
    Ok(tensors)
}

/// Saves tensors as a safetensors file. A file of this name is replaced.
///
/// ```
/// use dispatch_files::{load_safetensors, save_safetensors};
/// use dispatch_runtime::{Tensor, bf16};
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let (weight, bias) = (Tensor::from([[bf16::ONE; 3]; 2]), Tensor::from([0.5_f32, 1.5]));
/// save_safetensors(&path, [("layer.weight", &weight), ("layer.bias", &bias)])?;
/// assert_eq!(load_safetensors(&path)?["layer.weight"].sizes(), [2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if two tensors have the same name, if the format has no such dtype, if the elements are not in memory of the CPU,
/// or if the file cannot be written.
pub fn save_safetensors<'a, N: AsRef<str>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
) -> Result<(), FileError> {
    let path = path.as_ref();
    let (mut names, mut views) = (BTreeSet::new(), Vec::new());
    let failed = RefCell::new(None);
    for (name, tensor) in tensors {
        let name = name.as_ref();
        let refuse = |problem: FileProblem| FileError::in_entry(path, name, problem);
        if name == METADATA_NAME {
            return Err(refuse(FileProblem::ReservedName));
        }
        if !names.insert(name.to_owned()) {
            return Err(refuse(FileProblem::DuplicateName));
        }
        let Some((dtype, _)) = DTYPES.into_iter().find(|(_, known)| *known == tensor.dtype()) else {
            let (dtype, format) = (tensor.dtype(), "safetensors files");
            return Err(refuse(FileProblem::UnsupportedDType { dtype, format }));
        };
        let sizes = tensor.sizes().iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
        views.push((name.to_owned(), SavedTensor { name: name.to_owned(), tensor, dtype, sizes, failed: &failed }));
    }
    replace_file(path, |new| {
        let result = safetensors::serialize_to_file(views, None, new);
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

impl From<SafeTensorError> for FileProblem {
    #[cold]
    fn from(error: SafeTensorError) -> Self {
        match error {
            SafeTensorError::IoError(error) => Self::Io(error),
            other => Self::Damaged { format: "safetensors file", source: Box::new(other) },
        }
    }
}
