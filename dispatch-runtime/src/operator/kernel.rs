//! The types of kernels: typed code, boxed functions and closures, and the condition of a kernel.
//!
//! One boxed kernel can serve every operator, which is what fallbacks need, and one that is a closure can be made and taken away
//! while the program runs. A closure's state is counted: a call holds it, and taking it away drops it when the last call leaves. Its place
//! stays, and takes the next closure for the same key of the same operator.

use std::fmt;
use std::sync::Arc;

use super::Operator;
use super::retirable::Retirable;
use super::table::Code;
use crate::error::Result;
use crate::key::KeySet;
use crate::name::CLOSURE;
use crate::value::Stack;

/// The code of a kernel that is part of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StaticKernel {
    Typed(Code),
    Boxed(BoxedFn),
    Fallthrough,
}

/// When a kernel is fit for a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Condition {
    pub(crate) holds: Code,
    pub(crate) text: &'static str,
}

/// A boxed kernel that is part of the program: it takes exactly the operator's arguments off the stack and pushes its results.
pub type BoxedFn = fn(&Operator, KeySet, &mut Stack) -> Result<()>;

/// The same, made while the program runs.
pub(crate) type BoxedClosure = Box<dyn Fn(&Operator, KeySet, &mut Stack) -> Result<()> + Send + Sync>;

/// Any boxed kernel.
#[derive(Clone)]
pub(crate) enum BoxedKernel {
    Function(BoxedFn),
    Closure(Arc<Retirable<BoxedClosure>>),
}

impl BoxedKernel {
    /// Tells the closures apart that had one place.
    pub(crate) fn turn(&self) -> usize {
        match self {
            Self::Function(_) => 0,
            Self::Closure(kernel) => kernel.turn(),
        }
    }

    /// Takes a closure away. Calls that are inside finish; the last one drops its state.
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
            Self::Closure(_) => CLOSURE,
        })
    }
}
