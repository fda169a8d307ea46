//! Emulated memory blocks, which detect writes past their end.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use crate::device::driver::DeviceAddress;

/// A block of memory between two guard lines that no kernel may touch. The first line holds the block's size and the size of the current
/// allocation.
pub(super) struct GuardedBlock;

pub(super) const GUARD_BYTES: usize = 256;
const GUARD_PATTERN: u8 = 0xa5;

impl GuardedBlock {
    pub(super) fn layout_with_guards(bytes: usize) -> Option<(Layout, usize)> {
        Some((Layout::from_size_align(bytes.checked_add(2 * GUARD_BYTES)?, GUARD_BYTES).ok()?, bytes))
    }

    pub(super) fn allocate((layout, bytes): (Layout, usize)) -> Option<DeviceAddress> {
        // SAFETY: the layout's size is not zero, as it has two lines.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: the block has that many bytes, and is aligned for `usize`.
        unsafe {
            // Fresh memory gets a fixed pattern, which `check_guard` looks for.
            start.write_bytes(GUARD_PATTERN, bytes + 2 * GUARD_BYTES);
            let block = pointer_to_address(NonNull::new(start.add(GUARD_BYTES))?);
            Self::sizes_pointer(block).write([bytes, bytes]);
            Some(block)
        }
    }

    /// Returns the address of the block's size and of its allocation's size, which are stored in the guard line before the block.
    fn sizes_pointer(block: DeviceAddress) -> *mut [usize; 2] {
        address_to_pointer(block).wrapping_sub(GUARD_BYTES).cast()
    }

    pub(super) fn size(block: DeviceAddress) -> usize {
        // SAFETY: `allocate` returned the address, which follows a line with the sizes.
        unsafe { (*Self::sizes_pointer(block))[0] }
    }

    pub(super) fn set_allocated(block: DeviceAddress, bytes: usize) {
        // SAFETY: `allocate` returned the address, which follows a line with the sizes.
        unsafe { (*Self::sizes_pointer(block))[1] = bytes }
    }

    /// Checks the block and overwrites its content with the pattern.
    pub(super) fn set_free(block: DeviceAddress) {
        Self::check_guard(block);
        // SAFETY: `allocate` returned the address of a block of that many bytes, which is no longer used.
        unsafe {
            let [bytes, _] = *Self::sizes_pointer(block);
            address_to_pointer(block).write_bytes(GUARD_PATTERN, bytes);
            *Self::sizes_pointer(block) = [bytes, bytes];
        }
    }

    fn check_guard(block: DeviceAddress) {
        // SAFETY: `allocate` returned the address, which follows a line with the sizes; another line follows the block.
        let (behind, allocated) = unsafe {
            let [bytes, allocated] = *Self::sizes_pointer(block);
            (
                std::slice::from_raw_parts(address_to_pointer(block).add(allocated), bytes - allocated + GUARD_BYTES),
                allocated,
            )
        };
        // Each byte must equal the one before it: comparing two slices is faster than comparing bytes one by one.
        let is_intact = behind[0] == GUARD_PATTERN && behind[1..] == behind[..behind.len() - 1];
        assert!(is_intact, "a kernel wrote past the end of a block of {allocated} bytes");
    }

    /// Frees a block and returns its size in bytes.
    pub(super) fn free(block: DeviceAddress) -> usize {
        Self::check_guard(block);
        // SAFETY: `allocate` returned the address, with this layout; the block is no longer used.
        unsafe {
            let [bytes, _] = *Self::sizes_pointer(block);
            if let Some((layout, _)) = Self::layout_with_guards(bytes) {
                dealloc(address_to_pointer(block).sub(GUARD_BYTES), layout);
            }
            bytes
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an address of this process")]
pub(super) fn address_to_pointer(address: DeviceAddress) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

pub(super) fn pointer_to_address(pointer: NonNull<u8>) -> DeviceAddress {
    pointer.expose_provenance().get() as DeviceAddress
}
