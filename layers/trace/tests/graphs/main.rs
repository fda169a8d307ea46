//! Graphs: recorded, cleaned, printed, read back, drawn, and run.

mod drawings;
mod functions;
mod programs;
mod side_effects;
mod text;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Random numbers are everybody's, and some tests ask which were drawn: whoever draws does so alone.
fn drawing() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
