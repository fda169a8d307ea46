//! Workspaces: the slots and the memory of runs, which later runs use again.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use dispatch_runtime::{MemoryLayout, Value, guard};

/// The unused workspaces of a graph. Threads that run a graph at once have a workspace each.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<Vec<Workspace>>);

struct Workspace {
    slots: Vec<Value>,
    memory: MemoryLayout,
}

impl Workspaces {
    /// Calls `run` with a workspace of empty slots. A run with gradients has no memory layout, because autograd keeps values after the run.
    pub(crate) fn with<R>(&self, slots: usize, run: impl FnOnce(&mut [Value]) -> R) -> R {
        let unused = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut workspace =
            unused.unwrap_or_else(|| Workspace { slots: vec![Value::None; slots], memory: MemoryLayout::default() });
        let Workspace { slots, memory } = &mut workspace;
        let run = || {
            let result = run(slots);
            slots.fill(Value::None);
            result
        };
        let result = if guard::is_grad_enabled() { run() } else { memory.run(run) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
        result
    }
}

impl fmt::Debug for Workspaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Workspaces")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::Storage;

    #[test]
    fn runs_of_the_same_sizes_get_a_memory_layout() {
        let _no_grad = guard::no_grad();
        let workspaces = Workspaces::default();
        let layout_size =
            || workspaces.0.lock().unwrap().iter().map(|workspace| workspace.memory.size()).sum::<usize>();
        for _ in 0..2 {
            assert_eq!(layout_size(), 0);
            workspaces.with(1, |_| drop([1, 2].map(|mebibytes| Storage::new_host(mebibytes << 20))));
        }
        assert!(layout_size() >= 3 << 20);
    }
}
