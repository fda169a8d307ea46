//! Emulated memory blocks, which detect writes past their end.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use crate::device::driver::Address;

/// A block of memory between two guard lines that no kernel may touch. The first line holds the block's size and the size of the current
/// allocation.
pub(super) struct GuardedBlock;

pub(super) const GUARD_BYTES: usize = 256;
const GUARD_PATTERN: u8 = 0xa5;

impl GuardedBlock {
    pub(super) fn layout(bytes: usize) -> Option<(Layout, usize)> {
        Some((Layout::from_size_align(bytes.checked_add(2 * GUARD_BYTES)?, GUARD_BYTES).ok()?, bytes))
    }

    pub(super) fn allocate((layout, bytes): (Layout, usize)) -> Option<Address> {
        // SAFETY: the layout's size is not zero, as it has two lines.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: the block has that many bytes, and is aligned for `usize`.
        unsafe {
            // Fresh memory gets a fixed pattern, which `check` looks for.
            start.write_bytes(GUARD_PATTERN, bytes + 2 * GUARD_BYTES);
            let block = address(NonNull::new(start.add(GUARD_BYTES))?);
            Self::stored_sizes(block).write([bytes, bytes]);
            Some(block)
        }
    }

    /// Returns the address of the block's size and of its allocation's size, which are stored in the guard line before the block.
    fn stored_sizes(block: Address) -> *mut [usize; 2] {
        pointer(block).wrapping_sub(GUARD_BYTES).cast()
    }

    pub(super) fn bytes(block: Address) -> usize {
        // SAFETY: `allocate` returned the address, which follows a line with the sizes.
        unsafe { (*Self::stored_sizes(block))[0] }
    }

    pub(super) fn set_allocated(block: Address, bytes: usize) {
        // SAFETY: `allocate` returned the address, which follows a line with the sizes.
        unsafe { (*Self::stored_sizes(block))[1] = bytes }
    }

    /// Checks the block and overwrites its content with the pattern.
    pub(super) fn set_free(block: Address) {
        Self::check(block);
        // SAFETY: `allocate` returned the address of a block of that many bytes, which is no longer used.
        unsafe {
            let [bytes, _] = *Self::stored_sizes(block);
            pointer(block).write_bytes(GUARD_PATTERN, bytes);
            *Self::stored_sizes(block) = [bytes, bytes];
        }
    }

    fn check(block: Address) {
        // SAFETY: `allocate` returned the address, which follows a line with the sizes; another line follows the block.
        let (behind, allocated) = unsafe {
            let [bytes, allocated] = *Self::stored_sizes(block);
            (std::slice::from_raw_parts(pointer(block).add(allocated), bytes - allocated + GUARD_BYTES), allocated)
        };
        // Each byte must equal the one before it: comparing two slices is faster than comparing bytes one by one.
        let is_intact = behind[0] == GUARD_PATTERN && behind[1..] == behind[..behind.len() - 1];
        assert!(is_intact, "a kernel wrote past the end of a block of {allocated} bytes");
    }

    /// Frees a block and returns its size in bytes.
    pub(super) fn free(block: Address) -> usize {
        Self::check(block);
        // SAFETY: `allocate` returned the address, with this layout; the block is no longer used.
        unsafe {
            let [bytes, _] = *Self::stored_sizes(block);
            if let Some((layout, _)) = Self::layout(bytes) {
                dealloc(pointer(block).sub(GUARD_BYTES), layout);
            }
            bytes
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an address of this process")]
pub(super) fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

pub(super) fn address(pointer: NonNull<u8>) -> Address {
    pointer.expose_provenance().get() as Address
}
