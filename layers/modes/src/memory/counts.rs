//! Counts of allocated and freed memory, by operator.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::Name;

use crate::text_table;

/// The counts of one mode, shared with the callbacks that run when its memory is freed.
#[derive(Clone, Default)]
pub(super) struct SharedMemoryCounts(Arc<Mutex<MemoryCounts>>);

impl SharedMemoryCounts {
    pub(super) fn lock(&self) -> MutexGuard<'_, MemoryCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Default)]
pub(super) struct MemoryCounts {
    /// The identities of the storages that are allocated.
    alive: BTreeSet<usize>,
    /// The counts of each operator. The key `None` is for memory that no operator allocated.
    by_operator: BTreeMap<Option<Name<'static>>, AllocationCounts>,
    pub(super) current: u64,
    pub(super) peak: u64,
}

/// The memory that the calls of one operator allocated.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{AllocationCounts, Memory, enter};
/// use dispatch_runtime::Tensor;
///
/// let memory = enter(Memory::new());
/// Tensor::from([1.0_f32, 2.0]).exp().unwrap();
/// assert_eq!(memory.of_operator("aten::exp"), AllocationCounts { blocks: 1, bytes: 8, freed: 8 });
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct AllocationCounts {
    /// The number of blocks of memory.
    pub blocks: u64,
    /// The total size of these blocks in bytes.
    pub bytes: u64,
    /// The number of these bytes that were freed.
    pub freed: u64,
}

impl MemoryCounts {
    pub(super) fn of_operator(&self, operator: Option<Name<'_>>) -> AllocationCounts {
        self.by_operator.get(&operator).copied().unwrap_or_default()
    }

    /// Adds a storage. Returns whether it was not counted before.
    pub(super) fn add_storage(&mut self, identity: usize, bytes: u64, operator: Option<Name<'static>>) -> bool {
        if !self.alive.insert(identity) {
            return false;
        }
        let counts = self.by_operator.entry(operator).or_default();
        (counts.blocks, counts.bytes) = (counts.blocks + 1, counts.bytes + bytes);
        self.current += bytes;
        self.peak = self.peak.max(self.current);
        true
    }

    pub(super) fn remove_storage(&mut self, identity: usize, bytes: u64, operator: Option<Name<'static>>) {
        self.alive.remove(&identity);
        self.by_operator.entry(operator).or_default().freed += bytes;
        self.current -= bytes;
    }
}

impl fmt::Display for SharedMemoryCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The counts are copied, because the formatter may be any code and read these counts, too.
        let MemoryCounts { by_operator, current, peak, .. } = self.lock().clone();
        let mut by_operator: Vec<_> = by_operator.into_iter().collect();
        by_operator.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.bytes));
        let bytes = |bytes| text_table::format_scaled(bytes, "B");
        let rows = by_operator.into_iter().map(|(operator, AllocationCounts { blocks, bytes: allocated, freed })| {
            let operator = operator.map_or_else(|| "no operator".to_owned(), |name| name.to_string());
            vec![operator, blocks.to_string(), bytes(allocated), bytes(freed), bytes(allocated - freed)]
        });
        text_table::write_table(f, &["operator", "blocks", "bytes", "freed", "in use"], &rows.collect::<Vec<_>>())?;
        write!(f, "\n{} in use, {} at the peak", bytes(current), bytes(peak))
    }
}
