//! The kernels that were launched last, for the error message after a kernel crashed.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::kernel::Kernel;

const MAX_RECENT_KERNELS: usize = 8;

static RECENT_KERNELS: [AtomicPtr<Kernel>; MAX_RECENT_KERNELS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_RECENT_KERNELS];
static LAUNCH_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Records a launch of a kernel.
#[inline]
pub(crate) fn record_launch(kernel: &'static Kernel) {
    let at = LAUNCH_COUNT.fetch_add(1, Ordering::Relaxed) % MAX_RECENT_KERNELS;
    RECENT_KERNELS[at].store(std::ptr::from_ref(kernel).cast_mut(), Ordering::Relaxed);
}

/// Returns the names of the kernels that were launched last, most recent first and without duplicates.
pub(crate) fn recent_kernels() -> Vec<&'static str> {
    let count = LAUNCH_COUNT.load(Ordering::Relaxed);
    let mut names = Vec::new();
    for launch in 1..=MAX_RECENT_KERNELS.min(count) {
        let kernel = RECENT_KERNELS[(count - launch) % MAX_RECENT_KERNELS].load(Ordering::Relaxed).cast_const();
        let name = crate::kernel::registered_kernels()
            .find(|known| std::ptr::eq(*known, kernel))
            .map(|known| known.source().name());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_kernels_are_listed_once_and_the_last_comes_first() {
        let mut known = crate::kernel::registered_kernels();
        let (first, second) = (known.next().unwrap(), known.next().unwrap());
        for _ in 0..MAX_RECENT_KERNELS {
            record_launch(first);
            record_launch(second);
        }
        assert_eq!(recent_kernels(), [second.source().name(), first.source().name()]);
    }
}
