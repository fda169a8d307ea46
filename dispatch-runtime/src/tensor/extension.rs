//! Extensions: values that layers attach to tensors.
//!
//! A layer can attach one value of its own type to a tensor; the tensor knows only how to drop it. All clones of a tensor see the same
//! value. A tensor's body has room for one small value, which can be set while the tensor has a single handle. All other values are
//! allocated, in a linked list. A tensor without extensions pays only for unset words.

use std::any::{Any, TypeId};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::Tensor;
use crate::memory::{ALIGNMENT, Shared, SizeClass};

/// The extensions of a tensor: at most one small value inside of its body, and a list of all others, which only grows.
#[derive(Default)]
pub(super) struct Extensions {
    small: Option<InlineValue>,
    list: ExtensionList,
}

/// A small value that is stored inside of the tensor's body.
struct InlineValue {
    inline_type: &'static InlineType,
    value: MaybeUninit<InlineWords>,
}

type InlineWords = [usize; 2];

/// The type of an [`InlineValue`], and the function that drops it.
struct InlineType {
    type_id: TypeId,
    drop: unsafe fn(*mut InlineWords),
}

// SAFETY: only values that are `Send` and `Sync` are stored there.
unsafe impl Send for InlineValue {}
// SAFETY: as for `Send`.
unsafe impl Sync for InlineValue {}

impl InlineValue {
    const fn inline_type<T: Send + Sync + 'static>() -> &'static InlineType {
        const { &InlineType { type_id: TypeId::of::<T>(), drop: Self::drop_value::<T> } }
    }

    /// Drops a value of type `T` in place.
    ///
    /// # Safety
    ///
    /// `value` points at a `T` that nothing reaches any more.
    unsafe fn drop_value<T>(value: *mut InlineWords) {
        // SAFETY: the caller guarantees it.
        unsafe { value.cast::<T>().drop_in_place() }
    }

    const fn has_room_for<T>() -> bool {
        size_of::<T>() <= size_of::<InlineWords>() && align_of::<T>() <= align_of::<InlineWords>()
    }

    #[inline]
    fn new<T: Send + Sync + 'static>(value: T) -> Result<Self, T> {
        if !Self::has_room_for::<T>() {
            return Err(value);
        }
        let mut small = Self { inline_type: Self::inline_type::<T>(), value: MaybeUninit::uninit() };
        // SAFETY: the space is large enough and aligned, as checked above.
        unsafe { small.value.as_mut_ptr().cast::<T>().write(value) };
        Ok(small)
    }

    #[inline]
    fn get<T: 'static>(&self) -> Option<&T> {
        // SAFETY: a value of this type was written there.
        (self.inline_type.type_id == TypeId::of::<T>()).then(|| unsafe { &*self.value.as_ptr().cast::<T>() })
    }
}

impl Drop for InlineValue {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the type is that of the value, which nothing reaches any more.
        unsafe { (self.inline_type.drop)(self.value.as_mut_ptr()) }
    }
}

#[derive(Default)]
struct ExtensionList(AtomicPtr<ExtensionNodeHeader>);

/// The first fields of an [`ExtensionNode`]. They are the same for all types of values.
struct ExtensionNodeHeader {
    type_id: TypeId,
    /// Drops the node, and returns the next node.
    free_and_return_next: unsafe fn(NonNull<Self>) -> *mut Self,
    next: ExtensionList,
}

#[repr(C)]
struct ExtensionNode<T> {
    header: ExtensionNodeHeader,
    value: T,
}

impl<T: Send + Sync + 'static> ExtensionNode<T> {
    const SIZE_CLASS: SizeClass = {
        assert!(align_of::<Self>() <= ALIGNMENT, "blocks are aligned to 64 bytes");
        SizeClass::for_value(size_of::<Self>())
    };

    fn allocate(value: T) -> NonNull<ExtensionNodeHeader> {
        let Some(block) = Self::SIZE_CLASS.allocate() else {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<Self>())
        };
        let header = ExtensionNodeHeader {
            type_id: TypeId::of::<T>(),
            free_and_return_next: Self::free_and_return_next,
            next: ExtensionList::default(),
        };
        // SAFETY: the block is large enough and aligned, and has no other user.
        unsafe { block.cast::<Self>().write(Self { header, value }) };
        block.cast()
    }

    /// Drops a node and frees its block. Returns the next node.
    ///
    /// # Safety
    ///
    /// `header` came from [`allocate`](Self::allocate) for this `T`, and nothing reaches it any more.
    unsafe fn free_and_return_next(header: NonNull<ExtensionNodeHeader>) -> *mut ExtensionNodeHeader {
        // SAFETY: `allocate` wrote a node of this type there, into a block of this class.
        unsafe {
            let node = header.cast::<Self>().as_mut();
            let next = std::mem::replace(node.header.next.0.get_mut(), ptr::null_mut());
            ptr::drop_in_place(node);
            Self::SIZE_CLASS.free(header.cast());
            next
        }
    }
}

impl Extensions {
    #[inline]
    pub(super) fn get<T: 'static>(&self) -> Option<&T> {
        self.small.as_ref().and_then(InlineValue::get).or_else(|| self.list.get())
    }

    /// Stores a small value inside of the tensor's body. Returns it if it is too large, or if another value is there.
    #[inline]
    pub(super) fn set_inline<T: Send + Sync + 'static>(&mut self, value: T) -> Result<(), T> {
        if self.small.is_some() {
            return Err(value);
        }
        self.small = Some(InlineValue::new(value)?);
        Ok(())
    }

    /// Returns the value of type `T`, which `init` creates if there is none. If two threads create one, the first stays.
    #[inline]
    pub(super) fn get_or_init<T: Send + Sync + 'static>(&self, init: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let node = self.list.append(ExtensionNode::allocate(init()));
        // SAFETY: the node is of this type, and stays until the list is dropped.
        unsafe { &node.cast::<ExtensionNode<T>>().as_ref().value }
    }
}

impl ExtensionList {
    #[inline]
    fn get<T: 'static>(&self) -> Option<&T> {
        let mut list = self;
        loop {
            let header = NonNull::new(list.0.load(Ordering::Acquire))?;
            // SAFETY: a node is complete when it is published, and stays until the list is dropped.
            let found = unsafe { header.as_ref() };
            if found.type_id == TypeId::of::<T>() {
                // SAFETY: the node was made for a value of this type.
                return Some(unsafe { &header.cast::<ExtensionNode<T>>().as_ref().value });
            }
            list = &found.next;
        }
    }

    /// Appends a node, unless the list has a node of the same type. Returns the node of this type that is in the list.
    #[inline]
    fn append(&self, node: NonNull<ExtensionNodeHeader>) -> NonNull<ExtensionNodeHeader> {
        // SAFETY: nothing else has seen the node yet.
        let type_id = unsafe { node.as_ref() }.type_id;
        let mut list = self;
        loop {
            let result = list.0.compare_exchange(ptr::null_mut(), node.as_ptr(), Ordering::AcqRel, Ordering::Acquire);
            let Some(other) = result.err().and_then(NonNull::new) else { return node };
            // SAFETY: as in `get`: a published node stays until the list is dropped.
            let found = unsafe { other.as_ref() };
            if found.type_id == type_id {
                // SAFETY: the node was made by `ExtensionNode::allocate`, and was never published.
                unsafe { (node.as_ref().free_and_return_next)(node) };
                return other;
            }
            list = &found.next;
        }
    }
}

impl Drop for ExtensionList {
    #[inline]
    fn drop(&mut self) {
        let mut next = *self.0.get_mut();
        while let Some(header) = NonNull::new(next) {
            // SAFETY: the list is dropped, so nothing reaches its nodes any more; each was made by `ExtensionNode::allocate`.
            next = unsafe { (header.as_ref().free_and_return_next)(header) };
        }
    }
}

impl Tensor {
    /// Returns the value of type `T` that a layer attached to this tensor, if there is one.
    ///
    /// ```
    /// # use dispatch_runtime::Tensor;
    /// struct Label(&'static str);
    ///
    /// let t = Tensor::from_slice(&[0_i64]);
    /// t.extension_or_init(|| Label("input"));
    /// assert_eq!(t.clone().extension::<Label>().unwrap().0, "input");
    /// ```
    #[inline]
    #[must_use]
    pub fn extension<T: Any>(&self) -> Option<&T> {
        self.0.extensions.get()
    }

    /// Attaches a small value to a new tensor, inside of its body. Returns the value as an error if it is larger than two words, if the
    /// tensor has other handles, or if another small value is there. Such a value can be attached with
    /// [`extension_or_init`](Self::extension_or_init).
    ///
    /// ```
    /// # use dispatch_runtime::Tensor;
    /// let mut t = Tensor::from_slice(&[0_i64]);
    /// assert_eq!(t.set_extension("input"), Ok(()));
    /// assert_eq!(t.extension::<&str>(), Some(&"input"));
    /// let other = t.clone();
    /// assert_eq!(t.set_extension("output"), Err("output"));
    /// ```
    #[inline]
    pub fn set_extension<T: Any + Send + Sync>(&mut self, value: T) -> Result<(), T> {
        match Shared::get_mut(&mut self.0) {
            Some(body) => body.extensions.set_inline(value),
            None => Err(value),
        }
    }

    /// Drops the small value of type `T` inside of the tensor's body, unless the tensor has other handles. Returns whether it did.
    ///
    /// ```
    /// # use dispatch_runtime::Tensor;
    /// let mut t = Tensor::from_slice(&[0_i64]);
    /// t.set_extension("input").unwrap();
    /// assert!(t.drop_extension::<&str>() && t.extension::<&str>().is_none());
    /// ```
    pub fn drop_extension<T: Any>(&mut self) -> bool {
        let small = Shared::get_mut(&mut self.0).map(|body| &mut body.extensions.small);
        let dropped = small.and_then(|small| small.take_if(|small| small.get::<T>().is_some()));
        dropped.is_some()
    }

    /// Returns the value of type `T` that is attached to this tensor, which `init` creates if there is none.
    #[inline]
    pub fn extension_or_init<T: Any + Send + Sync>(&self, init: impl FnOnce() -> T) -> &T {
        self.0.extensions.get_or_init(init)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn extensions_of_different_types_are_separate() {
        let extensions = Extensions::default();
        assert_eq!(extensions.get::<u32>(), None);
        assert_eq!(*extensions.get_or_init(|| 1_u32), 1);
        assert_eq!(*extensions.get_or_init(|| "two"), "two");
        assert_eq!(*extensions.get_or_init(|| 3_u32), 1);
        assert_eq!(extensions.get::<&str>(), Some(&"two"));
    }

    #[test]
    fn only_one_small_value_is_stored_inline() {
        let counter = Arc::new(());
        let mut extensions = Extensions::default();
        assert_eq!(extensions.set_inline([0_u64; 3]), Err([0; 3]));
        assert!(extensions.set_inline((7_u32, counter.clone())).is_ok());
        assert!(extensions.set_inline("later").is_err());
        assert_eq!(extensions.get::<(u32, Arc<()>)>().map(|small| small.0), Some(7));
        assert_eq!(extensions.get::<u32>(), None);
        assert_eq!(*extensions.get_or_init(|| 1_u32), 1);
        assert_eq!(Arc::strong_count(&counter), 2);
        drop(extensions);
        assert_eq!(Arc::strong_count(&counter), 1);
    }

    #[test]
    fn every_value_is_dropped_once() {
        struct OtherType(#[expect(dead_code, reason = "only its reference count is read")] Arc<()>);
        let counter = Arc::new(());
        let extensions = Extensions::default();
        extensions.get_or_init(|| counter.clone());
        extensions.get_or_init(|| OtherType(counter.clone()));
        extensions.get_or_init(|| counter.clone());
        assert_eq!(Arc::strong_count(&counter), 3);
        drop(extensions);
        assert_eq!(Arc::strong_count(&counter), 1);
    }

    #[test]
    fn racing_threads_get_the_same_value() {
        let counter = Arc::new(());
        for _ in 0..200 {
            let extensions = Extensions::default();
            let seen: Vec<usize> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4_usize)
                    .map(|i| {
                        scope.spawn({
                            let (extensions, counter) = (&extensions, &counter);
                            move || extensions.get_or_init(|| (i, counter.clone())).0
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|&value| value == seen[0]));
        }
        assert_eq!(Arc::strong_count(&counter), 1);
    }
}
