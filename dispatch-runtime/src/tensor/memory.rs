//! Blocks of memory that the CPU can address.
//!
//! Asking the system for a block is slow, and its first use slower still, because the system hands out pages one fault at a time. So a
//! block that is given back is kept and lent again: a small one by the thread that gave it back, without a lock; a large one by a
//! shelf that all threads share. Blocks come in sizes a quarter of a doubling apart, start zeroed, and are aligned for any vector
//! instruction. One that was lent before holds whatever its last tensor held: arbitrary, but never uninitialised.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

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

/// A cache line, and the widest vector register there is.
const ALIGNMENT: usize = 64;
/// Sizes up to 64 KiB: what a thread keeps for itself.
const THREAD_CLASSES: usize = 37;
/// How many blocks of one size a thread keeps.
const KEPT: u32 = 32;
/// How many idle bytes the shelf keeps.
const SHELF: usize = 512 << 20;

/// A size of block: a power of two of cache lines, and up to three quarters more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Class(u8);

impl Class {
    /// A block of this size, whatever it holds. None where the system has no more.
    #[inline]
    pub(super) fn take(self) -> Option<NonNull<u8>> {
        let kept = self.thread_list().and_then(|list| THREAD.try_with(|cache| cache.take(list)).ok().flatten());
        kept.or_else(|| self.shelved_or_new())
    }

    /// Gives a block back.
    ///
    /// # Safety
    ///
    /// It was taken from this class, and nobody uses it any more.
    #[inline]
    pub(super) unsafe fn give(self, block: NonNull<u8>) {
        let keep = |list| THREAD.try_with(|cache| cache.keep(list, block)).unwrap_or(false);
        if !self.thread_list().is_some_and(keep) {
            self.shelve_or_free(block);
        }
    }

    /// The smallest one that holds `size` bytes.
    #[inline]
    pub(super) const fn of(size: usize) -> Option<Self> {
        let lines = size.div_ceil(ALIGNMENT);
        if lines <= 4 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 4")]
            return Some(Self(lines as u8));
        }
        // The system gives no block that is larger than half of the address space.
        if size > (isize::MAX as usize) / 2 {
            return None;
        }
        let double = (lines - 1).ilog2();
        let quarter = (lines - 1) >> (double - 2) & 3;
        #[expect(clippy::cast_possible_truncation, reason = "less than four times 64")]
        Some(Self((double as usize * 4 - 4 + quarter + 1) as u8))
    }

    /// How many bytes a block has.
    fn capacity(self) -> usize {
        match usize::from(self.0) {
            0 => ALIGNMENT,
            class @ 1..=4 => class * ALIGNMENT,
            class => {
                let (double, quarter) = ((class - 1) / 4 + 1, (class - 1) % 4);
                (1_usize << double).saturating_add((quarter + 1) << (double - 2)).saturating_mul(ALIGNMENT)
            }
        }
    }

    #[inline]
    fn thread_list(self) -> Option<usize> {
        let list = usize::from(self.0);
        (list < THREAD_CLASSES).then_some(list)
    }

    fn layout(self) -> Option<Layout> {
        Layout::from_size_align(self.capacity(), ALIGNMENT).ok()
    }

    #[cold]
    fn shelved_or_new(self) -> Option<NonNull<u8>> {
        let shelved = SHELVED.lock().unwrap_or_else(PoisonError::into_inner).take(self);
        shelved.or_else(|| {
            // SAFETY: the layout has at least one line.
            NonNull::new(unsafe { alloc_zeroed(self.layout()?) })
        })
    }

    #[cold]
    fn shelve_or_free(self, block: NonNull<u8>) {
        if self.thread_list().is_none() && SHELVED.lock().unwrap_or_else(PoisonError::into_inner).keep(self, block) {
            return;
        }
        if let Some(layout) = self.layout() {
            // SAFETY: blocks of this class were allocated with this layout.
            unsafe { dealloc(block.as_ptr(), layout) }
        }
    }
}

/// What one thread keeps: for each class a chain of blocks, linked through their first bytes.
struct ThreadCache([Cell<Chain>; THREAD_CLASSES]);

#[derive(Clone, Copy)]
struct Chain {
    first: Option<NonNull<u8>>,
    length: u32,
}

thread_local! {
    static THREAD: ThreadCache = const { ThreadCache([const { Cell::new(Chain { first: None, length: 0 }) }; THREAD_CLASSES]) };
}

impl ThreadCache {
    #[inline]
    fn take(&self, list: usize) -> Option<NonNull<u8>> {
        let chain = self.0[list].get();
        let block = chain.first?;
        // SAFETY: `keep` put the next block's address at the start of this one, which is nobody else's.
        let first = unsafe { block.cast::<Option<NonNull<u8>>>().read() };
        self.0[list].set(Chain { first, length: chain.length - 1 });
        Some(block)
    }

    #[inline]
    fn keep(&self, list: usize, block: NonNull<u8>) -> bool {
        let chain = self.0[list].get();
        if chain.length >= KEPT {
            return false;
        }
        // SAFETY: the block was given back, so it is nobody else's, and it has at least one line.
        unsafe { block.cast::<Option<NonNull<u8>>>().write(chain.first) };
        self.0[list].set(Chain { first: Some(block), length: chain.length + 1 });
        true
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        for (list, class) in (0..THREAD_CLASSES).zip(0_u8..) {
            while let Some(block) = self.take(list) {
                Class(class).shelve_or_free(block);
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
            if let Some(layout) = class.layout() {
                // SAFETY: as in `shelve_or_free`.
                unsafe { dealloc(block.0.as_ptr(), layout) }
            }
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
        assert_eq!(Lent::take(900).1, address);
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
            prop_assert_eq!(Class::of(class.capacity()), Some(if size == 0 { Class(1) } else { class }));
        }
    }

    #[test]
    fn threads_keep_blocks_of_up_to_64_kib() {
        assert_eq!(Class::of(64 << 10).unwrap().thread_list(), Some(THREAD_CLASSES - 1));
        assert_eq!(Class::of((64 << 10) + 1).unwrap().thread_list(), None);
    }

    #[test]
    fn what_no_address_space_holds_has_no_class() {
        assert_eq!(Class::of(usize::MAX), None);
        assert_eq!(Class::of(isize::MAX as usize), None);
    }
}
