//! The caching allocator of the CPU: freed blocks are kept and reused.
//!
//! Allocating a block from the system is slow. Its first use is even slower, because the system maps its pages one fault at a time. So a
//! freed block is kept and reused. A small block is kept by the thread that freed it, without a lock. A large block goes to a shelf that
//! all threads share.
//!
//! A block begins with one cache line for its user's own data. Behind that line, sizes come in classes, four for each power of two, because
//! elements often number a power of two. New blocks are zeroed, and all blocks are aligned for any vector instruction. A reused block still
//! contains the bytes of its last tensor: arbitrary, but never uninitialised.
//!
//! Blocks for typed values are kept apart from blocks for elements. Values contain padding and pointers, but a block of elements may be
//! read as numbers before it is written.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// The error of an allocation for which the system has no memory.
///
/// ```
/// use dispatch_runtime::{OutOfMemory, Storage};
/// let error = Storage::try_host(usize::MAX).unwrap_err();
/// assert_eq!(error, OutOfMemory { size: usize::MAX });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory {
    /// The requested number of bytes.
    pub size: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no block of {} bytes of memory", self.size)
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
/// The first class of blocks for values. Lower classes are for elements, and the highest of these is 220.
const FIRST_OF_VALUES: u8 = 221;
/// The last class of blocks for elements that threads keep for themselves: blocks of up to one line and 64 KiB.
const LAST_OF_THREADS: u8 = 36;
/// The maximum number of blocks of one class that a thread keeps.
const KEPT: u32 = 32;
/// The maximum number of unused bytes on the shelf.
const SHELF: usize = 512 << 20;

/// A size class of blocks: one cache line, plus a power of two of lines and zero to three quarters of it more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class(u8);

impl Class {
    /// Returns a block of this class with arbitrary contents, or `None` if the system has no more memory.
    #[inline]
    pub(crate) fn take(self) -> Option<NonNull<u8>> {
        THREAD.try_with(|cache| cache.take(self)).ok().flatten().or_else(|| self.shelved_or_new())
    }

    /// Frees a block: keeps it for reuse, or returns it to the system.
    ///
    /// # Safety
    ///
    /// The block was taken from this class, and nothing uses it any more.
    #[inline]
    pub(crate) unsafe fn give(self, block: NonNull<u8>) {
        if !THREAD.try_with(|cache| cache.keep(self, block)).unwrap_or(false) {
            self.shelve_or_free(block);
        }
    }

    /// Returns the smallest class for a value of `size` bytes, which includes everything that precedes the value in the block.
    pub(crate) const fn of_value(size: usize) -> Self {
        match Self::of(size) {
            Some(Self(class)) if class <= u8::MAX - FIRST_OF_VALUES => Self(FIRST_OF_VALUES + class),
            _ => panic!("a value in a recycled block has at most 40 KiB; put a larger one behind a box"),
        }
    }

    /// Returns the smallest class for `size` bytes of elements.
    #[inline]
    pub(crate) const fn of(size: usize) -> Option<Self> {
        let behind = size.saturating_sub(1) / ALIGNMENT;
        if behind <= 4 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 4")]
            return Some(Self(behind as u8));
        }
        // The system allocates no block that is larger than half of the address space.
        if size > (isize::MAX as usize) / 2 {
            return None;
        }
        let double = (behind - 1).ilog2();
        let quarter = (behind - 1) >> (double - 2) & 3;
        #[expect(clippy::cast_possible_truncation, reason = "less than four times 64")]
        Some(Self((double as usize * 4 - 4 + quarter + 1) as u8))
    }

    /// Returns the number of bytes of a block.
    fn capacity(self) -> usize {
        let size = self.0.checked_sub(FIRST_OF_VALUES).unwrap_or(self.0);
        let behind = match usize::from(size) {
            class @ 0..=4 => class,
            class => {
                let (double, quarter) = ((class - 1) / 4 + 1, (class - 1) % 4);
                (1_usize << double) + ((quarter + 1) << (double - 2))
            }
        };
        (behind + 1).saturating_mul(ALIGNMENT)
    }

    const fn is_kept_by_threads(self) -> bool {
        self.0 <= LAST_OF_THREADS || self.0 >= FIRST_OF_VALUES
    }

    /// Returns the layout of the system's allocation: the block, and one line more to align it.
    fn layout(self) -> Option<Layout> {
        Layout::from_size_align(self.capacity().checked_add(ALIGNMENT)?, align_of::<u64>()).ok()
    }

    #[cold]
    fn shelved_or_new(self) -> Option<NonNull<u8>> {
        let shelved = SHELVED.lock().unwrap_or_else(PoisonError::into_inner).take(self);
        shelved.or_else(|| self.allocate())
    }

    #[cold]
    fn shelve_or_free(self, block: NonNull<u8>) {
        if self.is_kept_by_threads() || !SHELVED.lock().unwrap_or_else(PoisonError::into_inner).keep(self, block) {
            // SAFETY: nothing uses the block any more.
            unsafe { self.free(block) }
        }
    }

    /// Allocates a zeroed block from the system. The alignment that is requested is small on purpose: with a large one, Rust's allocator
    /// would write the zeros itself. This way the system maps each page when it is first touched, and the part of a block that no tensor
    /// fills costs nothing.
    fn allocate(self) -> Option<NonNull<u8>> {
        // SAFETY: the layout has more than a line.
        let start = NonNull::new(unsafe { alloc_zeroed(self.layout()?) })?;
        let skipped = ALIGNMENT - start.addr().get() % ALIGNMENT;
        // SAFETY: the layout has a line more than the block, and some of it is before the block.
        unsafe {
            let block = start.add(skipped);
            #[expect(clippy::cast_possible_truncation, reason = "at most a line")]
            block.sub(1).write(skipped as u8);
            Some(block)
        }
    }

    /// # Safety
    ///
    /// The block was allocated for this class, and nothing uses it any more.
    unsafe fn free(self, block: NonNull<u8>) {
        if let Some(layout) = self.layout() {
            // SAFETY: the byte before the block holds the distance to the start of the allocation, which has this layout.
            unsafe { dealloc(block.sub(usize::from(block.sub(1).read())).as_ptr(), layout) }
        }
    }
}

/// The blocks that one thread keeps: for each class a linked list, whose links are in the blocks' first bytes.
struct ThreadCache([Cell<Chain>; CLASSES]);

/// The number of values that a class number can have, so that an index by class needs no bounds check.
const CLASSES: usize = 1 << u8::BITS;

#[derive(Clone, Copy)]
struct Chain {
    first: Option<NonNull<u8>>,
    /// The number of blocks that can still be added; 0 for a class that threads do not keep.
    room: u32,
}

thread_local! {
    static THREAD: ThreadCache = const { ThreadCache::new() };
}

impl ThreadCache {
    const fn new() -> Self {
        let mut chains = [const { Cell::new(Chain { first: None, room: 0 }) }; CLASSES];
        let mut class = 0;
        while class < CLASSES {
            #[expect(clippy::cast_possible_truncation, reason = "less than `CLASSES`")]
            if Class(class as u8).is_kept_by_threads() {
                chains[class] = Cell::new(Chain { first: None, room: KEPT });
            }
            class += 1;
        }
        Self(chains)
    }

    #[inline]
    fn take(&self, class: Class) -> Option<NonNull<u8>> {
        let chain = &self.0[usize::from(class.0)];
        let Chain { first, room } = chain.get();
        let block = first?;
        // SAFETY: `keep` wrote the next block's address at the start of this one, which is in no other use.
        let first = unsafe { block.cast::<Option<NonNull<u8>>>().read() };
        chain.set(Chain { first, room: room + 1 });
        Some(block)
    }

    #[inline]
    fn keep(&self, class: Class, block: NonNull<u8>) -> bool {
        let chain = &self.0[usize::from(class.0)];
        let Chain { first, room } = chain.get();
        let Some(room) = room.checked_sub(1) else { return false };
        // SAFETY: the block was freed, so it is in no other use, and it has at least one line.
        unsafe { block.cast::<Option<NonNull<u8>>>().write(first) };
        chain.set(Chain { first: Some(block), room });
        true
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        for class in (0..=u8::MAX).map(Class) {
            while let Some(block) = self.take(class) {
                class.shelve_or_free(block);
            }
        }
    }
}

/// The shelf of large unused blocks, which all threads share.
static SHELVED: Mutex<Shelf> = Mutex::new(Shelf { blocks: Vec::new(), idle: 0 });

struct Shelf {
    blocks: Vec<(Class, Block)>,
    idle: usize,
}

struct Block(NonNull<u8>);

// SAFETY: a block on the shelf has no user.
unsafe impl Send for Block {}

impl Shelf {
    /// Removes a block of this class. It takes the last one that was added, which is the likeliest to be in the processor's caches.
    fn take(&mut self, class: Class) -> Option<NonNull<u8>> {
        let at = self.blocks.iter().rposition(|(kept, _)| *kept == class)?;
        self.idle -= class.capacity();
        Some(self.blocks.remove(at).1.0)
    }

    /// Adds a block, and frees those that were unused longest if the shelf is over its limit. Returns false if the block is too large.
    fn keep(&mut self, class: Class, block: NonNull<u8>) -> bool {
        if class.capacity() > SHELF {
            return false;
        }
        self.idle += class.capacity();
        self.blocks.push((class, Block(block)));
        let mut over = 0;
        while self.idle > SHELF {
            self.idle -= self.blocks[over].0.capacity();
            over += 1;
        }
        for (class, block) in self.blocks.drain(..over) {
            // SAFETY: a block on the shelf has no user.
            unsafe { class.free(block.0) }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A block that is freed when it is dropped.
    struct Lent(Class, NonNull<u8>);

    // SAFETY: a block that was taken has one owner.
    unsafe impl Send for Lent {}

    impl Lent {
        fn take(size: usize) -> Self {
            let class = Class::of(size).unwrap();
            Self(class, class.take().unwrap())
        }
    }

    impl Drop for Lent {
        fn drop(&mut self) {
            // SAFETY: the block was taken from this class, and is freed only here.
            unsafe { self.0.give(self.1) }
        }
    }

    #[test]
    fn a_block_that_was_given_back_is_lent_again() {
        let address = Lent::take(1000).1;
        assert_eq!(Lent::take(970).1, address);
        for size in [100 << 10, 1 << 20] {
            let address = Lent::take(size).1;
            let (again, other) = (Lent::take(size), Lent::take(size));
            assert!(again.1 == address && other.1 != address);
        }
    }

    #[test]
    fn blocks_are_aligned_and_can_be_filled() {
        for size in [1, 64, 65, 5000, 200_000] {
            let block = Lent::take(size);
            assert_eq!(block.1.addr().get() % ALIGNMENT, 0);
            // SAFETY: the block has that many bytes, and no other user.
            unsafe { block.1.write_bytes(0xff, block.0.capacity()) };
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_large_block_takes_memory_as_it_is_filled() {
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
            pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        let before = resident();
        let lent = Lent::take(64 << 20);
        assert!(resident().saturating_sub(before) < 32 << 20);
        // SAFETY: the block has that many bytes, and no other user.
        unsafe { lent.1.write_bytes(1, 64 << 20) };
        assert!(resident().saturating_sub(before) > 48 << 20);
    }

    #[test]
    fn blocks_wander_between_threads_and_survive_the_end_of_theirs() {
        let lent: Vec<Lent> = (0..200).map(|i| Lent::take(i * 40 + 1)).collect();
        std::thread::spawn(move || drop(lent)).join().unwrap();
        let of_another = std::thread::spawn(|| Lent::take(640)).join().unwrap();
        assert!(of_another.0.capacity() >= 640);
    }

    proptest! {
        #[test]
        fn a_class_holds_its_sizes_and_wastes_less_than_a_third(size in 0_usize..1 << 40) {
            let class = Class::of(size).unwrap();
            prop_assert!(class.capacity() >= size);
            prop_assert!(size <= 4 * ALIGNMENT || class.capacity() <= size / 4 * 5 + 2 * ALIGNMENT, "{size} {class:?} {}", class.capacity());
            prop_assert_eq!(Class::of(class.capacity()), Some(class));
        }

        #[test]
        fn a_power_of_two_behind_a_line_wastes_nothing(double in 6_u32..40) {
            let size = ALIGNMENT + (1_usize << double);
            prop_assert_eq!(Class::of(size).unwrap().capacity(), size);
        }
    }

    #[test]
    fn threads_keep_blocks_of_up_to_a_line_and_64_kib() {
        assert_eq!(Class::of(ALIGNMENT + (64 << 10)), Some(Class(LAST_OF_THREADS)));
        assert!(!Class::of(ALIGNMENT + (64 << 10) + 1).unwrap().is_kept_by_threads());
    }

    #[test]
    fn no_class_is_both_for_values_and_for_elements() {
        assert!(Class::of(isize::MAX.cast_unsigned() / 2).unwrap().0 < FIRST_OF_VALUES);
        for size in [1, 64, 65, 4096, 40 << 10] {
            let class = Class::of_value(size);
            assert!(class.0 >= FIRST_OF_VALUES && class.is_kept_by_threads());
            assert_eq!(Some(class.capacity()), Class::of(size).map(Class::capacity));
        }
    }

    #[test]
    fn what_no_address_space_holds_has_no_class() {
        assert_eq!(Class::of(usize::MAX), None);
        assert_eq!(Class::of(isize::MAX as usize), None);
    }
}
