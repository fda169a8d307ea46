//! Tasks: independent calls that a backend runs in parallel.

use std::fmt;
use std::sync::OnceLock;

use super::registry;
use crate::key::{BACKEND_COUNT, Device, Key};

/// The part of a backend that runs independent tasks on its threads. An operator over a list of tensors uses it to compute several of them
/// at once. A backend whose devices compute in the background needs none.
///
/// ```standalone_crate
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{TaskRunner, task_runner};
///
/// #[dispatch_key(backend)]
/// pub static TPU: Key;
///
/// struct Threads;
/// impl TaskRunner for Threads {
///     fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync)) {
///         std::thread::scope(|scope| (0..count).for_each(|i| { scope.spawn(move || task(i)); }));
///     }
/// }
/// task_runner!(TPU, Threads);
///
/// assert!(Device::new(TPU).unwrap().task_runner().is_some());
/// assert!(Device::META.task_runner().is_none());
/// ```
pub trait TaskRunner: Sync {
    /// Calls `task` once for each number below `count`, in any order and on any threads, and returns when all calls have returned.
    fn run(&self, count: usize, task: &(dyn Fn(usize) + Sync));
}

/// A task runner and its backend's key, as [`task_runner!`](crate::task_runner) makes it.
#[derive(Clone, Copy)]
pub struct TaskRunnerRecord {
    key: &'static Key,
    runner: &'static dyn TaskRunner,
}

impl TaskRunnerRecord {
    /// Makes the record of the task runner for the devices of `key`.
    #[must_use]
    pub const fn new(key: &'static Key, runner: &'static dyn TaskRunner) -> Self {
        Self { key, runner }
    }
}

impl fmt::Debug for TaskRunnerRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskRunnerRecord({})", self.key)
    }
}

/// Registers the [`TaskRunner`](crate::TaskRunner) of a backend's key: `task_runner!(TPU, Threads)`.
#[macro_export]
macro_rules! task_runner {
    ($key:path, $runner:expr) => {
        const _: () = {
            static __RUNNER: $crate::__private::TaskRunnerRecord =
                $crate::__private::TaskRunnerRecord::new(&$key, &$runner);
            $crate::__private::__submit! { $crate::__private::Record::TaskRunner(&__RUNNER) }
        };
    };
}

static TASK_RUNNERS: [OnceLock<&'static TaskRunnerRecord>; BACKEND_COUNT] = [const { OnceLock::new() }; BACKEND_COUNT];

/// Stores the task runner of a record. The first one for a backend stays.
pub(crate) fn register_task_runner(record: &'static TaskRunnerRecord) {
    if let Some(backend) = record.key.backend_index() {
        TASK_RUNNERS[usize::from(backend)].get_or_init(|| record);
    }
}

impl Device {
    /// Returns the task runner of this device's backend, if it has one. [`TaskRunner`] has an example.
    #[must_use]
    pub fn task_runner(self) -> Option<&'static dyn TaskRunner> {
        registry::load_records();
        TASK_RUNNERS[usize::from(self.backend_index())].get().map(|record| record.runner)
    }
}
