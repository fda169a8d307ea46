//! Runs that write the state of a program: one at a time for each tensor.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state::StateEntry;
use crate::error::Pt2Problem;

/// The tensors that runs write at the moment. Clones of a program share their tensors, and deep clones do not, so the tensors are known by
/// the identities of their storages.
#[derive(Default)]
pub(super) struct StateWrites(Mutex<Vec<usize>>);

/// A run that writes tensors. Dropping it ends the writes.
pub(super) struct RunningWrites<'a> {
    all: &'a StateWrites,
    own: Vec<usize>,
}

impl StateWrites {
    /// Begins to write tensors, or returns an error if another run writes one of them.
    pub(super) fn begin<'s>(
        &self,
        written: impl Iterator<Item = &'s StateEntry>,
    ) -> Result<Option<RunningWrites<'_>>, Pt2Problem> {
        let written: Vec<(usize, &str)> =
            written.map(|entry| (entry.tensor().storage().identity(), entry.name.as_str())).collect();
        if written.is_empty() {
            return Ok(None);
        }
        let own = written.iter().map(|(storage, _)| *storage).collect::<Vec<_>>();
        let mut all = self.lock();
        if let Some((_, name)) = written.iter().find(|(storage, _)| all.contains(storage)) {
            return Err(Pt2Problem::StateInUse { tensor: (*name).to_owned() });
        }
        all.extend(&own);
        drop(all);
        Ok(Some(RunningWrites { all: self, own }))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningWrites<'_> {
    fn drop(&mut self) {
        self.all.lock().retain(|storage| !self.own.contains(storage));
    }
}
