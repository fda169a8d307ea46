//! The types of kernels: typed code, boxed functions and closures, and the condition of a kernel.
//!
//! One boxed kernel can serve every operator, as fallbacks do. A kernel that is a closure can be registered and removed while the program
//! runs. Each call counts as a user of the closure. After a removal, the last call to end drops the closure's state. The allocation stays,
//! and the next closure for the same key of the same operator reuses it.

use std::fmt;
use std::sync::Arc;

use super::Operator;
use super::retirable::Retirable;
use super::table::CodePointer;
use crate::error::Result;
use crate::key::KeySet;
use crate::name::CLOSURE_KERNEL_NAME;
use crate::value::Stack;

/// A kernel that is compiled into the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StaticKernel {
    Typed(CodePointer),
    Boxed(BoxedFn),
    Fallthrough,
}

/// The condition under which a kernel can run a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Condition {
    pub(crate) predicate: CodePointer,
    pub(crate) text: &'static str,
}

/// A boxed kernel that is part of the program: it takes exactly the operator's arguments off the stack and pushes its results.
pub type BoxedFn = fn(&Operator, KeySet, &mut Stack) -> Result<()>;

/// A boxed kernel that is a closure, made at run time.
pub(crate) type BoxedClosure = Box<dyn Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync>;

/// A boxed kernel: a function or a closure.
#[derive(Clone)]
pub(crate) enum BoxedKernel {
    Function(BoxedFn),
    Closure(Arc<Retirable<BoxedClosure>>),
}

impl BoxedKernel {
    /// Returns the number of earlier closures in this kernel's allocation; 0 for a function.
    pub(crate) fn generation(&self) -> usize {
        match self {
            Self::Function(_) => 0,
            Self::Closure(kernel) => kernel.generation(),
        }
    }

    /// Removes a closure. Running calls finish, and the last one drops the closure's state.
    pub(crate) fn retire(&self) {
        if let Self::Closure(kernel) = self {
            kernel.retire();
        }
    }
}

impl PartialEq for BoxedKernel {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(a), Self::Function(b)) => std::ptr::fn_addr_eq(*a, *b),
            (Self::Closure(a), Self::Closure(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl fmt::Debug for BoxedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Function(_) => "function",
            Self::Closure(_) => CLOSURE_KERNEL_NAME,
        })
    }
}
