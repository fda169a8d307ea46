//! The queues that use a block of memory, and the order of their reads and writes.
//!
//! Most blocks are used by one queue: one comparison finds that out. If several queues use a block, a read waits for the last write, a
//! write waits for all earlier uses, and the memory is reused after all of them. So reads in different queues do not wait for each other.
//!
//! A block is entered before the work on it is launched, and another thread may enter in between. So a writer enters again after its
//! launch: later readers wait for that launch, and calls that are ordered on the CPU are ordered on the device. Concurrent calls have no
//! order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::device::machine::Queue;
use crate::error::CudaError;
use crate::lock::locked;

/// The kind of access that a queue enters a block for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The queues that use a block.
#[derive(Debug)]
pub(crate) struct StreamUses {
    /// The queue that may access the block without waiting, or [`SEVERAL`].
    only: AtomicUsize,
    several: Mutex<Several>,
}

/// The value of `only` if several queues use the block. No queue has this number.
pub(crate) const SEVERAL: Queue = 0;

#[derive(Default, Debug)]
struct Several {
    /// The queue that wrote last.
    writer: Queue,
    /// The queue that wrote last, and the queues whose later work comes after that write.
    after: Vec<Queue>,
    /// All queues that ever entered, except the first.
    others: Vec<Queue>,
}

impl StreamUses {
    /// Creates the uses of a block that was just allocated in a queue.
    pub(crate) fn new(queue: Queue) -> Self {
        Self { only: AtomicUsize::new(queue), several: Mutex::default() }
    }

    /// Whether a queue may access the block without waiting for other queues.
    #[inline]
    pub(crate) fn is_only(&self, queue: Queue) -> bool {
        self.only.load(Ordering::Acquire) == queue
    }

    /// Orders later work of a queue after the accesses that it must follow. `order` makes the device wait for the given queues.
    #[cold]
    pub(crate) fn enter(
        &self,
        queue: Queue,
        access: Access,
        order: impl FnOnce(&[Queue]) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let mut several = locked(&self.several);
        let several = &mut *several;
        let only = self.only.load(Ordering::Acquire);
        if only == queue {
            return Ok(());
        }
        if only != SEVERAL {
            (several.writer, several.after) = (only, vec![only]);
            self.only.store(SEVERAL, Ordering::Release);
        }
        let comes_after = several.after.contains(&queue);
        if !several.others.contains(&queue) {
            several.others.push(queue);
        }
        match access {
            Access::Read if comes_after => {}
            Access::Read => {
                order(&[several.writer])?;
                several.after.push(queue);
            }
            Access::Write => {
                several.after.retain(|after| *after != queue);
                order(&several.after)?;
                several.after.clear();
                self.only.store(queue, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Takes the list of the queues that entered, without `queue`. Called when the block can no longer be entered.
    pub(crate) fn others(&self, queue: Queue) -> Vec<Queue> {
        let mut several = locked(&self.several);
        several.others.retain(|other| *other != queue);
        std::mem::take(&mut several.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the queues that a queue waits for when it enters.
    fn waits(uses: &StreamUses, queue: Queue, access: Access) -> Vec<Queue> {
        let mut waited = Vec::new();
        if !uses.is_only(queue) {
            let follow = |queues: &[Queue]| {
                waited.extend_from_slice(queues);
                Ok(())
            };
            uses.enter(queue, access, follow).unwrap();
        }
        waited
    }

    use Access::{Read, Write};

    #[test]
    fn one_queue_waits_for_nothing() {
        let uses = StreamUses::new(1);
        for access in [Read, Write, Read] {
            assert_eq!(waits(&uses, 1, access), []);
        }
    }

    #[test]
    fn readers_wait_for_the_last_write_once_and_not_for_each_other() {
        let uses = StreamUses::new(1);
        assert_eq!(waits(&uses, 2, Read), [1]);
        assert_eq!(waits(&uses, 3, Read), [1]);
        for queue in [1, 2, 3, 2, 1] {
            assert_eq!(waits(&uses, queue, Read), []);
        }
    }

    #[test]
    fn a_write_waits_for_all_readers_and_everybody_for_it() {
        let uses = StreamUses::new(1);
        waits(&uses, 2, Read);
        waits(&uses, 3, Read);
        assert_eq!(waits(&uses, 2, Write), [1, 3]);
        assert_eq!(waits(&uses, 2, Read), []);
        assert_eq!(waits(&uses, 1, Read), [2]);
        assert_eq!(waits(&uses, 3, Write), [2, 1]);
        assert_eq!(uses.others(1), [2, 3]);
    }

    #[test]
    fn who_entered_while_a_write_was_launched_waits_for_it_the_next_time() {
        let uses = StreamUses::new(1);
        // Queue 2 enters between the first `enter` of queue 1 and its launch.
        assert_eq!(waits(&uses, 1, Write), []);
        assert_eq!(waits(&uses, 2, Read), [1]);
        // Now queue 1 has launched its write, and enters again.
        assert_eq!(waits(&uses, 1, Write), [2]);
        assert_eq!(waits(&uses, 2, Read), [1]);
        assert_eq!(waits(&uses, 2, Read), []);
    }
}
