//! Handles of single kernels, which can be called even if another kernel runs for their key.

use crate::error::{ErrorKind, Result};
use crate::key::{Key, KeySet};
use crate::location::Location;
use crate::operator::Operator;
use crate::registration::registry;
use crate::table::{ActiveKernels, Kernel, KernelRegistration};
use crate::value::Stack;

/// A handle of one kernel of an operator. It can be called even if another kernel runs for its key. For example, an override calls the
/// kernel that it replaces.
///
/// ```
/// # use dispatch_runtime::{Registrar, Value, keys::*};
/// let lab = Registrar::new("handles");
/// let op = lab.define("one() -> int").unwrap().operator().unwrap();
/// lab.kernel("one", CompositeExplicitAutograd, |_, _, stack| Ok(stack.push(1_i64))).unwrap();
/// let one = op.kernels_for_key(CompositeExplicitAutograd).remove(0);
/// lab.override_kernel("one", CompositeExplicitAutograd, move |_, keys, stack| {
///     one.call(keys, stack)?;
///     let Some(Value::Int(one)) = stack.pop() else { unreachable!("the results of a kernel are checked") };
///     Ok(stack.push(one + 1))
/// }).unwrap();
/// assert_eq!(format!("{:?}", op.call([]).unwrap()), "[2]");
/// ```
#[derive(Clone, Debug)]
pub struct KernelHandle {
    operator: &'static Operator,
    kernel: Kernel,
    generation: usize,
    name: &'static str,
    location: Location,
}

impl KernelHandle {
    /// Calls the kernel with the arguments on top of the stack.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel was removed, or fails.
    pub fn call(&self, keys: KeySet, stack: &mut Stack) -> Result<()> {
        let gone = || ErrorKind::KernelRemoved { operator: self.operator.name() }.into();
        match (&self.kernel, self.operator.typed_adapters()) {
            // SAFETY: `row_of_operator` returns no kernels that were compiled for another operator.
            (Kernel::Typed(code), Some(typed)) => unsafe { (typed.run_typed)(self.operator, Some(*code), keys, stack) },
            (Kernel::Boxed(kernel), _) => {
                kernel.call_if_generation(self.generation, self.operator, keys, stack).unwrap_or_else(|| Err(gone()))
            }
            (Kernel::Typed(_) | Kernel::Fallthrough, _) => Err(gone()),
        }
    }

    /// Returns the name of the kernel's function.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the location of the kernel's registration.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.location
    }
}

impl Operator {
    /// Returns the kernels that were registered for exactly this key: first the one that runs, then those that it replaces.
    #[must_use]
    pub fn kernels_for_key(&self, key: Key) -> Vec<KernelHandle> {
        let registry = registry::lock();
        let (Ok(row), Ok(target)) = (registry.row_of_operator(self), key.slot_or_alias()) else {
            return Vec::new();
        };
        let Some((&operator, cell)) = row.definitions.first().zip(row.cell(target)) else {
            return Vec::new();
        };
        let kernels =
            cell.kernels_by_precedence().into_iter().filter(|kernel| !matches!(kernel.kernel, Kernel::Fallthrough));
        let handle = |kernel: &KernelRegistration| KernelHandle {
            operator,
            kernel: kernel.kernel.clone(),
            generation: if let Kernel::Boxed(kernel) = &kernel.kernel { kernel.generation() } else { 0 },
            name: kernel.name,
            location: kernel.location,
        };
        kernels.map(handle).collect()
    }

    /// Whether a kernel is registered for exactly this key, without a conflict.
    #[must_use]
    pub fn has_kernel(&self, key: Key) -> bool {
        let registry = registry::lock();
        let (Ok(row), Ok(target)) = (registry.row_of_operator(self), key.slot_or_alias()) else {
            return false;
        };
        row.cell(target)
            .is_some_and(|cell| !matches!(cell.active_kernels(), ActiveKernels::None | ActiveKernels::Conflict(_)))
    }
}
