//! A global allocator that counts the allocated bytes of the program.
#![expect(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct CountingAllocator(AtomicUsize);

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator(AtomicUsize::new(0));

pub(crate) fn allocated_bytes() -> usize {
    ALLOCATOR.0.load(Relaxed)
}

// SAFETY: all calls go to the system allocator; the counter does not affect them.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(layout.size(), Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(layout.size(), Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size(), Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.0.fetch_add(size, Relaxed);
        self.0.fetch_sub(layout.size(), Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(block, layout, size) }
    }
}
