//! What layers remember about a tensor.
//!
//! A layer keeps one value of a type of its own on each tensor it cares about; the tensor knows only how to drop it. All clones of
//! a tensor see the same value. A tensor that no layer cares about pays one unset word, and one that a layer does care about one block.

use std::any::TypeId;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::memory::Class;

/// The values of all layers: a list that only grows.
#[derive(Default)]
pub(super) struct Extensions(AtomicPtr<Header>);

/// What every node begins with, whatever its value.
struct Header {
    of: TypeId,
    /// Drops the node, and gives those behind it.
    release: unsafe fn(NonNull<Self>) -> *mut Self,
    next: Extensions,
}

#[repr(C)]
struct Node<T> {
    header: Header,
    value: T,
}

impl<T: Send + Sync + 'static> Node<T> {
    const CLASS: Option<Class> = {
        assert!(align_of::<Self>() <= 64, "blocks are aligned to 64 bytes");
        Class::of(size_of::<Self>())
    };

    fn leaked(value: T) -> NonNull<Header> {
        let Some(block) = Self::CLASS.and_then(Class::take) else {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<Self>())
        };
        let header = Header { of: TypeId::of::<T>(), release: Self::release, next: Extensions::default() };
        // SAFETY: the block is large enough and aligned, and nobody else's.
        unsafe { block.cast::<Self>().write(Self { header, value }) };
        block.cast()
    }

    /// Takes a node apart.
    ///
    /// # Safety
    ///
    /// `header` came from [`leaked`](Self::leaked) for this `T`, and nobody reaches it any more.
    unsafe fn release(header: NonNull<Header>) -> *mut Header {
        // SAFETY: it was written there as a node of this type, into a block of this class.
        unsafe {
            let node = header.cast::<Self>().as_mut();
            let next = std::mem::replace(node.header.next.0.get_mut(), ptr::null_mut());
            ptr::drop_in_place(node);
            if let Some(class) = Self::CLASS {
                class.give(header.cast());
            }
            next
        }
    }
}

impl Extensions {
    #[inline]
    pub(super) fn get<T: 'static>(&self) -> Option<&T> {
        let mut at = self;
        loop {
            let header = NonNull::new(at.0.load(Ordering::Acquire))?;
            // SAFETY: a node is published whole, and stays until the list is dropped.
            let found = unsafe { header.as_ref() };
            if found.of == TypeId::of::<T>() {
                // SAFETY: the node was made for a value of this type.
                return Some(unsafe { &header.cast::<Node<T>>().as_ref().value });
            }
            at = &found.next;
        }
    }

    /// The value of type `T`, made by `init` if there is none. Where two threads make one, the first stays.
    #[inline]
    pub(super) fn get_or_init<T: Send + Sync + 'static>(&self, init: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let node = self.add(Node::leaked(init()));
        // SAFETY: it is of this type, and stays until the list is dropped.
        unsafe { &node.cast::<Node<T>>().as_ref().value }
    }

    /// Puts a node at the end, unless one of its type is found on the way, and gives the one that is there now.
    #[inline]
    fn add(&self, node: NonNull<Header>) -> NonNull<Header> {
        // SAFETY: nobody else has seen the node yet.
        let of = unsafe { node.as_ref() }.of;
        let mut at = self;
        loop {
            let placed = at.0.compare_exchange(ptr::null_mut(), node.as_ptr(), Ordering::AcqRel, Ordering::Acquire);
            let Some(there) = placed.err().and_then(NonNull::new) else { return node };
            // SAFETY: as in `get`.
            let found = unsafe { there.as_ref() };
            if found.of == of {
                // SAFETY: it was made by `Node::leaked`, and is published nowhere.
                unsafe { (node.as_ref().release)(node) };
                return there;
            }
            at = &found.next;
        }
    }
}

impl Drop for Extensions {
    #[inline]
    fn drop(&mut self) {
        let mut next = *self.0.get_mut();
        while let Some(header) = NonNull::new(next) {
            // SAFETY: the list is dropped, so nobody reaches its nodes any more; each was made by `Node::leaked`.
            next = unsafe { (header.as_ref().release)(header) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn layers_do_not_see_each_others_values() {
        let slots = Extensions::default();
        assert_eq!(slots.get::<u32>(), None);
        assert_eq!(*slots.get_or_init(|| 1_u32), 1);
        assert_eq!(*slots.get_or_init(|| "two"), "two");
        assert_eq!(*slots.get_or_init(|| 3_u32), 1);
        assert_eq!(slots.get::<&str>(), Some(&"two"));
    }

    #[test]
    fn every_value_is_dropped_once() {
        struct Other(#[expect(dead_code, reason = "it is only counted")] Arc<()>);
        let witness = Arc::new(());
        let slots = Extensions::default();
        slots.get_or_init(|| witness.clone());
        slots.get_or_init(|| Other(witness.clone()));
        slots.get_or_init(|| witness.clone());
        assert_eq!(Arc::strong_count(&witness), 3);
        drop(slots);
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn racing_threads_agree_on_one_value() {
        let witness = Arc::new(());
        for _ in 0..200 {
            let slots = Extensions::default();
            let seen: Vec<usize> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4_usize)
                    .map(|i| {
                        scope.spawn({
                            let (slots, witness) = (&slots, &witness);
                            move || slots.get_or_init(|| (i, witness.clone())).0
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|&value| value == seen[0]));
        }
        assert_eq!(Arc::strong_count(&witness), 1);
    }
}
