//! Tests of graphs: recording, cleaning, printing, parsing, drawing, and running.

mod drawings;
mod programs;
mod side_effects;
mod text;
mod traced_functions;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the other tests out: they share the random stream, and some tests check which numbers were drawn.
fn lock_random_numbers() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
