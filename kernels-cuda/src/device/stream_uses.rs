//! The streams that use a block of memory, and the order of their reads and writes.
//!
//! Most blocks are used by one stream: one comparison finds that out. If several streams use a block, a read waits for the last write, a
//! write waits for all earlier uses, and the memory is reused after all of them. So reads in different streams do not wait for each other.
//!
//! An access is ordered before its work is launched, and another thread may access the block in between. So a writer orders its access
//! again after its launch: later readers wait for that launch, and calls that are ordered on the CPU are ordered on the device. Concurrent
//! calls have no order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::device::driver::StreamHandle;
use crate::error::CudaError;
use crate::lock::lock_ignoring_poison;

/// The kind of a stream's access to a block of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The streams that use a block of memory.
#[derive(Debug)]
pub(crate) struct StreamUses {
    /// The stream that may access the block without waiting, or [`NO_SOLE_STREAM`].
    sole_stream: AtomicUsize,
    shared: Mutex<SharedUses>,
}

/// The value of `sole_stream` if several streams use the block. No stream has this number.
pub(crate) const NO_SOLE_STREAM: StreamHandle = 0;

#[derive(Default, Debug)]
struct SharedUses {
    /// The stream that wrote last.
    writer: StreamHandle,
    /// The stream that wrote last, and the streams whose later work comes after that write.
    ordered_after_write: Vec<StreamHandle>,
    /// All streams that ever used the block, except the first.
    others: Vec<StreamHandle>,
}

impl StreamUses {
    /// Creates the uses of a block that was just allocated in a stream.
    pub(crate) fn new(stream: StreamHandle) -> Self {
        Self { sole_stream: AtomicUsize::new(stream), shared: Mutex::default() }
    }

    /// Whether a stream may access the block without waiting for other streams.
    #[inline]
    pub(crate) fn is_sole_stream(&self, stream: StreamHandle) -> bool {
        self.sole_stream.load(Ordering::Acquire) == stream
    }

    /// Orders later work of a stream after the accesses that it must follow. `order` makes the device wait for the given streams.
    #[cold]
    pub(crate) fn order_access(
        &self,
        stream: StreamHandle,
        access: Access,
        order: impl FnOnce(&[StreamHandle]) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let mut shared = lock_ignoring_poison(&self.shared);
        let shared = &mut *shared;
        let sole_stream = self.sole_stream.load(Ordering::Acquire);
        if sole_stream == stream {
            return Ok(());
        }
        if sole_stream != NO_SOLE_STREAM {
            (shared.writer, shared.ordered_after_write) = (sole_stream, vec![sole_stream]);
            self.sole_stream.store(NO_SOLE_STREAM, Ordering::Release);
        }
        let is_ordered = shared.ordered_after_write.contains(&stream);
        if !shared.others.contains(&stream) {
            shared.others.push(stream);
        }
        match access {
            Access::Read if is_ordered => {}
            Access::Read => {
                order(&[shared.writer])?;
                shared.ordered_after_write.push(stream);
            }
            Access::Write => {
                shared.ordered_after_write.retain(|after| *after != stream);
                order(&shared.ordered_after_write)?;
                shared.ordered_after_write.clear();
                self.sole_stream.store(stream, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Takes the list of the streams that used the block, without `stream`. Called when no stream can use the block any more.
    pub(crate) fn take_streams_except(&self, stream: StreamHandle) -> Vec<StreamHandle> {
        let mut shared = lock_ignoring_poison(&self.shared);
        shared.others.retain(|other| *other != stream);
        std::mem::take(&mut shared.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the streams that a stream waits for before an access to the block.
    fn streams_waited_for(uses: &StreamUses, stream: StreamHandle, access: Access) -> Vec<StreamHandle> {
        let mut waited = Vec::new();
        if !uses.is_sole_stream(stream) {
            let follow = |streams: &[StreamHandle]| {
                waited.extend_from_slice(streams);
                Ok(())
            };
            uses.order_access(stream, access, follow).unwrap();
        }
        waited
    }

    use Access::{Read, Write};

    #[test]
    fn a_sole_stream_never_waits() {
        let uses = StreamUses::new(1);
        for access in [Read, Write, Read] {
            assert_eq!(streams_waited_for(&uses, 1, access), []);
        }
    }

    #[test]
    fn readers_wait_for_the_last_write_once_and_not_for_each_other() {
        let uses = StreamUses::new(1);
        assert_eq!(streams_waited_for(&uses, 2, Read), [1]);
        assert_eq!(streams_waited_for(&uses, 3, Read), [1]);
        for stream in [1, 2, 3, 2, 1] {
            assert_eq!(streams_waited_for(&uses, stream, Read), []);
        }
    }

    #[test]
    fn a_write_waits_for_all_readers_and_later_accesses_wait_for_it() {
        let uses = StreamUses::new(1);
        streams_waited_for(&uses, 2, Read);
        streams_waited_for(&uses, 3, Read);
        assert_eq!(streams_waited_for(&uses, 2, Write), [1, 3]);
        assert_eq!(streams_waited_for(&uses, 2, Read), []);
        assert_eq!(streams_waited_for(&uses, 1, Read), [2]);
        assert_eq!(streams_waited_for(&uses, 3, Write), [2, 1]);
        assert_eq!(uses.take_streams_except(1), [2, 3]);
    }

    #[test]
    fn a_writer_waits_for_a_stream_that_used_the_block_during_its_launch() {
        let uses = StreamUses::new(1);
        // Stream 2 reads between the first `order_access` of stream 1 and the launch of stream 1.
        assert_eq!(streams_waited_for(&uses, 1, Write), []);
        assert_eq!(streams_waited_for(&uses, 2, Read), [1]);
        // Now stream 1 has launched its write, and orders its access again.
        assert_eq!(streams_waited_for(&uses, 1, Write), [2]);
        assert_eq!(streams_waited_for(&uses, 2, Read), [1]);
        assert_eq!(streams_waited_for(&uses, 2, Read), []);
    }
}
