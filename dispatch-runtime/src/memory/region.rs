//! Regions: large blocks in which other blocks have fixed places.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use super::caching_allocator::{ALIGNMENT, OutOfMemory, SizeClass};
use super::shared::Shared;

/// A place in a region: the offsets of its bytes. It has one line for the region's own data, and then the block.
pub(super) type Place = Range<usize>;

/// The size of a place is a multiple of this, so all blocks begin at the same offset in a page. A processor delays a load if an earlier store
/// has the same offset in another page. With equal offsets, a kernel loads an element before it stores one there, so the delay is rare.
const PAGE_SIZE: usize = 4096;

/// Returns the size of a place for a block.
pub(super) fn place_size(block: SizeClass) -> usize {
    block.capacity().saturating_add(ALIGNMENT).next_multiple_of(PAGE_SIZE)
}

/// A block with places for other blocks. It is freed when neither a handle nor a block in it is left.
pub(super) struct Region {
    places: Arc<[Place]>,
    /// In a box, because the size of a mutex depends on the system, and a region's own data fill one line.
    in_use: Box<Mutex<Vec<usize>>>,
}

const _: () = Shared::<Region>::ASSERT_TRAILING_BYTES;

/// The data before a block: its place, and the distance from the start of the region.
type Owner = [usize; 2];

impl Region {
    /// Allocates a region with these places.
    pub(super) fn new(places: Arc<[Place]>) -> Result<Shared<Self>, OutOfMemory> {
        let size = Self::size(&places);
        Shared::with_trailing_bytes(|| Self { places, in_use: Box::default() }, size)
    }

    /// Returns the size of a region with these places, without its own line.
    pub(super) fn size(places: &[Place]) -> usize {
        places.iter().map(|place| place.end).max().unwrap_or(0)
    }

    /// Allocates the block of a place, if the place is one for this class and none of its bytes are in use.
    pub(super) fn allocate(this: &Shared<Self>, place: usize, class: SizeClass) -> Option<NonNull<u8>> {
        let bytes = this.places.get(place).filter(|bytes| bytes.len() == place_size(class))?;
        let mut in_use = this.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let overlaps = |other: &Place| other.start < bytes.end && bytes.start < other.end;
        if in_use.iter().any(|&other| this.places.get(other).is_some_and(overlaps)) {
            return None;
        }
        in_use.push(place);
        drop(in_use);
        // The block owns a handle, so that it keeps the region.
        let start = Shared::into_raw(this.clone());
        let distance = ALIGNMENT + bytes.start + ALIGNMENT;
        // SAFETY: the region has the bytes of all its places after its first line, and those of this place have no other user. A place has
        // one line before the block.
        unsafe {
            let block = start.add(distance);
            block.sub(ALIGNMENT).cast::<Owner>().write([place, distance]);
            block.sub(1).write(IN_REGION);
            Some(block)
        }
    }
}

/// The value of the byte before a block that is in a region. Before other blocks, the byte is not zero.
pub(super) const IN_REGION: u8 = 0;

/// Frees a block: its place can be used again.
///
/// # Safety
///
/// The block was allocated in a region, and nothing uses it any more.
pub(super) unsafe fn free(block: NonNull<u8>) {
    // SAFETY: `allocate` wrote the line before the block, and left a handle to the region. That line and the first line of the block, which
    // held the user's own data, are cleared: elements of a later block may be there, and these must never be pointers or padding.
    let (region, place) = unsafe {
        let line = block.sub(ALIGNMENT);
        let [place, distance] = line.cast::<Owner>().read();
        line.write_bytes(0, 2 * ALIGNMENT);
        (Shared::<Region>::from_raw(block.sub(distance)), place)
    };
    region.in_use.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != place);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(size: usize) -> SizeClass {
        SizeClass::for_elements(size).unwrap()
    }

    /// A region for two blocks of one mebibyte, one after the other, and a third block in the middle of both.
    fn region() -> (SizeClass, Shared<Region>) {
        let class = class(1 << 20);
        let size = place_size(class);
        (class, Region::new([0..size, size..2 * size, size / 128 * 64..size / 128 * 64 + size].into()).unwrap())
    }

    #[test]
    fn a_place_is_free_when_no_block_overlaps_it() {
        let (class, region) = region();
        let [first, second] = [0, 1].map(|place| Region::allocate(&region, place, class).unwrap());
        assert_eq!(first.addr().get() % ALIGNMENT, 0);
        assert_eq!(second.addr().get() - first.addr().get(), place_size(class));
        assert!([0, 1, 2, 3].iter().all(|place| Region::allocate(&region, *place, class).is_none()));
        // SAFETY: the blocks have that many bytes, and are freed once.
        unsafe {
            first.write_bytes(1, class.capacity());
            second.write_bytes(2, class.capacity());
            free(first);
            assert!(Region::allocate(&region, 2, class).is_none());
            free(second);
            assert!(Region::allocate(&region, 2, self::class(1 << 19)).is_none());
            free(Region::allocate(&region, 2, class).unwrap());
        }
        assert_eq!(Shared::handle_count(&region), 1);
    }

    #[test]
    fn a_block_keeps_its_region() {
        let (class, region) = region();
        let block = Region::allocate(&region, 1, class).unwrap();
        drop(region);
        // SAFETY: the block has that many bytes, and is freed once.
        unsafe {
            block.write_bytes(3, class.capacity());
            assert_eq!(block.add(class.capacity() - 1).read(), 3);
            free(block);
        }
    }

    #[test]
    fn a_freed_block_leaves_no_data_of_its_user() {
        let (class, region) = region();
        let block = Region::allocate(&region, 0, class).unwrap();
        // SAFETY: the block has a line, the region has a line before it, and the block is freed once.
        unsafe {
            block.write_bytes(0xff, ALIGNMENT);
            free(block);
            let lines = block.sub(ALIGNMENT).cast::<[u8; 2 * ALIGNMENT]>().read();
            assert_eq!(lines, [0; 2 * ALIGNMENT]);
        }
    }
}
