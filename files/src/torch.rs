//! PyTorch's `.pt` and `.pth` files: a zip archive with a pickle and the bytes of storages. They are read without Python, and no code of
//! theirs is run.

mod archive;
mod build;
mod global;
mod pickle;
mod value;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use dispatch_runtime::Tensor;

use crate::error::FileError;
use archive::PtArchive;
use build::build_value;
use pickle::read_pickle;
pub use value::PtValue;

/// Loads the tensors of a state dict that `torch.save` wrote. Dicts in the dict are joined with dots: `{"model": {"weight": x}}` becomes
/// `model.weight`.
///
/// Tensors that share memory in the file share it here, so tied weights stay tied, and strides are those of the file. All tensors are on the
/// CPU, and none requires a gradient. The format is that of PyTorch 1.6 and later.
///
/// ```no_run
/// let weights = dispatch_files::load_pt("model.pt")?;
/// for (name, tensor) in &weights {
///     println!("{name}: {:?}", tensor.sizes());
/// }
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`load_pt_value`], and [`FileError`] with the key of a value that is no tensor.
pub fn load_pt(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>, FileError> {
    let path = path.as_ref();
    load_pt_value(path)?.tensors_of(path)
}

/// Loads everything that `torch.save` wrote, if it is made of tensors and plain data: a checkpoint with the number of steps, for example.
///
/// ```no_run
/// use dispatch_files::{PtValue, load_pt_value};
///
/// let checkpoint = load_pt_value("checkpoint.pt")?;
/// if let Some(PtValue::Int(steps)) = checkpoint.get("steps") {
///     println!("after {steps} steps");
/// }
/// let weights = checkpoint.get("model").unwrap_or(&PtValue::None).to_tensors()?;
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if the file cannot be read, is damaged or cut off, or has elements for which there is no dtype. It names the
/// function or class if the file needs one that is not part of tensors and plain data, such as the class of a model: save its
/// `state_dict()` instead. Files from before PyTorch 1.6, and `TorchScript` programs, are errors that say how to save them again.
pub fn load_pt_value(path: impl AsRef<Path>) -> Result<PtValue, FileError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|error| FileError::new(path, error))?;
    read_archive(path, BufReader::new(file))
}

/// Reads the tensors of a state dict from the bytes of a file, as [`load_pt`] does.
///
/// ```
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torch/linear.pt"));
/// let weights = dispatch_files::read_pt(bytes)?;
/// assert_eq!(weights["weight"].sizes(), [3, 2]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`load_pt`], with an empty path.
pub fn read_pt(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, FileError> {
    read_pt_value(bytes)?.to_tensors()
}

/// Reads everything that `torch.save` wrote from the bytes of a file, as [`load_pt_value`] does.
///
/// ```
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torch/checkpoint.pt"));
/// let checkpoint = dispatch_files::read_pt_value(bytes)?;
/// assert!(matches!(checkpoint.get("epoch"), Some(dispatch_files::PtValue::Int(3))));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`load_pt_value`], with an empty path.
pub fn read_pt_value(bytes: &[u8]) -> Result<PtValue, FileError> {
    read_archive(Path::new(""), Cursor::new(bytes))
}

fn read_archive(path: &Path, reader: impl Read + Seek) -> Result<PtValue, FileError> {
    let mut archive = PtArchive::open(path, reader)?;
    let bytes = archive.pickle()?;
    let pickle = read_pickle(&bytes).map_err(|problem| archive.pickle_error(problem))?;
    build_value(&pickle, bytes.len(), &mut archive)
}
