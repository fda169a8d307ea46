//! What is alive, and who made it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::Name;

use crate::text_table;

/// One tally, of a mode and of all memory that it follows.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Tally>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Default)]
pub(super) struct Tally {
    /// The identities of what lives.
    alive: BTreeSet<usize>,
    /// None is what no operator made.
    by: BTreeMap<Option<Name<'static>>, Made>,
    pub(super) current: u64,
    pub(super) peak: u64,
}

/// What one operator made.
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
    /// How many blocks of memory.
    pub blocks: u64,
    /// How many bytes they had in all.
    pub bytes: u64,
    /// How many of these bytes were freed.
    pub freed: u64,
}

impl Tally {
    pub(super) fn of(&self, maker: Option<Name<'_>>) -> Made {
        self.by.get(&maker).copied().unwrap_or_default()
    }

    /// Whether it was not there before.
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
        // Who is written to may be anybody, and look at this, too.
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
