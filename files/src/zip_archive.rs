//! Zip archives of arrays, read without trust in the sizes that they promise.

use std::io::{Read, Seek, SeekFrom};

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::error::FileProblem;

/// The most bytes that a byte of compressed data can become. It is a property of the format.
const MAX_COMPRESSION_RATIO: u64 = 1032;

/// An archive whose entries can be read once.
pub(crate) struct Archive<R> {
    zip: ZipArchive<R>,
    /// The number of bytes of the file that no entry has been charged for. Entries that share bytes would be a way to make a small file
    /// fill the memory.
    left: u64,
}

impl<R: Read + Seek> Archive<R> {
    pub(crate) fn open(mut reader: R) -> Result<Self, FileProblem> {
        let left = reader.seek(SeekFrom::End(0))?;
        let zip = ZipArchive::new(reader)?;
        if zip.has_duplicate_names() {
            return Err(damaged("two entries have the same name"));
        }
        Ok(Self { zip, left })
    }

    /// Returns the names of all entries.
    pub(crate) fn names(&self) -> Result<Vec<String>, FileProblem> {
        self.zip.file_names().map(|name| Ok(name?.into_owned())).collect()
    }

    /// Returns a reader of an entry, and the largest number of bytes that it can have. Returns `None` if there is no such entry.
    pub(crate) fn entry(&mut self, name: &str) -> Result<Option<(ZipFile<'_, R>, u64)>, FileProblem> {
        let Some(index) = self.zip.index_for_name(name) else { return Ok(None) };
        let data = self.zip.by_index_data(index)?;
        let compressed = data.compressed_size();
        self.left = self.left.checked_sub(compressed).ok_or_else(|| {
            damaged("its entries have more bytes than the file, because they overlap or their sizes are wrong")
        })?;
        let is_stored = data.compression() == CompressionMethod::Stored && !data.encrypted();
        let available =
            if is_stored { compressed } else { compressed.saturating_mul(MAX_COMPRESSION_RATIO).min(data.size()) };
        // PyTorch can leave the checksums out. Then they are zero.
        let has_no_checksum = is_stored && data.crc32() == 0;
        let file = if has_no_checksum { self.zip.by_index_raw(index) } else { self.zip.by_index(index) };
        Ok(Some((file?, available)))
    }
}

#[cold]
fn damaged(problem: &'static str) -> FileProblem {
    FileProblem::Damaged { format: "zip archive", source: problem.into() }
}

impl From<ZipError> for FileProblem {
    #[cold]
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => Self::Io(error),
            other => Self::Damaged { format: "zip archive", source: other.into() },
        }
    }
}
