//! A mode that sees each node of a run with its results.

use std::any::Any;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_modes::{Call, Mode};
use dispatch_runtime::{Operator, Result, Tensor, Value};

/// Calls a function after each call of a node, with the name of the node, the operator, and the results.
pub(crate) struct NodeObserver<F> {
    observe: F,
    /// The nodes that are running, the innermost last.
    running: Arc<Mutex<Vec<String>>>,
}

impl<F: Fn(&str, &Operator, &[Value]) -> Result<()> + Send + Sync> NodeObserver<F> {
    pub(crate) fn new(observe: F) -> Self {
        Self { observe, running: Arc::default() }
    }
}

impl<F: Fn(&str, &Operator, &[Value]) -> Result<()> + Send + Sync> Mode for NodeObserver<F> {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        call.pass_on_hiding_inner_calls()?;
        let node = lock(&self.running).last().cloned().unwrap_or_default();
        (self.observe)(&node, call.operator(), call.results())
    }

    fn on_span(&self, name: &dyn Display) -> Box<dyn Any> {
        lock(&self.running).push(name.to_string());
        Box::new(RunningNode(self.running.clone()))
    }
}

/// Removes a node from the running ones at its end.
struct RunningNode(Arc<Mutex<Vec<String>>>);

impl Drop for RunningNode {
    fn drop(&mut self) {
        lock(&self.0).pop();
    }
}

/// Returns the tensors among values and in lists of them.
pub(crate) fn tensors(values: &[Value]) -> impl Iterator<Item = &Tensor> {
    values.iter().flat_map(|value| match value {
        Value::Tensor(tensor) => std::slice::from_ref(tensor),
        Value::Tensors(tensors) => tensors.as_slice(),
        _ => &[],
    })
}

/// Locks a value. A panic of another thread while it held the lock leaves the value as it was.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
