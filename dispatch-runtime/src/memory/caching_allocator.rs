//! Blocks of memory that the CPU can address.
//!
//! Asking the system for a block is slow, and its first use slower still, because the system hands out pages one fault at a time. So a
//! block that is given back is kept and lent again: a small one by the thread that gave it back, without a lock; a large one by a
//! shelf that all threads share. Behind a line for what its user keeps about it, a block has a size that is a quarter of a doubling
//! from the next: elements often number a power of two. Blocks start zeroed, and are aligned for any vector instruction. One that was
//! lent before holds whatever its last tensor held: arbitrary, but never uninitialised.
//!
//! Blocks for typed values are kept apart from blocks for elements. A value has padding and pointers, and elements are read as numbers
//! before they are written.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// The system has no block of memory of this size.
///
/// ```
/// use dispatch_runtime::{OutOfMemory, Storage};
/// let error = Storage::try_host(usize::MAX).unwrap_err();
/// assert_eq!(error, OutOfMemory { size: usize::MAX });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory {
    /// How many bytes were asked for.
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

/// A cache line, and the widest vector register there is.
pub(crate) const ALIGNMENT: usize = 64;
/// The number of the first class of blocks for values. The classes below are for elements, and the largest of these is 220.
const FIRST_OF_VALUES: u8 = 221;
/// The number of the last class of blocks for elements that a thread keeps for itself: those of up to a line and 64 KiB.
const LAST_OF_THREADS: u8 = 36;
/// How many blocks of one class a thread keeps.
const KEPT: u32 = 32;
/// How many idle bytes the shelf keeps.
const SHELF: usize = 512 << 20;

/// A size of block: behind the first cache line a power of two of them, and up to three quarters more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class(u8);

impl Class {
    /// A block of this size, whatever it holds. None where the system has no more.
    #[inline]
    pub(crate) fn take(self) -> Option<NonNull<u8>> {
        THREAD.try_with(|cache| cache.take(self)).ok().flatten().or_else(|| self.shelved_or_new())
    }

    /// Gives a block back.
    ///
    /// # Safety
    ///
    /// It was taken from this class, and nobody uses it any more.
    #[inline]
    pub(crate) unsafe fn give(self, block: NonNull<u8>) {
        if !THREAD.try_with(|cache| cache.keep(self, block)).unwrap_or(false) {
            self.shelve_or_free(block);
        }
    }

    /// The smallest one for a value of `size` bytes, with all that precedes it in the block.
    pub(crate) const fn of_value(size: usize) -> Self {
        match Self::of(size) {
            Some(Self(class)) if class <= u8::MAX - FIRST_OF_VALUES => Self(FIRST_OF_VALUES + class),
            _ => panic!("a value in a recycled block has at most 40 KiB; put a larger one behind a box"),
        }
    }

    /// The smallest one for `size` bytes of elements.
    #[inline]
    pub(crate) const fn of(size: usize) -> Option<Self> {
        let behind = size.saturating_sub(1) / ALIGNMENT;
        if behind <= 4 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 4")]
            return Some(Self(behind as u8));
        }
        // The system gives no block that is larger than half of the address space.
        if size > (isize::MAX as usize) / 2 {
            return None;
        }
        let double = (behind - 1).ilog2();
        let quarter = (behind - 1) >> (double - 2) & 3;
        #[expect(clippy::cast_possible_truncation, reason = "less than four times 64")]
        Some(Self((double as usize * 4 - 4 + quarter + 1) as u8))
    }

    /// How many bytes a block has.
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

    /// With a line for the way to the first aligned byte.
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
            // SAFETY: nobody uses the block any more.
            unsafe { self.free(block) }
        }
    }

    /// Zeros from the system. Asked for an alignment as large as ours it would write them; so it lends pages, each when it is touched
    /// first, and what a tensor does not fill costs nothing.
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
    /// It was allocated for this class, and nobody uses it any more.
    unsafe fn free(self, block: NonNull<u8>) {
        if let Some(layout) = self.layout() {
            // SAFETY: the byte before the block says how far it is from what was allocated, with this layout.
            unsafe { dealloc(block.sub(usize::from(block.sub(1).read())).as_ptr(), layout) }
        }
    }
}

/// What one thread keeps: for each class a chain of blocks, linked through their first bytes.
struct ThreadCache([Cell<Chain>; CLASSES]);

/// As many as a number of a class can be, so that no look at a chain is checked.
const CLASSES: usize = 1 << u8::BITS;

#[derive(Clone, Copy)]
struct Chain {
    first: Option<NonNull<u8>>,
    /// How many more blocks are kept here: none of a class that is not for threads.
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
        // SAFETY: `keep` put the next block's address at the start of this one, which is in no other use.
        let first = unsafe { block.cast::<Option<NonNull<u8>>>().read() };
        chain.set(Chain { first, room: room + 1 });
        Some(block)
    }

    #[inline]
    fn keep(&self, class: Class, block: NonNull<u8>) -> bool {
        let chain = &self.0[usize::from(class.0)];
        let Chain { first, room } = chain.get();
        let Some(room) = room.checked_sub(1) else { return false };
        // SAFETY: the block was given back, so it is in no other use, and it has at least one line.
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

/// Large blocks that nobody uses.
static SHELVED: Mutex<Shelf> = Mutex::new(Shelf { blocks: Vec::new(), idle: 0 });

struct Shelf {
    blocks: Vec<(Class, Block)>,
    idle: usize,
}

struct Block(NonNull<u8>);

// SAFETY: a block on the shelf is nobody's.
unsafe impl Send for Block {}

impl Shelf {
    /// The block that was used last is the one that the processor's caches still know.
    fn take(&mut self, class: Class) -> Option<NonNull<u8>> {
        let at = self.blocks.iter().rposition(|(kept, _)| *kept == class)?;
        self.idle -= class.capacity();
        Some(self.blocks.remove(at).1.0)
    }

    /// Makes room by giving up the blocks that were idle longest.
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
            // SAFETY: it was idle.
            unsafe { class.free(block.0) }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A block that goes back by itself.
    struct Lent(Class, NonNull<u8>);

    // SAFETY: a block that was taken is its owner's alone.
    unsafe impl Send for Lent {}

    impl Lent {
        fn take(size: usize) -> Self {
            let class = Class::of(size).unwrap();
            Self(class, class.take().unwrap())
        }
    }

    impl Drop for Lent {
        fn drop(&mut self) {
            // SAFETY: it was taken from this class, and goes nowhere else.
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
            // SAFETY: the block has that many bytes, and is nobody else's.
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
        // SAFETY: the block has that many bytes, and is nobody else's.
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
