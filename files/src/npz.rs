//! NumPy's `.npz` files: zip archives of arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, BufWriter, Cursor, Read, Seek, Write};
use std::path::Path;

use dispatch_runtime::Tensor;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::element_bytes::byte_count;
use crate::error::{FileError, FileProblem};
use crate::npy::{read_array, write_array};
use crate::replace_file::replace_file;
use crate::zip_archive::Archive;

/// The ending of an array's name in an archive.
const ARRAY_SUFFIX: &str = ".npy";

/// Loads all arrays of an `.npz` file, compressed or not, by their names.
///
/// ```no_run
/// let tensors = dispatch_files::load_npz("mnist.npz")?;
/// let images = &tensors["x_train"];
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if the archive cannot be read or is damaged, and the errors of [`load_npy`](crate::load_npy) for each array.
pub fn load_npz(path: impl AsRef<Path>) -> Result<BTreeMap<String, Tensor>, FileError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|error| FileError::new(path, error))?;
    read_arrays(path, BufReader::new(file))
}

/// Reads all arrays of an `.npz` file from its bytes.
///
/// ```
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("pair.npz");
/// # dispatch_files::save_npz(&path, [("first", &dispatch_runtime::Tensor::from([1, 2]))])?;
/// let bytes = std::fs::read(&path).unwrap();
/// assert_eq!(dispatch_files::read_npz(&bytes)?["first"].to_vec::<i32>()?, [1, 2]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`load_npz`], with an empty path.
pub fn read_npz(bytes: &[u8]) -> Result<BTreeMap<String, Tensor>, FileError> {
    read_arrays(Path::new(""), Cursor::new(bytes))
}

fn read_arrays(path: &Path, reader: impl Read + Seek) -> Result<BTreeMap<String, Tensor>, FileError> {
    let mut archive = Archive::open(reader).map_err(|problem| FileError::new(path, problem))?;
    let mut tensors = BTreeMap::new();
    for entry in archive.names().map_err(|problem| FileError::new(path, problem))? {
        let Some(name) = entry.strip_suffix(ARRAY_SUFFIX) else {
            return Err(FileError::in_entry(path, &entry, FileProblem::NotAnArray));
        };
        let tensor = read_entry(&mut archive, &entry).map_err(|problem| FileError::in_entry(path, name, problem))?;
        if tensors.insert(name.to_owned(), tensor).is_some() {
            return Err(FileError::in_entry(path, name, FileProblem::DuplicateName));
        }
    }
    Ok(tensors)
}

fn read_entry(archive: &mut Archive<impl Read + Seek>, entry: &str) -> Result<Tensor, FileProblem> {
    let (mut reader, available) = archive.entry(entry)?.ok_or(ZipError::FileNotFound)?;
    read_array(&mut reader, available)
}

/// Saves tensors as an `.npz` file without compression, as `numpy.savez` does. A file of this name is replaced.
///
/// ```
/// use dispatch_files::{load_npz, save_npz};
/// use dispatch_runtime::Tensor;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("pair.npz");
/// save_npz(&path, [("first", &Tensor::from([1, 2])), ("second", &Tensor::from(0.5))])?;
/// let tensors = load_npz(&path)?;
/// save_npz(&path, &tensors)?;
/// assert_eq!(load_npz(&path)?["second"].to_vec::<f64>()?, [0.5]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`FileError`] if two tensors have the same name, and the errors of [`save_npy`](crate::save_npy).
pub fn save_npz<'a, N: AsRef<str>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (N, &'a Tensor)>,
) -> Result<(), FileError> {
    let path = path.as_ref();
    replace_file(path, |new| {
        let file = File::create(new).map_err(|error| FileError::new(path, error))?;
        let mut archive = ZipWriter::new(BufWriter::new(file));
        let mut names = BTreeSet::new();
        for (name, tensor) in tensors {
            let name = name.as_ref();
            if !names.insert(name.to_owned()) {
                return Err(FileError::in_entry(path, name, FileProblem::DuplicateName));
            }
            write_entry(&mut archive, name, tensor).map_err(|problem| FileError::in_entry(path, name, problem))?;
        }
        let mut file = archive.finish().map_err(|error| FileError::new(path, error))?;
        file.flush().map_err(|error| FileError::new(path, error))
    })
}

fn write_entry(archive: &mut ZipWriter<BufWriter<File>>, name: &str, tensor: &Tensor) -> Result<(), FileProblem> {
    // Entries of four gigabytes and more need larger fields, and so may an entry whose header makes it longer than that.
    let is_large = byte_count(tensor) > 4_000_000_000;
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(is_large);
    archive.start_file(format!("{name}{ARRAY_SUFFIX}"), options)?;
    write_array(tensor, archive)
}
