//! The `.pt2` archive: a zip file of stored entries below one folder.

mod container;
mod map;
mod memory;
mod sample_inputs;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str;

use dispatch_runtime::Storage;

use crate::error::{Pt2Error, Pt2Problem};
use memory::{Entries, FileMemory};

/// An archive of programs, as `torch.export.save` and `torch.export.pt2_archive` write it.
///
/// ```
/// use dispatch_pt2::Archive;
///
/// let archive = Archive::open("tests/programs/two_programs.pt2")?;
/// assert_eq!(archive.program_names().collect::<Vec<_>>(), ["double", "plain"]);
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    entries: Entries,
}

impl Archive {
    /// Reads an archive from a file. The memory that the file is read into is also that of the programs' tensors.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or is no archive of programs of a known version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Pt2Error> {
        let path = path.as_ref();
        let refuse = |problem: Pt2Problem| Pt2Error::new(path, problem);
        let file = File::open(path).map_err(|error| refuse(error.into()))?;
        let size = file.metadata().map_err(|error| refuse(error.into()))?.len();
        let memory = FileMemory::read(file, Some(size)).map_err(refuse)?;
        Self::from_memory(path, memory)
    }

    /// Reads an archive from a reader.
    ///
    /// ```
    /// use dispatch_pt2::Archive;
    /// # use std::fs::File;
    ///
    /// let archive = Archive::read(File::open("tests/programs/mlp.pt2").unwrap())?;
    /// assert_eq!(archive.program_names().count(), 1);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn read(reader: impl Read) -> Result<Self, Pt2Error> {
        let memory = FileMemory::read(reader, None).map_err(|problem| Pt2Error::new("", problem))?;
        Self::from_memory(Path::new(""), memory)
    }

    /// Takes an archive from the bytes of a file. A vector is not copied.
    ///
    /// ```
    /// use dispatch_pt2::Archive;
    ///
    /// let archive = Archive::from_bytes(include_bytes!("../../tests/programs/mlp.pt2"))?;
    /// assert_eq!(archive.program_names().count(), 1);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open).
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, Pt2Error> {
        Self::from_memory(Path::new(""), FileMemory::from_bytes(bytes.into()))
    }

    fn from_memory(path: &Path, memory: FileMemory) -> Result<Self, Pt2Error> {
        let entries = container::find_entries(memory.bytes()).and_then(|ranges| memory.divide(ranges));
        let entries = entries.map_err(|problem| Pt2Error::new(path, problem))?;
        let archive = Self { path: path.to_owned(), entries };
        archive
            .check_version()
            .and_then(|()| archive.check_sample_inputs())
            .map_err(|problem| archive.error(problem))?;
        Ok(archive)
    }

    /// Returns an error if sample inputs, which are archives of their own, have entries outside of their bytes.
    fn check_sample_inputs(&self) -> Result<(), Pt2Problem> {
        for name in self.entry_names().filter(|name| name.starts_with("data/sample_inputs/")) {
            if self.entry(name).is_some_and(|bytes| bytes.starts_with(b"PK") && container::find_entries(bytes).is_err())
            {
                let reason = "is an archive whose entries are not all in it; the file is damaged";
                return Err(Pt2Problem::Entry { entry: name.to_owned(), reason });
            }
        }
        Ok(())
    }

    fn check_version(&self) -> Result<(), Pt2Problem> {
        let text = |name: &str| self.entry(name).and_then(|bytes| str::from_utf8(bytes).ok()).map(str::trim);
        if text("archive_format") != Some("pt2") {
            let reason = "its entry `archive_format` is missing, or does not say `pt2`; save the program with `torch.export.save`";
            return Err(Pt2Problem::Container(reason.to_owned()));
        }
        if text("byteorder").is_some_and(|order| order != "little") {
            let reason = "does not say `little`, and only little-endian data are read";
            return Err(Pt2Problem::Entry { entry: "byteorder".to_owned(), reason });
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
    ///
    /// ```
    /// use dispatch_pt2::Archive;
    ///
    /// let archive = Archive::open("tests/programs/extra_entries.pt2")?;
    /// let texts: Vec<_> = archive.extra_texts().collect();
    /// assert_eq!(texts, [("labels/names.json", r#"["cat", "dog"]"#), ("notes.txt", "trained for 3 epochs")]);
    /// # Ok::<(), dispatch_pt2::Pt2Error>(())
    /// ```
    pub fn extra_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = |name| Some((str::strip_prefix(name, "extra/")?, str::from_utf8(self.entry(name)?).ok()?));
        self.entry_names().filter_map(text)
    }

    pub(crate) fn entry_names(&self) -> impl Iterator<Item = &str> {
        self.entries.names()
    }

    /// Returns the bytes of an entry that is no tensor's data.
    pub(crate) fn entry(&self, name: &str) -> Option<&[u8]> {
        self.entries.bytes(name)
    }

    /// Returns the size of a tensor's data.
    pub(crate) fn data_size(&self, name: &str) -> Option<usize> {
        self.entries.data_size(name)
    }

    /// Returns a tensor's data as a storage. All programs of the archive share it.
    pub(crate) fn storage(&self, name: &str) -> Result<Option<Storage>, Pt2Problem> {
        self.entries.storage(name)
    }

    pub(crate) fn error(&self, problem: impl Into<Pt2Problem>) -> Pt2Error {
        Pt2Error::new(&*self.path, problem)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
