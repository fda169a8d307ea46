//! A cell whose value can be removed while other threads use it.
//!
//! The cell counts the users of its value. After a removal there are no new users, and the last one drops the value. No thread waits. An
//! empty cell can take the next value.

use std::mem::ManuallyDrop;

use super::sync::{AtomicUsize, Ordering, UnsafeCell};

/// A value, the number of its users, and whether it was removed.
pub(crate) struct Retirable<T> {
    state: AtomicUsize,
    /// The number of earlier values of this cell.
    generation: AtomicUsize,
    value: UnsafeCell<ManuallyDrop<T>>,
}

/// The bit of `state` that is set once the value is removed. The low bits count users.
const RETIRED: usize = 1 << (usize::BITS - 1);
/// The bit of `state` that is set once the value is dropped as well.
const DROPPED: usize = RETIRED >> 1;

// SAFETY: users on several threads share the value, and any one of them may drop it.
unsafe impl<T: Send + Sync> Send for Retirable<T> {}
// SAFETY: users on several threads share the value, and any one of them may drop it.
unsafe impl<T: Send + Sync> Sync for Retirable<T> {}

impl<T> Retirable<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            state: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
            value: UnsafeCell::new(ManuallyDrop::new(value)),
        }
    }

    /// Stores the next value, if the last one was dropped. Otherwise returns the new value as the error.
    pub(crate) fn refill(&self, value: T) -> Result<(), T> {
        if self.state.compare_exchange(RETIRED | DROPPED, RETIRED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Err(value);
        }
        // SAFETY: the cell has no user, its last value was dropped, and the exchange succeeds in one thread only.
        self.value.with_mut(|place| unsafe { *place = ManuallyDrop::new(value) });
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.state.store(0, Ordering::Release);
        Ok(())
    }

    /// Returns the number of earlier values, which identifies the current value.
    pub(crate) fn generation(&self) -> usize {
        self.generation.load(Ordering::Relaxed)
    }

    /// Calls `f` with the value, if it is the value of this generation. Otherwise returns `None`.
    pub(crate) fn with_generation<R>(&self, generation: usize, f: impl FnOnce(&T) -> R) -> Option<R> {
        // The value cannot change while `with` counts this use.
        self.with(|value| (self.generation() == generation).then(|| f(value))).flatten()
    }

    /// Calls `f` with the value, or returns `None` if the value was removed.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        let _use = self.begin_use()?;
        // SAFETY: the value is dropped only by the last use that ends after the removal, and `_use` has not ended.
        Some(self.value.with(|value| f(unsafe { &*value })))
    }

    /// Removes the value. A second removal has no effect.
    pub(crate) fn retire(&self) {
        if self.state.fetch_or(RETIRED, Ordering::AcqRel) == 0 {
            self.drop_value();
        }
    }

    fn begin_use(&self) -> Option<UseGuard<'_, T>> {
        let mut state = self.state.load(Ordering::Relaxed);
        while state & RETIRED == 0 {
            match self.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(UseGuard(self)),
                Err(now) => state = now,
            }
        }
        // This load synchronizes with the removal: a caller that finds no value sees what was published before the removal.
        self.state.load(Ordering::Acquire);
        None
    }

    fn drop_value(&self) {
        // SAFETY: no user can enter a retired cell, and the count was zero. So no user is left, and this happens once.
        self.value.with_mut(|value| unsafe { ManuallyDrop::drop(&mut *value) });
        self.state.fetch_or(DROPPED, Ordering::Release);
    }
}

/// One use of the value. It ends when this is dropped, also during a panic.
struct UseGuard<'a, T>(&'a Retirable<T>);

impl<T> Drop for UseGuard<'_, T> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(1, Ordering::AcqRel) == RETIRED | 1 {
            self.0.drop_value();
        }
    }
}

impl<T> Drop for Retirable<T> {
    fn drop(&mut self) {
        self.retire();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_retired_value_lives_until_its_last_use_ends() {
        let alive = Arc::new(());
        let retirable = Retirable::new(alive.clone());
        retirable.with(|_| {
            retirable.retire();
            assert_eq!(Arc::strong_count(&alive), 2);
        });
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(retirable.with(|_| ()).is_none());
    }

    #[test]
    fn only_an_empty_cell_can_be_refilled() {
        let alive = Arc::new(());
        let retirable = Retirable::new(alive.clone());
        assert!(retirable.refill(alive.clone()).is_err(), "the value was not removed");
        let first = retirable.generation();
        retirable.with(|_| {
            retirable.retire();
            assert!(retirable.refill(alive.clone()).is_err(), "the value is in use");
        });
        assert!(retirable.refill(alive.clone()).is_ok());
        assert!(retirable.with_generation(first, |_| ()).is_none());
        assert!(retirable.with_generation(retirable.generation(), |_| ()).is_some());
        drop(retirable);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_panic_ends_the_use() {
        let alive = Arc::new(());
        let retirable = Retirable::new(alive.clone());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| retirable.with(|_| panic!("inside"))));
        assert!(panicked.is_err());
        retirable.retire();
        retirable.retire();
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::operator::sync::{PUBLISH_ORDERING, READ_ORDERING};
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize as Count;

    struct DropCounter(Arc<Count>);

    impl Drop for DropCounter {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_retired_value_is_dropped_exactly_once_and_never_used_after() {
        loom::model(|| {
            let drops = Arc::new(Count::new(0));
            let retirable = Arc::new(Retirable::new(DropCounter(drops.clone())));
            let users: Vec<_> = (0..2)
                .map(|_| {
                    let retirable = retirable.clone();
                    loom::thread::spawn(move || retirable.with(|value| assert_eq!(value.0.load(Ordering::SeqCst), 0)))
                })
                .collect();
            retirable.retire();
            for user in users {
                user.join().unwrap();
            }
            assert_eq!(drops.load(Ordering::SeqCst), 1);
        });
    }

    #[test]
    fn a_user_of_a_refilled_cell_reads_a_live_value() {
        loom::model(|| {
            let drops = Arc::new(Count::new(0));
            let retirable = Arc::new(Retirable::new(DropCounter(drops.clone())));
            let user = {
                let retirable = retirable.clone();
                loom::thread::spawn(move || {
                    retirable.with(|value| value.0.load(Ordering::SeqCst));
                })
            };
            retirable.retire();
            let refilled = retirable.refill(DropCounter(drops.clone())).is_ok();
            user.join().unwrap();
            // A value that the cell did not accept was dropped at once.
            assert_eq!(drops.load(Ordering::SeqCst), if refilled { 1 } else { 2 });
            drop(retirable);
            assert_eq!(drops.load(Ordering::SeqCst), 2);
        });
    }

    /// A model of an operator and the registry, reduced to the state that calls and registrations share.
    struct OperatorModel {
        published: loom::sync::atomic::AtomicPtr<KernelSnapshot>,
        registry: loom::sync::Mutex<RegistryModel>,
    }

    /// The cell lets loom detect a read before the write.
    type KernelSnapshot = UnsafeCell<Arc<Retirable<u32>>>;

    struct RegistryModel {
        kernels: Vec<Arc<Retirable<u32>>>,
        /// Snapshots are not freed while calls run, like tables.
        snapshots: Vec<Box<KernelSnapshot>>,
    }

    impl OperatorModel {
        fn call(&self) -> u32 {
            // A call can find a removed kernel at most once per removal. There is one removal, so the second attempt must succeed.
            for _ in 0..2 {
                let published = self.published.load(READ_ORDERING);
                // SAFETY: the pointer is null or one of `snapshots`, as in `Operator::published_table`.
                let snapshot = unsafe { published.as_ref() }.unwrap_or_else(|| self.bind());
                // SAFETY: the snapshot was written before it was published.
                let kernel = snapshot.with(|kernel| unsafe { (*kernel).clone() });
                if let Some(value) = kernel.with(|value| *value) {
                    return value;
                }
            }
            panic!("a table that was published after the removal contains the removed kernel");
        }

        fn bind(&self) -> &KernelSnapshot {
            let mut registry = self.registry.lock().unwrap();
            let newest = registry.kernels.last().expect("one kernel is never removed").clone();
            registry.snapshots.push(Box::new(UnsafeCell::new(newest)));
            let snapshot: *mut KernelSnapshot = &raw mut **registry.snapshots.last_mut().expect("just pushed");
            self.published.store(snapshot, PUBLISH_ORDERING);
            // SAFETY: `snapshots` keeps the snapshot alive.
            unsafe { &*snapshot }
        }

        fn remove_newest(&self) {
            let removed = {
                let mut registry = self.registry.lock().unwrap();
                self.published.store(std::ptr::null_mut(), PUBLISH_ORDERING);
                registry.kernels.pop().expect("it was registered")
            };
            removed.retire();
        }
    }

    /// The number of preemptions is bounded, because the unbounded test takes a minute.
    #[test]
    fn a_call_whose_kernel_was_removed_finds_the_next_table() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let kernels = vec![Arc::new(Retirable::new(1)), Arc::new(Retirable::new(2))];
            let row = Arc::new(OperatorModel {
                published: loom::sync::atomic::AtomicPtr::new(std::ptr::null_mut()),
                registry: loom::sync::Mutex::new(RegistryModel { kernels, snapshots: Vec::new() }),
            });
            row.bind();
            let caller = {
                let row = row.clone();
                loom::thread::spawn(move || assert!([1, 2].contains(&row.call())))
            };
            row.remove_newest();
            assert_eq!(row.call(), 1);
            caller.join().unwrap();
        });
    }
}
