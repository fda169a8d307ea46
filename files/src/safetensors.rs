//! Safetensors files: named tensors with a header in JSON.

mod index;
mod read;
mod ties;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

use dispatch_runtime::{DType, Tensor};
use safetensors::SafeTensorError;
use safetensors::tensor::Dtype;

use crate::error::{FileError, FileProblem};
use index::load_shards;
use read::{load_file, read_contents};
use write::save;

/// The metadata of a safetensors file.
///
/// ```
/// use dispatch_files::SafetensorsMetadata;
/// let metadata = SafetensorsMetadata::from([("epoch".to_owned(), "3".to_owned())]);
/// assert_eq!(metadata["epoch"], "3");
/// ```
pub type SafetensorsMetadata = BTreeMap<String, String>;

/// The tensors and the metadata of a file.
type Contents = (BTreeMap<String, Tensor>, SafetensorsMetadata);

/// Loads all tensors of a safetensors file, by their names. If the path ends in `.json`, the file is the index of a model in several files
/// (`model.safetensors.index.json`), and all of them are loaded.
///
/// Tied tensors, which [`save_safetensors`] saves once, get all their names back. They are handles of the same tensor. Python's `save_model`
/// writes the same entry for a view of a part, or with other strides. Such a view becomes the whole tensor too, because the file does not
/// tell the two apart.
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
/// Returns [`FileError`] if the file cannot be read, is damaged or cut off, or has elements for which there is no dtype. Also if a file
/// of an index is missing, lacks a tensor of the index, is not below the folder of the index, or has a name that another file has, too.
pub fn load_safetensors(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>, FileError> {
    Ok(load_safetensors_with_metadata(path)?.0)
}

/// Loads all tensors of a safetensors file, as [`load_safetensors`] does, and its metadata: a map from text to text. The metadata of
/// several files is that of all; the first file decides if they differ.
///
/// ```
/// use dispatch_files::{load_safetensors_with_metadata, save_safetensors_with_metadata};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// save_safetensors_with_metadata(&path, [("weight", &Tensor::from([0.5, 1.5]))], [("epoch", "3")])?;
/// let (tensors, metadata) = load_safetensors_with_metadata(&path)?;
/// assert_eq!((tensors["weight"].sizes(), metadata["epoch"].as_str()), (&[2][..], "3"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`load_safetensors`].
pub fn load_safetensors_with_metadata(
    path: impl AsRef<Path>,
) -> Result<(BTreeMap<String, Tensor>, SafetensorsMetadata), FileError> {
    let path = path.as_ref();
    if path.extension().is_some_and(|extension| extension == "json") { load_shards(path) } else { load_file(path) }
}

/// Reads the tensors and the metadata of a safetensors file from its bytes.
///
/// ```
/// let header = br#"{"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#;
/// let bytes = [&(header.len() as u64).to_le_bytes()[..], header, &[1, 2, 3]].concat();
/// let (tensors, metadata) = dispatch_files::read_safetensors(&bytes)?;
/// assert_eq!(tensors["x"].to_vec::<u8>()?, [1, 2, 3]);
/// assert!(metadata.is_empty());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`FileError`] with an empty path if the bytes are damaged or cut off, or have elements for which there is no dtype.
pub fn read_safetensors(bytes: &[u8]) -> Result<(BTreeMap<String, Tensor>, SafetensorsMetadata), FileError> {
    read_contents(Path::new(""), &mut { bytes }, bytes.len() as u64)
}

/// Saves tensors as a safetensors file. A file of this name is replaced.
///
/// Tensors that are tied, which means that they are the same elements in memory, are saved once, under the first of their names. The other
/// names are entries of the metadata, as `safetensors.torch.save_model` writes them. Tensors that share only a part of their memory, or
/// have other strides, are saved one by one.
///
/// ```
/// use dispatch_files::{load_safetensors, save_safetensors};
/// use dispatch_runtime::{Tensor, bf16};
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let (weight, bias) = (Tensor::from([[bf16::ONE; 3]; 2]), Tensor::from([0.5_f32, 1.5]));
/// save_safetensors(&path, [("embedding", &weight), ("bias", &bias), ("output", &weight)])?;
/// let tensors = load_safetensors(&path)?;
/// assert_eq!(tensors["bias"].sizes(), [2]);
/// assert!(tensors["output"].same(&tensors["embedding"]));
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
    save(path.as_ref(), tensors, BTreeMap::new())
}

/// Saves tensors as a safetensors file, as [`save_safetensors`] does, with metadata: a map from text to text.
///
/// ```
/// use dispatch_files::{load_safetensors_with_metadata, save_safetensors_with_metadata};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("model.safetensors");
/// let weight = Tensor::from([0.5, 1.5]);
/// save_safetensors_with_metadata(&path, [("weight", &weight)], [("format", "pt"), ("epoch", "3")])?;
/// assert_eq!(load_safetensors_with_metadata(&path)?.1["epoch"], "3");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`save_safetensors`]. Also returns [`FileError`] if readers would take an entry of the metadata for a tied tensor:
/// its value is the name of a tensor and its key is not, or its key is the name of a tied tensor.
pub fn save_safetensors_with_metadata<'a, N: AsRef<str>, K: Into<String>, V: Into<String>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
    metadata: impl IntoIterator<Item = (K, V)>,
) -> Result<(), FileError> {
    let metadata = metadata.into_iter().map(|(key, value)| (key.into(), value.into()));
    save(path.as_ref(), tensors, metadata.collect())
}

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

impl From<SafeTensorError> for FileProblem {
    #[cold]
    fn from(error: SafeTensorError) -> Self {
        match error {
            SafeTensorError::IoError(error) => Self::Io(error),
            other => Self::Damaged { format: "safetensors file", source: Box::new(other) },
        }
    }
}
