//! The memory of a file, divided into its entries. The data of a tensor become a storage without a copy.
//!
//! An entry is either lent as bytes, or becomes one storage, which can be written; its name decides which. Entries share no bytes. So
//! nothing that is written is ever lent.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io, slice};

use dispatch_runtime::{HostBuffer, Storage};
use memmap2::{MmapMut, MmapOptions};

use crate::error::Pt2Problem;

/// The alignment of new memory: that of a cache line. PyTorch aligns the data of tensors in the same way within the file.
const NEW_ALIGNMENT: usize = 64;

/// The alignment that a storage needs in place: the size of the largest element.
const STORAGE_ALIGNMENT: usize = 16;

/// The memory of a whole file, before it is divided.
pub(super) struct FileMemory(Block);

/// The entries of an archive by name, and the storages that were made of them.
pub(super) struct Entries {
    block: Arc<Block>,
    ranges: BTreeMap<String, Range<usize>>,
    storages: Mutex<BTreeMap<String, Storage>>,
}

impl FileMemory {
    /// Reads all bytes. `expected` is their number, if it is known.
    pub(super) fn read(mut reader: impl Read, expected: Option<u64>) -> Result<Self, Pt2Problem> {
        let (mut bytes, padding) = new_aligned(expected.unwrap_or(0))?;
        reader.read_to_end(&mut bytes)?;
        Ok(Self(Block::new(bytes, padding)))
    }

    /// Takes the bytes of a file.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Block::new(bytes, 0))
    }

    /// Maps a file into memory. Writes stay in this memory, and never reach the file.
    ///
    /// # Safety
    ///
    /// No process changes or shortens the file while the memory is in use.
    pub(super) unsafe fn map(file: &File) -> Result<Self, Pt2Problem> {
        // An empty file cannot be mapped.
        if file.metadata()?.len() == 0 {
            return Ok(Self::from_bytes(Vec::new()));
        }
        // SAFETY: the caller keeps the file unchanged.
        let mut map = unsafe { MmapOptions::new().map_copy(file) }?;
        let (start, size) = (NonNull::from(&mut *map).cast(), map.len());
        Ok(Self(Block { start, size, _owner: Owner::Map(map) }))
    }

    /// Returns all bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: no storage exists before the memory is divided.
        unsafe { self.0.bytes(0..self.0.size) }
    }

    /// Divides the memory into entries.
    ///
    /// Returns an error if two entries share bytes, or if one is not inside the file.
    pub(super) fn divide(self, ranges: BTreeMap<String, Range<usize>>) -> Result<Entries, Pt2Problem> {
        let refuse = |entry: &str, reason| Pt2Problem::Entry { entry: entry.to_owned(), reason };
        let mut sorted: Vec<_> = ranges.iter().map(|(name, range)| (range.start, range.end, name)).collect();
        sorted.sort_unstable();
        let mut used = 0;
        for (start, end, name) in sorted {
            if start > end || end > self.0.size {
                return Err(refuse(name, "reaches beyond the end of the file"));
            }
            // An empty entry shares no bytes, wherever it is.
            if start < end {
                if start < used {
                    return Err(refuse(name, "shares bytes with another entry"));
                }
                used = end;
            }
        }
        Ok(Entries { block: Arc::new(self.0), ranges, storages: Mutex::default() })
    }
}

impl Entries {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.ranges.keys().map(String::as_str)
    }

    /// Returns the bytes of an entry that is no tensor's data.
    pub(super) fn bytes(&self, name: &str) -> Option<&[u8]> {
        let range = self.ranges.get(name).filter(|_| !is_tensor_data(name))?;
        // SAFETY: `divide` has checked the range. No storage has a byte of it, because storages are made of the data of tensors only, and
        // entries share no bytes.
        Some(unsafe { self.block.bytes(range.clone()) })
    }

    /// Returns the size of a tensor's data.
    pub(super) fn data_size(&self, name: &str) -> Option<usize> {
        Some(self.ranges.get(name).filter(|_| is_tensor_data(name))?.len())
    }

    /// Returns a tensor's data as a storage. It is always the same one. The data are used in place if they are aligned, and copied otherwise.
    pub(super) fn storage(&self, name: &str) -> Result<Option<Storage>, Pt2Problem> {
        let Some(range) = self.ranges.get(name).filter(|_| is_tensor_data(name)) else { return Ok(None) };
        let mut storages = self.storages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = storages.get(name) {
            return Ok(Some(storage.clone()));
        }
        let in_place = Part { block: self.block.clone(), range: range.clone() };
        let part = if in_place.start().addr().get().is_multiple_of(STORAGE_ALIGNMENT) {
            in_place
        } else {
            // SAFETY: `divide` has checked the range, and no storage has been made of this entry.
            Part::copy_of(unsafe { self.block.bytes(range.clone()) })?
        };
        let storage = Storage::from_host_buffer(part);
        storages.insert(name.to_owned(), storage.clone());
        Ok(Some(storage))
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.ranges.iter().map(|(name, range)| (name, range.len()))).finish()
    }
}

/// Whether an entry has the elements of a tensor.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the format has names of one case")]
fn is_tensor_data(name: &str) -> bool {
    let file = name.strip_prefix("data/weights/").or_else(|| name.strip_prefix("data/constants/"));
    file.is_some_and(|file| !file.ends_with(".json"))
}

/// Memory of a fixed address.
struct Block {
    start: NonNull<u8>,
    size: usize,
    _owner: Owner,
}

/// The owner of a block's memory, which is only dropped.
#[expect(dead_code, reason = "the memory is reached through the start of the block")]
enum Owner {
    Bytes(Vec<u8>),
    Map(MmapMut),
}

// SAFETY: the block owns its memory, and both kinds of owner can be dropped on any thread.
unsafe impl Send for Block {}
// SAFETY: bytes that `Block::bytes` lends are not written, and other bytes are reached through one storage, which locks them.
unsafe impl Sync for Block {}

impl Block {
    /// Takes the bytes from `padding` on.
    fn new(mut bytes: Vec<u8>, padding: usize) -> Self {
        let rest = bytes.get_mut(padding..).unwrap_or_default();
        let (start, size) = (NonNull::from(&mut *rest).cast(), rest.len());
        Self { start, size, _owner: Owner::Bytes(bytes) }
    }

    /// Returns the bytes of a range.
    ///
    /// # Safety
    ///
    /// The range is inside the block, and no storage that exists has a byte of it, or gets one while the bytes are lent.
    unsafe fn bytes(&self, range: Range<usize>) -> &[u8] {
        // SAFETY: the range is inside the block, and nothing writes it.
        unsafe { slice::from_raw_parts(self.start.add(range.start).as_ptr(), range.len()) }
    }
}

/// The part of a block that belongs to one storage.
struct Part {
    block: Arc<Block>,
    range: Range<usize>,
}

impl Part {
    fn copy_of(bytes: &[u8]) -> Result<Self, Pt2Problem> {
        let (mut copy, padding) = new_aligned(bytes.len() as u64)?;
        // There is room for all of them, so they begin at the alignment.
        copy.extend_from_slice(bytes);
        Ok(Self { block: Arc::new(Block::new(copy, padding)), range: 0..bytes.len() })
    }
}

// SAFETY: the range is inside the block, which lives as long as this part, and its memory is initialised. `Entries` makes one storage of an
// entry, aligned for every element, and lends its bytes to nothing else.
unsafe impl HostBuffer for Part {
    fn start(&self) -> NonNull<u8> {
        // SAFETY: the range is inside the block.
        unsafe { self.block.start.add(self.range.start) }
    }

    fn size(&self) -> usize {
        self.range.len()
    }
}

/// Returns a vector with room for `size` bytes behind its padding, and the size of the padding. The bytes behind it are aligned until the
/// vector grows beyond that room.
fn new_aligned(size: u64) -> Result<(Vec<u8>, usize), Pt2Problem> {
    let no_memory = || Pt2Problem::Io(io::Error::from(ErrorKind::OutOfMemory));
    let mut bytes: Vec<u8> = Vec::new();
    let room = usize::try_from(size).ok().and_then(|size| size.checked_add(NEW_ALIGNMENT)).ok_or_else(no_memory)?;
    bytes.try_reserve_exact(room).map_err(|_| no_memory())?;
    let padding = bytes.as_ptr().addr().wrapping_neg() % NEW_ALIGNMENT;
    bytes.resize(padding, 0);
    Ok((bytes, padding))
}
