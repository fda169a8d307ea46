//! The position of a loader in its data.

use std::sync::{Mutex, PoisonError};

/// The position of a loader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Position {
    pub(super) epoch: u64,
    /// The number of batches of the epoch that were delivered.
    pub(super) batch: usize,
    /// Whether the position was loaded, so that the next iterator continues the epoch.
    pub(super) is_loaded: bool,
}

/// The position, which iterators move.
#[derive(Debug, Default)]
pub(super) struct SharedPosition(Mutex<Position>);

impl SharedPosition {
    pub(super) fn get(&self) -> Position {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, position: Position) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = position;
    }

    /// Returns the position at which a new iterator starts. It continues an epoch only if the position was loaded.
    pub(super) fn start(&self) -> Position {
        let position = self.get();
        let start = if position.is_loaded || position.batch == 0 {
            Position { is_loaded: false, ..position }
        } else {
            Position { epoch: position.epoch.wrapping_add(1), ..Position::default() }
        };
        self.set(start);
        start
    }
}
