//! The observer of a call: the modules that were called on this thread, with the sizes of their outputs.

use std::cell::{Cell, RefCell};

use dispatch_runtime::{Result, TensorTree};

use crate::visit::ModuleRef;

thread_local! {
    /// Whether a call on this thread is observed. Modules read only this if none is.
    static IS_OBSERVED: Cell<bool> = const { Cell::new(false) };
    static OBSERVATIONS: RefCell<Vec<Observation>> = const { RefCell::new(Vec::new()) };
}

/// A call of a module.
pub(crate) struct Observation {
    /// The module's type and address.
    pub(crate) module: (&'static str, usize),
    /// The sizes of the tensors of the output.
    pub(crate) sizes: Vec<Vec<i64>>,
}

/// Reports the output of a module to the observer of this thread, if there is one. A module of this crate does so at the end of `forward`.
pub(crate) fn observe<M: ?Sized, T: TensorTree>(module: &M, output: Result<T>) -> Result<T> {
    if IS_OBSERVED.get()
        && let Ok(output) = &output
    {
        record(ModuleRef::new(module, "").identity(), output);
    }
    output
}

#[cold]
fn record(module: (&'static str, usize), output: &impl TensorTree) {
    let sizes = sizes_of(output);
    OBSERVATIONS.with_borrow_mut(|observations| observations.push(Observation { module, sizes }));
}

/// Returns the sizes of the tensors of an output.
pub(super) fn sizes_of(output: &impl TensorTree) -> Vec<Vec<i64>> {
    output.tensors().iter().map(|tensor| tensor.sizes().to_vec()).collect()
}

/// Observes the modules that a function calls.
pub(crate) fn observe_call<T>(call: impl FnOnce() -> T) -> (T, Vec<Observation>) {
    /// Restores the state of the thread, also after a panic.
    struct Restore {
        was_observed: bool,
        observations: Vec<Observation>,
    }

    impl Drop for Restore {
        fn drop(&mut self) {
            IS_OBSERVED.set(self.was_observed);
            OBSERVATIONS.set(std::mem::take(&mut self.observations));
        }
    }

    let _restore = Restore { was_observed: IS_OBSERVED.replace(true), observations: OBSERVATIONS.take() };
    let result = call();
    (result, OBSERVATIONS.take())
}
