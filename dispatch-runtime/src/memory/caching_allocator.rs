//! The caching allocator of the CPU, which reuses freed blocks.
//!
//! Allocating a block from the system is slow. Its first use is even slower, because the system maps its pages one fault at a time. So a
//! freed block is cached and reused. The thread that freed a small block caches it, without a lock. A large block goes to a cache that all
//! threads share. Within a repeated run, it can have a place in a region instead ([`MemoryLayout`](super::MemoryLayout)).
//!
//! A block begins with one cache line for its user's own data. The sizes after that line have classes, four for each power of two, because
//! tensors often have a power of two of elements. New blocks are zeroed, and all blocks are aligned for any vector instruction. A reused
//! block still contains the bytes of its last tensor: arbitrary, but never uninitialised.
//!
//! Blocks for typed values are kept apart from blocks for elements. Values contain padding and pointers, but a block of elements may be
//! read as numbers before it is written.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{memory_layout, region};
use crate::error::Error;

/// The error if the system has no memory for an allocation.
///
/// ```
/// use dispatch_runtime::{OutOfMemory, Storage};
/// let error = Storage::try_new_host(usize::MAX).unwrap_err();
/// assert_eq!(error, OutOfMemory { size: usize::MAX });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory {
    /// The requested number of bytes.
    pub size: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot allocate {} bytes of memory", self.size)
    }
}

impl std::error::Error for OutOfMemory {}

impl From<OutOfMemory> for Error {
    #[cold]
    fn from(error: OutOfMemory) -> Self {
        Self::kernel(error)
    }
}

/// The alignment of blocks in bytes: a cache line, and the widest vector register.
pub(crate) const ALIGNMENT: usize = 64;
/// The smallest size class of blocks for values. Lower classes are for elements, and the highest of these is 220.
const SMALLEST_VALUE_CLASS: u8 = 221;
/// The largest size class of element blocks that each thread caches: blocks of up to one line and 64 KiB.
const LARGEST_PER_THREAD_CLASS: u8 = 36;
/// The maximum number of unused blocks of one class that a thread caches.
const MAX_BLOCKS_PER_THREAD_AND_CLASS: u32 = 32;
/// The maximum number of unused bytes in the shared cache.
const MAX_SHARED_CACHE_BYTES: usize = 512 << 20;

/// A size class of blocks: one cache line, plus a power of two of lines and zero to three quarters of it more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SizeClass(u8);

impl SizeClass {
    /// Allocates a block of this class with arbitrary contents, or returns `None` if the system has no more memory.
    #[inline]
    pub(crate) fn allocate(self) -> Option<NonNull<u8>> {
        THREAD_CACHE.try_with(|cache| cache.pop(self)).ok().flatten().or_else(|| self.allocate_uncached_by_thread())
    }

    /// Frees a block: caches it for reuse, or returns it to the system.
    ///
    /// # Safety
    ///
    /// The block was allocated from this class, and nothing uses it any more.
    #[inline]
    pub(crate) unsafe fn free(self, block: NonNull<u8>) {
        if !THREAD_CACHE.try_with(|cache| cache.push(self, block)).unwrap_or(false) {
            self.free_uncached_by_thread(block);
        }
    }

    /// Returns the smallest class for a value of `size` bytes, which includes everything that precedes the value in the block.
    pub(crate) const fn for_value(size: usize) -> Self {
        match Self::for_elements(size) {
            Some(Self(class)) if class <= u8::MAX - SMALLEST_VALUE_CLASS => Self(SMALLEST_VALUE_CLASS + class),
            _ => panic!("a value in a cached block has at most 40 KiB; put a larger one in a `Box`"),
        }
    }

    /// Returns the smallest class for `size` bytes of elements.
    #[inline]
    pub(crate) const fn for_elements(size: usize) -> Option<Self> {
        let lines = size.saturating_sub(1) / ALIGNMENT;
        if lines <= 4 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 4")]
            return Some(Self(lines as u8));
        }
        // The system allocates no block that is larger than half of the address space.
        if size > (isize::MAX as usize) / 2 {
            return None;
        }
        let exponent = (lines - 1).ilog2();
        let quarter = (lines - 1) >> (exponent - 2) & 3;
        #[expect(clippy::cast_possible_truncation, reason = "less than four times 64")]
        Some(Self((exponent as usize * 4 - 4 + quarter + 1) as u8))
    }

    /// Returns the size of a block of this class in bytes.
    pub(super) fn capacity(self) -> usize {
        let size = self.0.checked_sub(SMALLEST_VALUE_CLASS).unwrap_or(self.0);
        let lines = match usize::from(size) {
            class @ 0..=4 => class,
            class => {
                let (exponent, quarter) = ((class - 1) / 4 + 1, (class - 1) % 4);
                (1_usize << exponent) + ((quarter + 1) << (exponent - 2))
            }
        };
        (lines + 1).saturating_mul(ALIGNMENT)
    }

    /// Returns whether the shared cache keeps a block of this class when it is freed.
    pub(super) fn fits_in_shared_cache(self) -> bool {
        self.capacity() <= MAX_SHARED_CACHE_BYTES
    }

    const fn is_cached_per_thread(self) -> bool {
        self.0 <= LARGEST_PER_THREAD_CLASS || self.0 >= SMALLEST_VALUE_CLASS
    }

    /// Returns the layout of the system's allocation: the block, and one line more to align it.
    fn layout(self) -> Option<Layout> {
        Layout::from_size_align(self.capacity().checked_add(ALIGNMENT)?, align_of::<u64>()).ok()
    }

    #[cold]
    fn allocate_uncached_by_thread(self) -> Option<NonNull<u8>> {
        if self.is_cached_per_thread() {
            return self.allocate_from_system();
        }
        let block = memory_layout::allocate_in_place(self)
            .or_else(|| shared_cache().remove(self))
            .or_else(|| self.allocate_from_system())?;
        memory_layout::record_allocation(self, block);
        Some(block)
    }

    #[cold]
    fn free_uncached_by_thread(self, block: NonNull<u8>) {
        if !self.is_cached_per_thread() {
            memory_layout::record_free(block);
            // SAFETY: the byte before a block is part of its allocation. It is `IN_REGION` only before a block that `Region::allocate`
            // returned, and nothing uses the block any more.
            unsafe {
                if block.sub(1).read() == region::IN_REGION {
                    return region::free(block);
                }
            }
            if shared_cache().add(self, block) {
                return;
            }
        }
        // SAFETY: nothing uses the block any more.
        unsafe { self.free_to_system(block) }
    }

    /// Allocates a zeroed block from the system. The alignment that is requested is small on purpose: with a large one, Rust's allocator
    /// would write the zeros itself. This way the system maps each page when it is first touched, and the part of a block that no tensor
    /// fills costs nothing.
    fn allocate_from_system(self) -> Option<NonNull<u8>> {
        // SAFETY: the layout has more than a line.
        let start = NonNull::new(unsafe { alloc_zeroed(self.layout()?) })?;
        let skipped = ALIGNMENT - start.addr().get() % ALIGNMENT;
        // SAFETY: the layout has a line more than the block, and some of it is before the block.
        unsafe {
            let block = start.add(skipped);
            #[expect(clippy::cast_possible_truncation, reason = "at most a line, and never 0")]
            block.sub(1).write(skipped as u8);
            Some(block)
        }
    }

    /// Returns a block to the system.
    ///
    /// # Safety
    ///
    /// The block was allocated for this class, and nothing uses it any more.
    unsafe fn free_to_system(self, block: NonNull<u8>) {
        if let Some(layout) = self.layout() {
            // SAFETY: the byte before the block holds the distance to the start of the allocation, which has this layout.
            unsafe { dealloc(block.sub(usize::from(block.sub(1).read())).as_ptr(), layout) }
        }
    }
}

/// The unused blocks that one thread caches: for each class a linked list, whose links are in the blocks' first bytes.
struct ThreadCache([Cell<FreeList>; CLASS_COUNT]);

/// The number of values that a class number can have, so that an index by class needs no bounds check.
const CLASS_COUNT: usize = 1 << u8::BITS;

/// A linked list of unused blocks of one class.
#[derive(Clone, Copy)]
struct FreeList {
    first: Option<NonNull<u8>>,
    /// The number of blocks that can still be added; 0 for a class that threads do not cache.
    room: u32,
}

thread_local! {
    static THREAD_CACHE: ThreadCache = const { ThreadCache::new() };
}

impl ThreadCache {
    const fn new() -> Self {
        let mut lists = [const { Cell::new(FreeList { first: None, room: 0 }) }; CLASS_COUNT];
        let mut class = 0;
        while class < CLASS_COUNT {
            #[expect(clippy::cast_possible_truncation, reason = "less than `CLASS_COUNT`")]
            if SizeClass(class as u8).is_cached_per_thread() {
                lists[class] = Cell::new(FreeList { first: None, room: MAX_BLOCKS_PER_THREAD_AND_CLASS });
            }
            class += 1;
        }
        Self(lists)
    }

    #[inline]
    fn pop(&self, class: SizeClass) -> Option<NonNull<u8>> {
        let list = &self.0[usize::from(class.0)];
        let FreeList { first, room } = list.get();
        let block = first?;
        // SAFETY: `push` wrote the next block's address at the start of this one, which is in no other use.
        let first = unsafe { block.cast::<Option<NonNull<u8>>>().read() };
        list.set(FreeList { first, room: room + 1 });
        Some(block)
    }

    #[inline]
    fn push(&self, class: SizeClass, block: NonNull<u8>) -> bool {
        let list = &self.0[usize::from(class.0)];
        let FreeList { first, room } = list.get();
        let Some(room) = room.checked_sub(1) else { return false };
        // SAFETY: the block was freed, so it is in no other use, and it has at least one line.
        unsafe { block.cast::<Option<NonNull<u8>>>().write(first) };
        list.set(FreeList { first: Some(block), room });
        true
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        for class in (0..=u8::MAX).map(SizeClass) {
            while let Some(block) = self.pop(class) {
                class.free_uncached_by_thread(block);
            }
        }
    }
}

/// The cache of large unused blocks that all threads share.
static SHARED_CACHE: Mutex<SharedCache> = Mutex::new(SharedCache { blocks: Vec::new(), unused_bytes: 0 });

fn shared_cache() -> MutexGuard<'static, SharedCache> {
    SHARED_CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns those of the blocks to the system that the shared cache has.
pub(super) fn free_cached_blocks(blocks: &[NonNull<u8>]) {
    shared_cache().free(blocks);
}

struct SharedCache {
    blocks: Vec<(SizeClass, UnusedBlock)>,
    unused_bytes: usize,
}

struct UnusedBlock(NonNull<u8>);

// SAFETY: a block in the cache has no user.
unsafe impl Send for UnusedBlock {}

impl SharedCache {
    /// Removes and returns a block of this class. It is the one that was added last, which is the most likely to be in the processor's
    /// caches.
    fn remove(&mut self, class: SizeClass) -> Option<NonNull<u8>> {
        let at = self.blocks.iter().rposition(|(other, _)| *other == class)?;
        self.unused_bytes -= class.capacity();
        Some(self.blocks.remove(at).1.0)
    }

    /// Frees those of the blocks that are in the cache.
    fn free(&mut self, blocks: &[NonNull<u8>]) {
        let blocks: HashSet<NonNull<u8>> = blocks.iter().copied().collect();
        for (class, block) in self.blocks.extract_if(.., |(_, block)| blocks.contains(&block.0)) {
            self.unused_bytes -= class.capacity();
            // SAFETY: a block in the cache has no user.
            unsafe { class.free_to_system(block.0) }
        }
    }

    /// Adds a block, and frees those that were unused longest if the cache is over its limit. Returns false if the block is too large.
    fn add(&mut self, class: SizeClass, block: NonNull<u8>) -> bool {
        if !class.fits_in_shared_cache() {
            return false;
        }
        self.unused_bytes += class.capacity();
        self.blocks.push((class, UnusedBlock(block)));
        let mut excess = 0;
        while self.unused_bytes > MAX_SHARED_CACHE_BYTES {
            self.unused_bytes -= self.blocks[excess].0.capacity();
            excess += 1;
        }
        for (class, block) in self.blocks.drain(..excess) {
            // SAFETY: a block in the cache has no user.
            unsafe { class.free_to_system(block.0) }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A block that is freed when it is dropped.
    struct OwnedBlock(SizeClass, NonNull<u8>);

    // SAFETY: an allocated block has one owner.
    unsafe impl Send for OwnedBlock {}

    impl OwnedBlock {
        fn allocate(size: usize) -> Self {
            let class = SizeClass::for_elements(size).unwrap();
            Self(class, class.allocate().unwrap())
        }
    }

    impl Drop for OwnedBlock {
        fn drop(&mut self) {
            // SAFETY: the block was allocated from this class, and is freed only here.
            unsafe { self.0.free(self.1) }
        }
    }

    #[test]
    fn a_freed_block_is_reused() {
        let address = OwnedBlock::allocate(1000).1;
        assert_eq!(OwnedBlock::allocate(970).1, address);
        // Other tests do not allocate blocks of these classes in the same process.
        for size in [5 << 20, 11 << 20] {
            let address = OwnedBlock::allocate(size).1;
            let (again, other) = (OwnedBlock::allocate(size), OwnedBlock::allocate(size));
            assert!(again.1 == address && other.1 != address);
        }
    }

    #[test]
    fn blocks_are_aligned_and_writable() {
        for size in [1, 64, 65, 5000, 200_000] {
            let block = OwnedBlock::allocate(size);
            assert_eq!(block.1.addr().get() % ALIGNMENT, 0);
            // SAFETY: the block has that many bytes, and no other user.
            unsafe { block.1.write_bytes(0xff, block.0.capacity()) };
        }
    }

    #[test]
    fn the_shared_cache_frees_the_blocks_that_it_has() {
        let class = SizeClass::for_elements(1 << 20).unwrap();
        let [first, second, other] = [(); 3].map(|()| class.allocate_from_system().unwrap());
        let mut cache = SharedCache { blocks: Vec::new(), unused_bytes: 0 };
        assert!(cache.add(class, first) && cache.add(class, second));
        cache.free(&[first, other]);
        assert_eq!(cache.unused_bytes, class.capacity());
        assert_eq!((cache.remove(class), cache.remove(class)), (Some(second), None));
        // SAFETY: both are blocks of the class without a user.
        unsafe {
            class.free_to_system(second);
            class.free_to_system(other);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pages_of_a_large_block_are_mapped_at_the_first_write() {
        use std::os::unix::fs::FileExt;
        const PAGE_SIZE: usize = 4096;
        let block = OwnedBlock::allocate(64 << 20);
        // Counted in this block alone: other tests allocate at the same time.
        let mapped_pages = || {
            let (first, count) = (block.1.addr().get().div_ceil(PAGE_SIZE), (64 << 20) / PAGE_SIZE);
            let mut entries = vec![0; count * 8];
            let pagemap = std::fs::File::open("/proc/self/pagemap").unwrap();
            pagemap.read_exact_at(&mut entries, first as u64 * 8).unwrap();
            // The two highest bits of an entry: the page is in memory, or it is swapped out.
            entries.chunks_exact(8).filter(|entry| entry[7] >> 6 != 0).count()
        };
        assert!(mapped_pages() < (8 << 20) / PAGE_SIZE);
        // SAFETY: the block has that many bytes, and no other user.
        unsafe { block.1.write_bytes(1, 64 << 20) };
        assert!(mapped_pages() > (63 << 20) / PAGE_SIZE);
    }

    #[test]
    fn blocks_can_be_freed_on_another_thread() {
        let blocks: Vec<OwnedBlock> = (0..200).map(|i| OwnedBlock::allocate(i * 40 + 1)).collect();
        std::thread::spawn(move || drop(blocks)).join().unwrap();
        let of_another = std::thread::spawn(|| OwnedBlock::allocate(640)).join().unwrap();
        assert!(of_another.0.capacity() >= 640);
    }

    proptest! {
        #[test]
        fn size_classes_waste_less_than_a_third(size in 0_usize..1 << 40) {
            let class = SizeClass::for_elements(size).unwrap();
            prop_assert!(class.capacity() >= size);
            prop_assert!(size <= 4 * ALIGNMENT || class.capacity() <= size / 4 * 5 + 2 * ALIGNMENT, "{size} {class:?} {}", class.capacity());
            prop_assert_eq!(SizeClass::for_elements(class.capacity()), Some(class));
        }

        #[test]
        fn a_cache_line_plus_a_power_of_two_wastes_nothing(exponent in 6_u32..40) {
            let size = ALIGNMENT + (1_usize << exponent);
            prop_assert_eq!(SizeClass::for_elements(size).unwrap().capacity(), size);
        }
    }

    #[test]
    fn threads_cache_blocks_of_up_to_a_cache_line_and_64_kib() {
        assert_eq!(SizeClass::for_elements(ALIGNMENT + (64 << 10)), Some(SizeClass(LARGEST_PER_THREAD_CLASS)));
        assert!(!SizeClass::for_elements(ALIGNMENT + (64 << 10) + 1).unwrap().is_cached_per_thread());
    }

    #[test]
    fn values_and_elements_have_different_size_classes() {
        assert!(SizeClass::for_elements(isize::MAX.cast_unsigned() / 2).unwrap().0 < SMALLEST_VALUE_CLASS);
        for size in [1, 64, 65, 4096, 40 << 10] {
            let class = SizeClass::for_value(size);
            assert!(class.0 >= SMALLEST_VALUE_CLASS && class.is_cached_per_thread());
            assert_eq!(Some(class.capacity()), SizeClass::for_elements(size).map(SizeClass::capacity));
        }
    }

    #[test]
    fn sizes_beyond_the_address_space_have_no_size_class() {
        assert_eq!(SizeClass::for_elements(usize::MAX), None);
        assert_eq!(SizeClass::for_elements(isize::MAX as usize), None);
    }
}
