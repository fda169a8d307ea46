//! Operators over lists: one call for each element of the lists (`each = ..`).
//!
//! The calls run in parallel on the backend's threads if their order cannot be observed.

use std::cmp::Reverse;
use std::sync::OnceLock;

use crate::error::{BadArgument, Error, Result};
use crate::guard::{self, ThreadState};
use crate::key::keys;
use crate::registration::TaskRunner;
use crate::tensor::{Marks, Tensor};

/// A list argument of an operator over lists.
#[derive(Debug)]
pub struct ListArgument<'a> {
    /// The argument's name in the schema.
    pub name: &'static str,
    /// The number of elements.
    pub len: usize,
    /// The tensors, if it is a list of tensors.
    pub tensors: &'a [Tensor],
    /// Whether the calls write the tensors.
    pub is_written: bool,
}

/// Tensors with fewer elements share a task with others. A tensor with more elements than [`MAX_TASK_ELEMENTS`] is computed alone, by all
/// threads.
const MIN_TASK_ELEMENTS: i64 = 1 << 15;
const MAX_TASK_ELEMENTS: i64 = 1 << 20;

/// Calls `call` for the index of each element of the lists, and returns the results in order. `common` are the tensors that all calls read.
///
/// # Errors
///
/// Returns [`BadArgument`] if a list is empty or has another length than the first one, and otherwise the error of the first call that
/// fails.
pub fn call_each<T: Send + Sync>(
    lists: &[ListArgument<'_>],
    common: &[Option<&Tensor>],
    call: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let count = check_lengths(lists)?;
    let is_list = |name: &str| lists.iter().any(|list| list.name == name);
    let call = |i| call(i).map_err(|error| error.in_element(i, is_list));
    let Some((runner, groups)) = plan_tasks(lists, common, count) else {
        return (0..count).map(call).collect();
    };
    let results: Vec<OnceLock<Result<T>>> = (0..count).map(|_| OnceLock::new()).collect();
    let run_group = |group: &[usize]| group.iter().for_each(|&i| drop(results[i].set(call(i))));
    groups.alone.iter().for_each(|&i| run_group(&[i]));
    let state = ThreadState::capture();
    runner.run(groups.tasks.len(), &|task| state.run(|| run_group(&groups.tasks[task])));
    let missing = || Err(Error::from("the backend's task runner left out a task"));
    results.into_iter().map(|result| result.into_inner().unwrap_or_else(missing)).collect()
}

fn check_lengths(lists: &[ListArgument<'_>]) -> Result<usize, BadArgument> {
    let Some(first) = lists.first() else { return Ok(0) };
    if first.len == 0 {
        return Err(BadArgument::length(first.name, 0, 1..));
    }
    match lists.iter().find(|list| list.len != first.len) {
        Some(other) => {
            Err(BadArgument::length(other.name, other.len, first.len)
                .because(format!("`{}` has this length", first.name)))
        }
        None => Ok(first.len),
    }
}

/// The indices of the elements, divided among tasks.
struct TaskGroups {
    /// Elements with so much work that one after the other is computed by all threads.
    alone: Vec<usize>,
    /// The elements of each task.
    tasks: Vec<Vec<usize>>,
}

/// Divides the elements among tasks. Returns `None` if there is work for one thread only, or if the order of the calls can be observed: by
/// a layer of the thread, by a recorded gradient, or because a call writes memory that another one uses.
fn plan_tasks(
    lists: &[ListArgument<'_>],
    common: &[Option<&Tensor>],
    count: usize,
) -> Option<(&'static dyn TaskRunner, TaskGroups)> {
    let sizes = lists.iter().find(|list| list.tensors.len() == count)?.tensors;
    let elements = |i: usize| sizes[i].geometry().count();
    if count == 1 || (0..count).map(elements).fold(0, i64::saturating_add) < 2 * MIN_TASK_ELEMENTS {
        return None;
    }
    let runner = sizes[0].device().task_runner()?;
    let common = || common.iter().copied().flatten();
    let tensors = || lists.iter().flat_map(|list| list.tensors).chain(common());
    let is_recorded =
        || guard::is_grad_enabled() && tensors().any(|tensor| tensor.has_any_mark(Marks::REQUIRES_GRAD | Marks::VIEW));
    let same_device = || tensors().all(|tensor| tensor.device() == sizes[0].device());
    let added_layers = guard::included() - (keys::BackendSelect | keys::ADInplaceOrView);
    if !added_layers.is_empty() || is_recorded() || !same_device() || has_dependent_calls(lists, common()) {
        return None;
    }
    let (alone, mut shared): (Vec<usize>, Vec<usize>) = (0..count).partition(|&i| elements(i) > MAX_TASK_ELEMENTS);
    // The tasks with the most work start first.
    shared.sort_by_key(|&i| Reverse(elements(i)));
    let mut tasks: Vec<Vec<usize>> = Vec::new();
    let mut in_task = MIN_TASK_ELEMENTS;
    for i in shared {
        if in_task >= MIN_TASK_ELEMENTS {
            tasks.push(Vec::new());
            in_task = 0;
        }
        in_task = in_task.saturating_add(elements(i));
        tasks.last_mut()?.push(i);
    }
    Some((runner, TaskGroups { alone, tasks }))
}

/// Returns whether a call writes a storage that a call for another index uses.
fn has_dependent_calls<'a>(lists: &[ListArgument<'_>], common: impl Iterator<Item = &'a Tensor>) -> bool {
    if !lists.iter().any(|list| list.is_written) {
        return false;
    }
    let uses = lists.iter().flat_map(|list| {
        list.tensors.iter().enumerate().map(|(i, tensor)| (tensor.storage().identity(), !list.is_written, i))
    });
    // A common tensor has an index that no call has.
    let uses = uses.chain(common.map(|tensor| (tensor.storage().identity(), true, usize::MAX)));
    let mut uses: Vec<(usize, bool, usize)> = uses.collect();
    uses.sort_unstable();
    // Within a storage, writes come first.
    uses.chunk_by(|a, b| a.0 == b.0).any(|same| !same[0].1 && same.iter().any(|other| other.2 != same[0].2))
}
