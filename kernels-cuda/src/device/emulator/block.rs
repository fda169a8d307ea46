//! Memory that notices who writes behind its end.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use crate::device::machine::Address;

/// A block of memory between two lines that no kernel may touch. The first says how large it is, and how much of it is lent.
pub(super) struct Block;

pub(super) const LINE: usize = 256;
const UNTOUCHED: u8 = 0xa5;

impl Block {
    pub(super) fn layout(bytes: usize) -> Option<(Layout, usize)> {
        Some((Layout::from_size_align(bytes.checked_add(2 * LINE)?, LINE).ok()?, bytes))
    }

    pub(super) fn allocate((layout, bytes): (Layout, usize)) -> Option<Address> {
        // SAFETY: the layout has more than two lines.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: the block has that many bytes, and is aligned for numbers.
        unsafe {
            // What fresh memory holds is nobody's.
            start.write_bytes(UNTOUCHED, bytes + 2 * LINE);
            let block = address(NonNull::new(start.add(LINE))?);
            Self::sizes(block).write([bytes, bytes]);
            Some(block)
        }
    }

    /// Its first line's numbers.
    fn sizes(block: Address) -> *mut [usize; 2] {
        pointer(block).wrapping_sub(LINE).cast()
    }

    pub(super) fn bytes(block: Address) -> usize {
        // SAFETY: `allocate` gave the address, behind a line with the numbers.
        unsafe { (*Self::sizes(block))[0] }
    }

    pub(super) fn lend(block: Address, bytes: usize) {
        // SAFETY: as above.
        unsafe { (*Self::sizes(block))[1] = bytes }
    }

    /// Nothing is left of what it held.
    pub(super) fn take_back(block: Address) {
        Self::check(block);
        // SAFETY: `allocate` gave the address, of a block with so many bytes, which nobody uses any more.
        unsafe {
            let [bytes, _] = *Self::sizes(block);
            pointer(block).write_bytes(UNTOUCHED, bytes);
            *Self::sizes(block) = [bytes, bytes];
        }
    }

    fn check(block: Address) {
        // SAFETY: as above; a line is behind the block.
        let (behind, lent) = unsafe {
            let [bytes, lent] = *Self::sizes(block);
            (std::slice::from_raw_parts(pointer(block).add(lent), bytes - lent + LINE), lent)
        };
        // Each is as the one before: two slices are compared faster than many bytes.
        let is_untouched = behind[0] == UNTOUCHED && behind[1..] == behind[..behind.len() - 1];
        assert!(is_untouched, "a kernel wrote behind a block of {lent} bytes");
    }

    /// Says how many bytes it had.
    pub(super) fn free(block: Address) -> usize {
        Self::check(block);
        // SAFETY: `allocate` gave the address, with this layout; nobody uses the block any more.
        unsafe {
            let [bytes, _] = *Self::sizes(block);
            if let Some((layout, _)) = Self::layout(bytes) {
                dealloc(pointer(block).sub(LINE), layout);
            }
            bytes
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an address of this process")]
pub(super) fn pointer(address: Address) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

pub(super) fn address(place: NonNull<u8>) -> Address {
    place.expose_provenance().get() as Address
}
