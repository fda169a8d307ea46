//! The archive of `torch.save`: below a folder of any name, `data.pkl` is the pickle, and `data/0`, `data/1` and so on are its storages.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use dispatch_runtime::{DType, Tensor};

use crate::element_bytes::{ByteOrder, ElementLayout, ElementOrder, read_tensor, read_up_to};
use crate::error::{FileError, FileProblem};
use crate::zip_archive::Archive;

/// An archive of `torch.save`, with the storages that were read so far.
pub(super) struct PtArchive<'a, R> {
    path: &'a Path,
    zip: Archive<R>,
    /// The name of the folder in the archive, with a slash.
    folder: String,
    byte_order: ByteOrder,
    storages: HashMap<String, Tensor>,
}

impl<'a, R: Read + Seek> PtArchive<'a, R> {
    pub(super) fn open(path: &'a Path, mut reader: R) -> Result<Self, FileError> {
        let refuse = |problem: FileProblem| FileError::new(path, problem);
        check_format(&mut reader).map_err(refuse)?;
        let zip = Archive::open(reader).map_err(refuse)?;
        let folder = find_folder(&zip).map_err(refuse)?;
        let mut archive = Self { path, zip, folder, byte_order: ByteOrder::Little, storages: HashMap::new() };
        // PyTorch before 2.1 has no such entry.
        archive.byte_order = match archive.read_entry("byteorder")?.as_deref() {
            None | Some(b"little") => ByteOrder::Little,
            Some(b"big") => ByteOrder::Big,
            Some(_) => return Err(archive.entry_error("byteorder", damaged("it is neither `little` nor `big`"))),
        };
        Ok(archive)
    }

    /// Reads the pickle.
    pub(super) fn pickle(&mut self) -> Result<Vec<u8>, FileError> {
        self.read_entry(PICKLE)?.ok_or_else(|| self.pickle_error(damaged("the entry is missing")))
    }

    /// Reads a storage as a one-dimensional tensor. A storage is read once.
    pub(super) fn storage(&mut self, key: &str, dtype: DType, count: u64) -> Result<Tensor, FileError> {
        if let Some(tensor) = self.storages.get(key) {
            let is_same = tensor.dtype() == dtype && u64::try_from(tensor.geometry().count()) == Ok(count);
            let differs =
                || self.storage_error(key, damaged("two tensors differ in the dtype or size of this storage"));
            return is_same.then(|| tensor.clone()).ok_or_else(differs);
        }
        let tensor = self.read_storage(key, dtype, count).map_err(|problem| self.storage_error(key, problem))?;
        self.storages.insert(key.to_owned(), tensor.clone());
        Ok(tensor)
    }

    fn read_storage(&mut self, key: &str, dtype: DType, count: u64) -> Result<Tensor, FileProblem> {
        let entry = self.zip.entry(&format!("{}data/{key}", self.folder))?;
        let (mut reader, available) = entry.ok_or_else(|| damaged("the storage of a tensor is missing"))?;
        let (byte_order, element_order) = (self.byte_order, ElementOrder::RowMajor);
        let layout = ElementLayout { dtype, byte_order, element_order, sizes: vec![count] };
        let tensor = read_tensor(&mut reader, &layout, available)?;
        // The archive compares its checksum when the end is read.
        if read_up_to(&mut reader, &mut [0])? > 0 {
            return Err(damaged("the storage has more bytes than its elements"));
        }
        Ok(tensor)
    }

    fn read_entry(&mut self, name: &str) -> Result<Option<Vec<u8>>, FileError> {
        let read = |zip: &mut Archive<R>, folder: &str| {
            let Some((reader, available)) = zip.entry(&format!("{folder}{name}"))? else { return Ok(None) };
            let mut bytes = Vec::new();
            reader.take(available).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        read(&mut self.zip, &self.folder).map_err(|problem| self.entry_error(name, problem))
    }

    #[cold]
    fn entry_error(&self, name: &str, problem: FileProblem) -> FileError {
        FileError::in_entry(self.path, &format!("{}{name}", self.folder), problem)
    }

    #[cold]
    pub(super) fn pickle_error(&self, problem: FileProblem) -> FileError {
        self.entry_error(PICKLE, problem)
    }

    #[cold]
    pub(super) fn storage_error(&self, key: &str, problem: FileProblem) -> FileError {
        self.entry_error(&format!("data/{key}"), problem)
    }
}

const PICKLE: &str = "data.pkl";

/// The start of a file of PyTorch before version 1.6, after the protocol of its pickle: a number.
const LEGACY_MAGIC: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// Returns an error if the first bytes of a file are not those of a zip archive. Leaves the reader at the start.
fn check_format(reader: &mut (impl Read + Seek)) -> Result<(), FileProblem> {
    let mut start = [0; 512];
    let found = read_up_to(reader, &mut start)?;
    reader.seek(SeekFrom::Start(0))?;
    let start = start.get(..found).unwrap_or_default();
    if start.starts_with(b"PK") {
        return Ok(());
    }
    let is_legacy_pickle = start.get(2..).is_some_and(|start| start.starts_with(LEGACY_MAGIC));
    let is_tar = start.get(257..).is_some_and(|start| start.starts_with(b"ustar"));
    Err(if is_legacy_pickle || is_tar { FileProblem::LegacyPt } else { FileProblem::NotPt })
}

/// Returns the folder of the archive that has the pickle.
fn find_folder(zip: &Archive<impl Read + Seek>) -> Result<String, FileProblem> {
    let names = zip.names()?;
    let is_script = |name: &String| {
        name.split_once('/').is_some_and(|(_, rest)| rest == "constants.pkl" || rest.starts_with("code/"))
    };
    if names.iter().any(is_script) {
        return Err(FileProblem::TorchScript);
    }
    let folder = names.iter().find_map(|name| {
        let folder = name.strip_suffix(PICKLE)?;
        (folder.find('/')? + 1 == folder.len()).then(|| folder.to_owned())
    });
    folder.ok_or_else(|| damaged("the archive has no entry `data.pkl` in a folder"))
}

#[cold]
fn damaged(problem: &'static str) -> FileProblem {
    FileProblem::Damaged { format: "file of `torch.save`", source: problem.into() }
}
