//! Workspaces: the slots of runs, which later runs use again.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::Value;

/// The unused workspaces of a graph. Threads that run a graph at once have a workspace each.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<Vec<Vec<Value>>>);

impl Workspaces {
    /// Calls `run` with a workspace of empty slots.
    pub(crate) fn with<R>(&self, slots: usize, run: impl FnOnce(&mut [Value]) -> R) -> R {
        let unused = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut workspace = unused.unwrap_or_else(|| vec![Value::None; slots]);
        let result = run(&mut workspace);
        workspace.fill(Value::None);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
        result
    }
}

impl fmt::Debug for Workspaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Workspaces")
    }
}
