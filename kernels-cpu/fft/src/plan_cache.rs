//! The transforms that are kept for later calls: those that were used last, up to a limit of memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::OutOfMemory;

use crate::line_transform::{FftFloat, LineKind, LineTransform};

/// The most transforms in a cache.
const MAX_TRANSFORMS: usize = 64;

/// The most elements of all lines together whose transforms are in a cache. Tables take about two complex numbers for each.
const MAX_ELEMENTS: usize = 1 << 22;

/// The transforms of one floating-point type, the last used one at the end.
pub(crate) struct PlanCache<T: FftFloat>(Mutex<Vec<Arc<LineTransform<T>>>>);

impl<T: FftFloat> PlanCache<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the transform of this type, and calls `make` if the cache has none. Other threads can use the cache meanwhile.
    pub(crate) fn get_or_make(
        &self,
        kind: LineKind,
        make: impl FnOnce() -> Result<LineTransform<T>, OutOfMemory>,
    ) -> Result<Arc<LineTransform<T>>, OutOfMemory> {
        if let Some(found) = self.find(kind) {
            return Ok(found);
        }
        let transform = Arc::new(make()?);
        if kind.length <= MAX_ELEMENTS && self.find(kind).is_none() {
            self.insert(Arc::clone(&transform));
        }
        Ok(transform)
    }

    fn find(&self, kind: LineKind) -> Option<Arc<LineTransform<T>>> {
        let mut kept = self.lock();
        let at = kept.iter().rposition(|transform| transform.kind == kind)?;
        kept[at..].rotate_left(1);
        kept.last().cloned()
    }

    fn insert(&self, transform: Arc<LineTransform<T>>) {
        let mut kept = self.lock();
        kept.push(transform);
        let mut elements: usize = kept.iter().map(|transform| transform.kind.length).sum();
        let mut dropped = 0;
        while elements > MAX_ELEMENTS || kept.len() - dropped > MAX_TRANSFORMS {
            elements -= kept[dropped].kind.length;
            dropped += 1;
        }
        kept.drain(..dropped);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<LineTransform<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
