//! Safetensors files: named tensors with a header in JSON.

mod index;
mod ties;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use dispatch_runtime::{DType, Tensor};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, Metadata, TensorInfo, View};

use crate::element_bytes::{ByteOrder, ElementLayout, ElementOrder, byte_count, read_tensor, read_up_to, write_tensor};
use crate::error::{FileError, FileProblem};
use crate::replace_file::replace_file;
use index::load_shards;
use ties::{add_ties, are_tied, restore_ties};

/// The entry of the header that is no tensor.
const METADATA_NAME: &str = "__metadata__";

/// The longest header that is read, as in other readers of the format.
const MAX_HEADER_LENGTH: usize = 100_000_000;

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
/// Tied tensors, which [`save_safetensors`] saves once, get all their names back. They are handles of the same tensor.
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

fn load_file(path: &Path) -> Result<Contents, FileError> {
    let refuse = |error| FileError::new(path, FileProblem::Io(error));
    let file = File::open(path).map_err(refuse)?;
    let length = file.metadata().map_err(refuse)?.len();
    read_contents(path, &mut BufReader::new(file), length)
}

fn read_contents(path: &Path, reader: &mut impl Read, length: u64) -> Result<Contents, FileError> {
    let header = read_header(reader, length).map_err(|problem| FileError::new(path, problem))?;
    let mut tensors = BTreeMap::new();
    // The elements follow each other in this order, without gaps.
    for name in header.offset_keys() {
        let Some(info) = header.info(&name) else { continue };
        let tensor = read_elements(reader, info).map_err(|problem| FileError::in_entry(path, &name, problem))?;
        tensors.insert(name, tensor);
    }
    let mut metadata = header.metadata().iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    restore_ties(&mut tensors, &mut metadata);
    Ok((tensors, metadata))
}

/// Reads the header of a file of this length. Returns an error if the file has more or fewer bytes than its tensors.
fn read_header(reader: &mut impl Read, length: u64) -> Result<Metadata, FileProblem> {
    let mut header_length = [0; 8];
    if read_up_to(reader, &mut header_length)? < header_length.len() {
        return Err(SafeTensorError::HeaderTooSmall.into());
    }
    let header_length = u64::from_le_bytes(header_length);
    let data_length =
        length.saturating_sub(8).checked_sub(header_length).ok_or(SafeTensorError::InvalidHeaderLength)?;
    let header_length = usize::try_from(header_length).ok().filter(|length| *length <= MAX_HEADER_LENGTH);
    let mut text = vec![0; header_length.ok_or(SafeTensorError::HeaderTooLarge)?];
    if read_up_to(reader, &mut text)? < text.len() {
        return Err(SafeTensorError::InvalidHeaderLength.into());
    }
    let header: Metadata = serde_json::from_slice(&text).map_err(SafeTensorError::InvalidHeaderDeserialization)?;
    if header.data_len() as u64 != data_length {
        return Err(SafeTensorError::MetadataIncompleteBuffer.into());
    }
    Ok(header)
}

fn read_elements(reader: &mut impl Read, info: &TensorInfo) -> Result<Tensor, FileProblem> {
    let Some((_, dtype)) = DTYPES.into_iter().find(|(known, _)| *known == info.dtype) else {
        return Err(FileProblem::UnsupportedElements { found: info.dtype.to_string() });
    };
    let layout = ElementLayout {
        dtype,
        byte_order: ByteOrder::Little,
        element_order: ElementOrder::RowMajor,
        sizes: info.shape.iter().map(|&size| size as u64).collect(),
    };
    let (start, end) = info.data_offsets;
    read_tensor(reader, &layout, end.saturating_sub(start) as u64)
}

fn save<'a, N: AsRef<str>>(
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

impl From<SafeTensorError> for FileProblem {
    #[cold]
    fn from(error: SafeTensorError) -> Self {
        match error {
            SafeTensorError::IoError(error) => Self::Io(error),
            other => Self::Damaged { format: "safetensors file", source: Box::new(other) },
        }
    }
}
