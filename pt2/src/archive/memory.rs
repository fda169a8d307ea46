//! The memory of a file, whose parts become storages of tensors without a copy.

#![allow(unsafe_code)]

use std::fmt;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use dispatch_runtime::{HostBuffer, Storage};

use crate::error::Pt2Problem;

/// The unit of the memory, which gives it the alignment of a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// The memory of a whole file. Parts of it can be storages, which write it.
#[derive(Clone)]
pub(super) struct FileMemory(Arc<Block>);

struct Block {
    start: NonNull<u8>,
    size: usize,
    lines: ManuallyDrop<Vec<Line>>,
}

// SAFETY: the block owns its memory. Its parts are read through `FileMemory::bytes` and written through storages, and `Archive` uses each
// part in one of these ways only.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: called once, when no part of the block is in use.
        unsafe { ManuallyDrop::drop(&mut self.lines) };
    }
}

impl FileMemory {
    /// Reads all bytes. `expected` is their number, if it is known.
    pub(super) fn read(mut reader: impl Read, expected: Option<u64>) -> Result<Self, Pt2Problem> {
        let mut bytes = Vec::new();
        if let Some(expected) = expected.and_then(|expected| usize::try_from(expected).ok()) {
            bytes.try_reserve_exact(expected).map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        }
        reader.read_to_end(&mut bytes)?;
        let mut lines = vec![Line([0; 64]); bytes.len().div_ceil(64)];
        let start = NonNull::new(lines.as_mut_ptr().cast::<u8>()).unwrap_or(NonNull::dangling());
        // SAFETY: the lines have at least as many bytes, and are a new allocation.
        unsafe { start.copy_from_nonoverlapping(NonNull::from(&*bytes).cast(), bytes.len()) };
        Ok(Self(Arc::new(Block { start, size: bytes.len(), lines: ManuallyDrop::new(lines) })))
    }

    pub(super) fn size(&self) -> usize {
        self.0.size
    }

    /// Returns the bytes of a part.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.0.size, "a range of the memory");
        // SAFETY: the range is in the block, as was just checked. No storage writes it, because `Archive` lends only parts that never
        // become storages.
        unsafe { slice::from_raw_parts(self.0.start.add(range.start).as_ptr(), range.len()) }
    }

    /// Makes a storage of a part, in place if its alignment allows.
    pub(super) fn storage(&self, range: Range<usize>, alignment: usize) -> Result<Storage, Pt2Problem> {
        let bytes = self.bytes(range.clone());
        if bytes.as_ptr().addr().is_multiple_of(alignment) {
            return Ok(Storage::from_host_buffer(Part { memory: self.clone(), range }));
        }
        let mut lines = Self::read(bytes, Some(bytes.len() as u64))?;
        let range = 0..lines.size();
        lines = Self(lines.0);
        Ok(Storage::from_host_buffer(Part { memory: lines, range }))
    }
}

impl fmt::Debug for FileMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileMemory({} bytes)", self.size())
    }
}

/// A part of the memory that belongs to one storage.
struct Part {
    memory: FileMemory,
    range: Range<usize>,
}

// SAFETY: the range is in the block, which lives as long as this part. `Archive` makes one storage of each part and lends it to no one else.
unsafe impl HostBuffer for Part {
    fn start(&self) -> NonNull<u8> {
        // SAFETY: the range is in the block.
        unsafe { self.memory.0.start.add(self.range.start) }
    }

    fn size(&self) -> usize {
        self.range.len()
    }
}
