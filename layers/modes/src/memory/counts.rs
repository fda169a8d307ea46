//! Counts of allocated and freed memory, by operator.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::Name;

use crate::text_table;

/// The counts of one mode, shared with the callbacks that run when its memory is freed.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Tally>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Default)]
pub(super) struct Tally {
    /// The identities of the storages that are allocated.
    alive: BTreeSet<usize>,
    /// The counts of each operator. The key `None` is for memory that no operator allocated.
    by: BTreeMap<Option<Name<'static>>, Made>,
    pub(super) current: u64,
    pub(super) peak: u64,
}

/// The memory that the calls of one operator allocated.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Made, Memory, enter};
/// use dispatch_runtime::Tensor;
///
/// let memory = enter(Memory::new());
/// Tensor::from([1.0_f32, 2.0]).exp().unwrap();
/// assert_eq!(memory.of("aten::exp"), Made { blocks: 1, bytes: 8, freed: 8 });
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Made {
    /// The number of blocks of memory.
    pub blocks: u64,
    /// The total size of these blocks in bytes.
    pub bytes: u64,
    /// The number of these bytes that were freed.
    pub freed: u64,
}

impl Tally {
    pub(super) fn of(&self, maker: Option<Name<'_>>) -> Made {
        self.by.get(&maker).copied().unwrap_or_default()
    }

    /// Adds a storage. Returns whether it was not counted before.
    pub(super) fn add(&mut self, identity: usize, bytes: u64, maker: Option<Name<'static>>) -> bool {
        if !self.alive.insert(identity) {
            return false;
        }
        let made = self.by.entry(maker).or_default();
        (made.blocks, made.bytes) = (made.blocks + 1, made.bytes + bytes);
        self.current += bytes;
        self.peak = self.peak.max(self.current);
        true
    }

    pub(super) fn remove(&mut self, identity: usize, bytes: u64, maker: Option<Name<'static>>) {
        self.alive.remove(&identity);
        self.by.entry(maker).or_default().freed += bytes;
        self.current -= bytes;
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The counts are copied, because the formatter may be any code and read these counts, too.
        let Tally { by, current, peak, .. } = self.lock().clone();
        let mut by: Vec<_> = by.into_iter().collect();
        by.sort_by_key(|(_, made)| std::cmp::Reverse(made.bytes));
        let bytes = |bytes| text_table::scaled(bytes, "B");
        let rows = by.into_iter().map(|(maker, Made { blocks, bytes: made, freed })| {
            let maker = maker.map_or_else(|| "no operator".to_owned(), |name| name.to_string());
            vec![maker, blocks.to_string(), bytes(made), bytes(freed), bytes(made - freed)]
        });
        text_table::write(f, &["made by", "blocks", "bytes", "freed", "alive"], &rows.collect::<Vec<_>>())?;
        write!(f, "\n{} alive, {} at most", bytes(current), bytes(peak))
    }
}
