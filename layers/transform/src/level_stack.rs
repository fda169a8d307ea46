//! The stack of levels, and the trait of transforms.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::{Error, KeySet, Operator, Result, Stack, Tensor, Value, keys};

use crate::lifted::{lift, lower, show};

/// The behavior of a level.
///
/// The provided methods suit a transform whose tensors need no more than [`Lifted`](crate::Lifted).
pub trait Transform: 'static {
    /// Returns the layers that do the work of this transform. They see the calls of this level only.
    fn layers(&self) -> KeySet;

    /// Returns the layers that see every call of this level, with any tensors.
    fn modes(&self) -> KeySet {
        KeySet::EMPTY
    }

    /// Whether `no_grad` in the function affects this level only. If not, the levels below do not record either.
    fn has_own_grad_mode(&self) -> bool {
        false
    }

    /// Lifts the arguments of a call to this level.
    ///
    /// # Errors
    ///
    /// Returns [`TransformError::WrittenFromOutside`] if the call writes to a tensor that is not of this level. Other implementations
    /// return an error if the level does not support the call.
    fn prepare(&self, level: &Level, operator: &Operator, arguments: &mut [Value]) -> Result<()> {
        let schema = operator.schema();
        for (value, argument) in arguments.iter_mut().zip(&schema.arguments) {
            let mut captured = false;
            for tensor in value.tensors_mut() {
                captured = captured || !level.has(tensor);
                *tensor = level.lift(tensor);
            }
            if captured && argument.is_written() {
                let (operator, argument) = (operator.name().to_string(), argument.name.clone());
                return Err(TransformError::WrittenFromOutside { operator, argument }.into());
            }
        }
        Ok(())
    }

    /// Lowers the arguments from this level, runs `call`, and lifts the results.
    ///
    /// # Errors
    ///
    /// Returns the error of the call.
    fn leave(
        &self,
        level: &Level,
        operator: &Operator,
        stack: &mut Stack,
        call: &mut dyn FnMut(&mut Stack) -> Result<()>,
    ) -> Result<()> {
        let schema = operator.schema();
        let arguments = stack.top_mut(operator.argument_count()).unwrap_or_default();
        let above: Vec<Value> = arguments.to_vec();
        for value in &mut *arguments {
            value.tensors_mut().for_each(|tensor| *tensor = level.lower(tensor));
        }
        let below: Vec<Value> = arguments.to_vec();
        call(stack)?;
        for (i, result) in stack.top_mut(schema.returns.len()).unwrap_or_default().iter_mut().enumerate() {
            let written = schema.written_return(i).map(|at| (&above[at], &below[at]));
            match (written, &*result) {
                // A written argument is returned as the same tensor that was passed.
                (Some((above, Value::Tensor(below))), Value::Tensor(now)) if now.same(below) => *result = above.clone(),
                _ => result.tensors_mut().for_each(|tensor| *tensor = level.lift(tensor)),
            }
        }
        Ok(())
    }
}

/// A handle of one level of the stack. It identifies the level's tensors.
#[derive(Clone)]
pub struct Level {
    id: u64,
    alive: Arc<AtomicBool>,
}

impl Level {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), alive: Arc::new(AtomicBool::new(true)) }
    }

    /// Lifts a tensor to this level. A tensor of this level is returned unchanged.
    #[must_use]
    pub fn lift(&self, tensor: &Tensor) -> Tensor {
        lift(self, tensor)
    }

    /// Returns a tensor of this level with the geometry of `shown`, which stands for `below`. Only the level's `layers` can access its
    /// elements.
    #[must_use]
    pub fn show(&self, shown: &Tensor, below: &Tensor, layers: KeySet) -> Tensor {
        show(self, shown, below, layers)
    }

    /// Returns the tensor below this level. A tensor of another level is returned unchanged.
    #[must_use]
    pub fn lower(&self, tensor: &Tensor) -> Tensor {
        lower(self, tensor)
    }

    /// Whether the tensor belongs to this level.
    #[must_use]
    pub fn has(&self, tensor: &Tensor) -> bool {
        tensor.extension::<crate::Lifted>().is_some_and(|lifted| lifted.level() == self)
    }

    /// Whether the function of this level is still running.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Whether the level is on this thread's stack.
    pub(crate) fn is_here(&self) -> bool {
        STACK.with_borrow(|stack| stack.iter().any(|entry| entry.level == *self))
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Level {}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Level({})", self.id)
    }
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) level: Level,
    pub(crate) transform: Rc<dyn Transform>,
    /// Whether the levels below record, if the transform has its own grad mode.
    pub(crate) records_below: bool,
}

thread_local! {
    static STACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
    /// The guards that include the front and back layers: one for each level entered on this thread, in order.
    static INCLUDED: RefCell<Vec<(Level, Guard)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the number of levels that this thread is in.
///
/// ```
/// assert_eq!(dispatch_transform::depth(), 0);
/// ```
#[must_use]
pub fn depth() -> usize {
    STACK.with_borrow(Vec::len)
}

pub(crate) fn top() -> Option<Entry> {
    STACK.with_borrow(|stack| stack.last().cloned())
}

/// An entered level. Dropping it leaves the level.
#[must_use = "a level that is not bound to a name is left at once"]
pub struct Entered {
    level: Level,
    _recording: Option<Guard>,
    /// The level is on the stack of its own thread.
    not_send: PhantomData<*const ()>,
}

/// Enters a level for a function. Levels can be left in any order.
///
/// ```
/// use dispatch_runtime::{KeySet, Tensor, keys};
/// use dispatch_transform::{Transform, depth, enter};
///
/// struct Nothing;
///
/// impl Transform for Nothing {
///     fn layers(&self) -> KeySet {
///         KeySet::layers_of(keys::Autograd)
///     }
/// }
///
/// let entered = enter(Nothing);
/// let x = Tensor::from_slice(&[1.0_f32]);
/// let lifted = entered.level().lift(&x);
/// assert!(entered.level().has(&lifted) && entered.level().lower(&lifted).same(&x));
/// assert_eq!(depth(), 1);
/// ```
pub fn enter(transform: impl Transform) -> Entered {
    let level = Level::new();
    let records_below = guard::is_grad_enabled();
    let recording = transform.has_own_grad_mode().then(guard::enable_grad);
    let entry = Entry { level: level.clone(), transform: Rc::new(transform), records_below };
    STACK.with_borrow_mut(|stack| stack.push(entry));
    INCLUDED.with_borrow_mut(|included| included.push((level.clone(), guard::include(modes()))));
    Entered { level, _recording: recording, not_send: PhantomData }
}

/// The front and back layers.
pub(crate) fn modes() -> KeySet {
    KeySet::layers_of(keys::FuncTorchDynamicLayerFrontMode) | KeySet::layers_of(keys::FuncTorchDynamicLayerBackMode)
}

impl Entered {
    /// Returns the level.
    #[must_use]
    pub const fn level(&self) -> &Level {
        &self.level
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.level.alive.store(false, Ordering::Release);
        // The entries are dropped without the borrow: a transform may own tensors whose drop accesses the stack.
        let left: Vec<Entry> =
            STACK.with_borrow_mut(|stack| stack.extract_if(.., |entry| entry.level == self.level).collect());
        drop(left);
        INCLUDED.with_borrow_mut(|included| {
            let Some(at) = included.iter().position(|(level, _)| *level == self.level) else { return };
            let (_, guard) = included.remove(at);
            // The guard moves to the next level, so that calls still go through the levels entered later.
            if let Some((_, later)) = included.get_mut(at) {
                *later = guard;
            }
        });
    }
}

/// A scope that takes the innermost level off the stack until it is dropped.
pub(crate) struct Aside(Option<Entry>);

impl Aside {
    pub(crate) fn set() -> Option<Self> {
        STACK.with_borrow_mut(Vec::pop).map(|entry| Self(Some(entry)))
    }

    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.0.as_ref()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            STACK.with_borrow_mut(|stack| stack.push(entry));
        }
    }
}

/// An error of a call inside of a transformed function.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TransformError {
    /// The function wrote to a tensor from outside of it.
    WrittenFromOutside {
        /// The operator.
        operator: String,
        /// The written argument.
        argument: String,
    },
    /// A tensor of a level was used on another thread than the level's.
    ElsewhereAlive {
        /// The operator.
        operator: String,
    },
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrittenFromOutside { operator, argument } => write!(
                f,
                "`{operator}` was to write to `{argument}`, a tensor from outside of the function that is transformed, where the transform \
                 could not follow; pass it to the function as an argument, or write to a copy"
            ),
            Self::ElsewhereAlive { operator } => write!(
                f,
                "`{operator}` was called with a tensor of a transform that runs on another thread; a transformed function stays on its thread"
            ),
        }
    }
}

impl std::error::Error for TransformError {}

impl From<TransformError> for Error {
    #[cold]
    fn from(error: TransformError) -> Self {
        Self::kernel(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Transform for Nothing {
        fn layers(&self) -> KeySet {
            KeySet::layers_of(keys::Autograd)
        }
    }

    #[test]
    fn levels_that_are_left_out_of_order_stay_entered_until_they_are_left() {
        let goes_through_levels = || guard::included().has(keys::FuncTorchDynamicLayerFrontMode);
        let (outer, inner) = (enter(Nothing), enter(Nothing));
        drop(outer);
        assert!(depth() == 1 && goes_through_levels());
        drop(inner);
        assert!(depth() == 0 && !goes_through_levels());
    }
}
