//! The kernels that were launched last, for the error message after a kernel crashed.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::kernel::Kernel;

const MOST: usize = 8;

static LAST: [AtomicPtr<Kernel>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Records a launch of a kernel.
#[inline]
pub(crate) fn record(kernel: &'static Kernel) {
    let at = COUNT.fetch_add(1, Ordering::Relaxed) % MOST;
    LAST[at].store(std::ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
}

/// Returns the names of the kernels that were launched last, most recent first and without duplicates.
pub(crate) fn kernels() -> Vec<&'static str> {
    let count = COUNT.load(Ordering::Relaxed);
    let mut names = Vec::new();
    for launch in 1..=MOST.min(count) {
        let kernel = LAST[(count - launch) % MOST].load(Ordering::Relaxed).cast_const();
        let name =
            crate::kernel::registered().find(|known| std::ptr::eq(*known, kernel)).map(|known| known.source().name());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_launches_are_named_once_each_and_the_last_one_first() {
        let mut known = crate::kernel::registered();
        let (first, second) = (known.next().unwrap(), known.next().unwrap());
        for _ in 0..MOST {
            record(first);
            record(second);
        }
        assert_eq!(kernels(), [second.source().name(), first.source().name()]);
    }
}
