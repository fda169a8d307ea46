//! The `.pt2` archive: a zip file of stored entries below one folder.

mod container;
mod memory;

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str;
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::Storage;

use crate::error::{Pt2Error, Pt2Problem};
use memory::FileMemory;

/// An archive of programs, as `torch.export.save` and `torch.export.pt2_archive` write it.
///
/// ```
/// use dispatch_pt2::Archive;
///
/// let archive = Archive::open("tests/programs/mlp.pt2")?;
/// assert_eq!(archive.program_names().collect::<Vec<_>>(), ["model"]);
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    memory: FileMemory,
    /// The entries below the archive's folder, as ranges of the memory.
    entries: BTreeMap<String, Range<usize>>,
    /// The storages of the tensors' data that were used so far. An entry becomes one storage, which all programs share.
    storages: Mutex<BTreeMap<String, Storage>>,
}

impl Archive {
    /// Reads an archive from a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or is no archive of programs of a known version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Pt2Error> {
        let path = path.as_ref();
        let refuse = |problem: Pt2Problem| Pt2Error::new(path, problem);
        let file = std::fs::File::open(path).map_err(|error| refuse(error.into()))?;
        let size = file.metadata().map_err(|error| refuse(error.into()))?.len();
        let memory = FileMemory::read(file, Some(size)).map_err(refuse)?;
        Self::from_memory(path, memory)
    }

    /// Reads an archive from a reader.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn read(reader: impl Read) -> Result<Self, Pt2Error> {
        let memory = FileMemory::read(reader, None).map_err(|problem| Pt2Error::new("", problem))?;
        Self::from_memory(Path::new(""), memory)
    }

    fn from_memory(path: &Path, memory: FileMemory) -> Result<Self, Pt2Error> {
        let entries =
            container::find_entries(memory.bytes(0..memory.size())).map_err(|problem| Pt2Error::new(path, problem))?;
        let archive = Self { path: path.to_owned(), memory, entries, storages: Mutex::default() };
        archive.check_version().map_err(|problem| archive.error(problem))?;
        Ok(archive)
    }

    fn check_version(&self) -> Result<(), Pt2Problem> {
        let text = |name: &str| self.entry(name).and_then(|bytes| str::from_utf8(bytes).ok()).map(str::trim);
        if self.entry("serialized_exported_program.json").is_some() {
            return Err(Pt2Problem::ArchiveVersion { found: "of PyTorch before 2.8".to_owned() });
        }
        if text("archive_format") != Some("pt2") {
            return Err(Pt2Problem::Container("its entry `archive_format` does not say `pt2`".to_owned()));
        }
        if text("byteorder").is_some_and(|order| order != "little") {
            return Err(Pt2Problem::Entry {
                entry: "byteorder".to_owned(),
                reason: "does not say `little`: only little-endian data are read",
            });
        }
        match text("archive_version") {
            Some("0") => Ok(()),
            found => Err(Pt2Problem::ArchiveVersion { found: found.unwrap_or("(none)").to_owned() }),
        }
    }

    /// Returns the names of the programs.
    pub fn program_names(&self) -> impl Iterator<Item = &str> {
        self.entry_names().filter_map(|name| name.strip_prefix("models/")?.strip_suffix(".json"))
    }

    /// Returns the texts below `extra/`, by name.
    pub fn extra_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entry_names()
            .filter_map(|name| Some((name.strip_prefix("extra/")?, str::from_utf8(self.entry(name)?).ok()?)))
    }

    pub(crate) fn entry_names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the bytes of an entry that is no tensor's data.
    pub(crate) fn entry(&self, name: &str) -> Option<&[u8]> {
        // Storages of tensors may write their entries, so those are never lent.
        if is_payload(name) {
            return None;
        }
        Some(self.memory.bytes(self.entries.get(name)?.clone()))
    }

    /// Returns the size of the data of a tensor.
    pub(crate) fn payload_size(&self, name: &str) -> Option<usize> {
        Some(self.entries.get(name).filter(|_| is_payload(name))?.len())
    }

    /// Returns the data of a tensor as a storage. It is in the memory of the archive if the alignment allows, and otherwise a copy.
    pub(crate) fn payload(&self, name: &str, alignment: usize) -> Result<Option<Storage>, Pt2Problem> {
        let Some(range) = self.entries.get(name).filter(|_| is_payload(name)) else { return Ok(None) };
        let mut storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = storages.get(name) {
            return Ok(Some(storage.clone()));
        }
        let storage = self.memory.storage(range.clone(), alignment)?;
        storages.insert(name.to_owned(), storage.clone());
        Ok(Some(storage))
    }

    pub(crate) fn error(&self, problem: impl Into<Pt2Problem>) -> Pt2Error {
        Pt2Error::new(&*self.path, problem)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether an entry has the elements of a tensor.
fn is_payload(name: &str) -> bool {
    let file = name.strip_prefix("data/weights/").or_else(|| name.strip_prefix("data/constants/"));
    file.is_some_and(|file| !file.ends_with(".json"))
}
