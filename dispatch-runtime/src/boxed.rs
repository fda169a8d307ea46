//! Kernels that take their arguments from the stack.
//!
//! One boxed kernel can serve every operator, which is what fallbacks need, and one that is a closure can be made and taken away
//! while the program runs. A closure's state is counted: a call holds it, and taking it away drops it when the last call leaves.

use std::fmt;
use std::sync::Arc;

use crate::counted::Counted;
use crate::error::Result;
use crate::key_set::KeySet;
use crate::operator::Operator;
use crate::stack::Stack;

/// A boxed kernel that is part of the program: it takes exactly the operator's arguments off the stack and pushes its results.
pub type BoxedFn = fn(&Operator, KeySet, &mut Stack) -> Result<()>;

/// The same, made while the program runs.
pub(crate) type BoxedClosure = dyn Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync;

/// Any boxed kernel.
#[derive(Clone)]
pub(crate) enum BoxedKernel {
    Function(BoxedFn),
    Closure(Arc<Counted<Box<BoxedClosure>>>),
}

impl BoxedKernel {
    pub(crate) fn closure(
        kernel: impl Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::Closure(Arc::new(Counted::new(Box::new(kernel))))
    }

    /// Runs the kernel; none where it was taken away in the meantime.
    #[inline]
    pub(crate) fn call(&self, operator: &Operator, keys: KeySet, stack: &mut Stack) -> Option<Result<()>> {
        match self {
            Self::Function(kernel) => Some(kernel(operator, keys, stack)),
            Self::Closure(kernel) => kernel.with(|kernel| kernel(operator, keys, stack)),
        }
    }

    /// Takes a closure away. Calls that are inside finish; the last one drops its state.
    pub(crate) fn retire(&self) {
        if let Self::Closure(kernel) = self {
            kernel.retire();
        }
    }
}

impl fmt::Debug for BoxedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Function(_) => "function",
            Self::Closure(_) => "closure",
        })
    }
}
