//! Which queues use a block of memory, and what waits for what.
//!
//! Most blocks are one queue's: a compare tells. Where several use one, readers wait for the last write, a write waits for everybody, and
//! the memory is lent again when all are done. So readers in different queues do not wait for each other.
//!
//! A block is entered before the work on it is launched, and another thread may come in between. So whoever writes enters again when it is
//! launched: who reads from then on waits for that, and calls that come after each other on the CPU do so on the device. Those that are
//! made at the same time have no order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::device::machine::Queue;
use crate::error::CudaError;
use crate::lock::locked;

/// What a queue enters for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The queues of a block.
#[derive(Debug)]
pub(crate) struct StreamUses {
    /// The one that may do anything, or [`SEVERAL`].
    only: AtomicUsize,
    several: Mutex<Several>,
}

/// No queue has this number.
pub(crate) const SEVERAL: Queue = 0;

#[derive(Default, Debug)]
struct Several {
    /// Who wrote last.
    writer: Queue,
    /// Who comes after the last write, and the writer.
    after: Vec<Queue>,
    /// All that ever entered, but the first.
    others: Vec<Queue>,
}

impl StreamUses {
    /// Of a block that was just allocated in a queue.
    pub(crate) fn new(queue: Queue) -> Self {
        Self { only: AtomicUsize::new(queue), several: Mutex::default() }
    }

    /// Whether a queue may do anything without waiting for others.
    #[inline]
    pub(crate) fn is_only(&self, queue: Queue) -> bool {
        self.only.load(Ordering::Acquire) == queue
    }

    /// Lets later work of a queue come after what it has to; `order` says so to the device.
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

    /// All that entered, but this one, where nobody can enter any more.
    pub(crate) fn others(&self, queue: Queue) -> Vec<Queue> {
        let mut several = locked(&self.several);
        several.others.retain(|other| *other != queue);
        std::mem::take(&mut several.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a queue waits for when it enters.
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
        // Queue 2 comes between.
        assert_eq!(waits(&uses, 1, Write), []);
        assert_eq!(waits(&uses, 2, Read), [1]);
        // Now it is launched.
        assert_eq!(waits(&uses, 1, Write), [2]);
        assert_eq!(waits(&uses, 2, Read), [1]);
        assert_eq!(waits(&uses, 2, Read), []);
    }
}
