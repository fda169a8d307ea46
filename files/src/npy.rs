//! NumPy's `.npy` files: one array each.

pub(crate) mod header;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use dispatch_runtime::Tensor;

use crate::element_bytes::{read_tensor, read_up_to, write_tensor};
use crate::error::{FileError, FileProblem};
use crate::replace_file::replace_file;
use header::{read_header, write_header};

/// Loads the array of an `.npy` file. An array in Fortran's order becomes a tensor with such strides.
///
/// ```no_run
/// let images = dispatch_files::load_npy("images.npy")?;
/// println!("{:?} {}", images.sizes(), images.dtype());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if the file cannot be read, is damaged or cut off, or has elements for which there is no dtype, such as objects,
/// text or unsigned integers of more than a byte.
pub fn load_npy(path: impl AsRef<Path>) -> Result<Tensor, FileError> {
    let path = path.as_ref();
    let load = || {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        read_array(&mut BufReader::new(file), length)
    };
    load().map_err(|problem: FileProblem| FileError::new(path, problem))
}

/// Reads the array of an `.npy` file from its bytes.
///
/// ```
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights.npy");
/// # dispatch_files::save_npy(&path, &dispatch_runtime::Tensor::from([0.5_f32, 1.5]))?;
/// let bytes = std::fs::read(&path).unwrap();
/// assert_eq!(dispatch_files::read_npy(&bytes)?.to_vec::<f32>()?, [0.5, 1.5]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`load_npy`], with an empty path.
pub fn read_npy(bytes: &[u8]) -> Result<Tensor, FileError> {
    read_array(&mut { bytes }, bytes.len() as u64).map_err(|problem| FileError::new(Path::new(""), problem))
}

/// Saves a tensor as an `.npy` file, as `numpy.save` does. A file of this name is replaced.
///
/// ```
/// use dispatch_files::{load_npy, save_npy};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("weights.npy");
/// save_npy(&path, &Tensor::from([0.5_f32, 1.5]))?;
/// assert_eq!(load_npy(&path)?.to_vec::<f32>()?, [0.5, 1.5]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if NumPy has no such dtype, if the elements are not in memory of the CPU, or if the file cannot be written.
pub fn save_npy(path: impl AsRef<Path>, tensor: &Tensor) -> Result<(), FileError> {
    let path = path.as_ref();
    replace_file(path, |new| {
        let save = || {
            let mut file = BufWriter::new(File::create(new)?);
            write_array(tensor, &mut file)?;
            file.flush()?;
            Ok(())
        };
        save().map_err(|problem: FileProblem| FileError::new(path, problem))
    })
}

/// Reads an array up to the end of the reader, which has at most `available` bytes.
pub(crate) fn read_array(reader: &mut impl Read, available: u64) -> Result<Tensor, FileProblem> {
    let (layout, header_length) = read_header(reader)?;
    let tensor = read_tensor(reader, &layout, available.saturating_sub(header_length))?;
    // An archive compares its checksum when the end is read.
    if read_up_to(reader, &mut [0])? > 0 { Err(FileProblem::TrailingBytes) } else { Ok(tensor) }
}

pub(crate) fn write_array(tensor: &Tensor, writer: &mut impl Write) -> Result<(), FileProblem> {
    write_header(tensor, writer)?;
    write_tensor(tensor, writer)
}
