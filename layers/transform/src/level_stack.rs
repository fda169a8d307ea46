//! The stack of levels, and the trait of transforms.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::{Error, KeySet, Operator, Result, Stack, Tensor, Value, keys};

use crate::lifted::{lift, lift_with_geometry, lower};

/// The behavior of a level.
///
/// The provided methods suit a transform whose tensors need no more than [`LiftInfo`](crate::LiftInfo).
pub trait Transform: 'static {
    /// Returns the layers that do the work of this transform. They see the calls of this level only.
    fn layer_keys(&self) -> KeySet;

    /// Returns the layers that see every call of this level, with any tensors.
    fn mode_keys(&self) -> KeySet {
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
    /// Returns [`TransformError::WriteToCaptured`] if the call writes to a tensor that is not of this level. Other implementations
    /// return an error if the level does not support the call.
    fn prepare_arguments(&self, level: &Level, operator: &Operator, arguments: &mut [Value]) -> Result<()> {
        let schema = operator.schema();
        for (value, argument) in arguments.iter_mut().zip(&schema.arguments) {
            let mut captured = false;
            for tensor in value.tensors_mut() {
                captured = captured || !level.owns(tensor);
                *tensor = level.lift(tensor);
            }
            if captured && argument.is_written() {
                let (operator, argument) = (operator.name().to_string(), argument.name.clone());
                return Err(TransformError::WriteToCaptured { operator, argument }.into());
            }
        }
        Ok(())
    }

    /// Lowers the arguments from this level, runs `call`, and lifts the results.
    ///
    /// # Errors
    ///
    /// Returns the error of the call.
    fn call_below(
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
            let written = schema.written_argument_of_return(i).map(|at| (&above[at], &below[at]));
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
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        Self { id: NEXT_ID.fetch_add(1, Ordering::Relaxed), alive: Arc::new(AtomicBool::new(true)) }
    }

    /// Lifts a tensor to this level. A tensor of this level is returned unchanged.
    #[must_use]
    pub fn lift(&self, tensor: &Tensor) -> Tensor {
        lift(self, tensor)
    }

    /// Returns a tensor of this level with the geometry of `shown`, which stands for `below`. Only the level's `layers` can access its
    /// elements.
    #[must_use]
    pub fn lift_with_geometry(&self, shown: &Tensor, below: &Tensor, layers: KeySet) -> Tensor {
        lift_with_geometry(self, shown, below, layers)
    }

    /// Returns the tensor below this level. A tensor of another level is returned unchanged.
    #[must_use]
    pub fn lower(&self, tensor: &Tensor) -> Tensor {
        lower(self, tensor)
    }

    /// Whether the tensor belongs to this level.
    #[must_use]
    pub fn owns(&self, tensor: &Tensor) -> bool {
        tensor.extension::<crate::LiftInfo>().is_some_and(|lifted| lifted.level() == self)
    }

    /// Whether the function of this level is still running.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Whether the level is on this thread's stack.
    pub(crate) fn is_on_this_thread(&self) -> bool {
        LEVEL_STACK.with_borrow(|stack| stack.iter().any(|entry| entry.level == *self))
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
pub(crate) struct LevelEntry {
    pub(crate) level: Level,
    pub(crate) transform: Rc<dyn Transform>,
    /// Whether the levels below record, if the transform has its own grad mode.
    pub(crate) records_below: bool,
}

thread_local! {
    static LEVEL_STACK: RefCell<Vec<LevelEntry>> = const { RefCell::new(Vec::new()) };
    /// The guards that include the front and back layers: one for each level entered on this thread, in order.
    static LAYER_GUARDS: RefCell<Vec<(Level, Guard)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the number of levels that this thread is in.
///
/// ```
/// assert_eq!(dispatch_transform::depth(), 0);
/// ```
#[must_use]
pub fn depth() -> usize {
    LEVEL_STACK.with_borrow(Vec::len)
}

pub(crate) fn innermost_entry() -> Option<LevelEntry> {
    LEVEL_STACK.with_borrow(|stack| stack.last().cloned())
}

/// An entered level. Dropping it leaves the level.
#[must_use = "a level that is not bound to a name is left at once"]
pub struct LevelGuard {
    level: Level,
    _recording: Option<Guard>,
    /// Makes the guard `!Send`: the level is on the stack of its own thread.
    not_send: PhantomData<*const ()>,
}

/// Enters a level for a function. Levels can be left in any order.
///
/// ```
/// use dispatch_runtime::{KeySet, Tensor, keys};
/// use dispatch_transform::{Transform, depth, enter};
///
/// struct NoOpTransform;
///
/// impl Transform for NoOpTransform {
///     fn layer_keys(&self) -> KeySet {
///         KeySet::layers_of(keys::Autograd)
///     }
/// }
///
/// let entered = enter(NoOpTransform);
/// let x = Tensor::from_slice(&[1.0_f32]);
/// let lifted = entered.level().lift(&x);
/// assert!(entered.level().owns(&lifted) && entered.level().lower(&lifted).same(&x));
/// assert_eq!(depth(), 1);
/// ```
pub fn enter(transform: impl Transform) -> LevelGuard {
    let level = Level::new();
    let records_below = guard::is_grad_enabled();
    let recording = transform.has_own_grad_mode().then(guard::enable_grad);
    let entry = LevelEntry { level: level.clone(), transform: Rc::new(transform), records_below };
    LEVEL_STACK.with_borrow_mut(|stack| stack.push(entry));
    LAYER_GUARDS.with_borrow_mut(|included| included.push((level.clone(), guard::include(front_and_back_layers()))));
    LevelGuard { level, _recording: recording, not_send: PhantomData }
}

/// The front and back layers.
pub(crate) fn front_and_back_layers() -> KeySet {
    KeySet::layers_of(keys::FuncTorchDynamicLayerFrontMode) | KeySet::layers_of(keys::FuncTorchDynamicLayerBackMode)
}

impl LevelGuard {
    /// Returns the level that the guard has entered.
    #[must_use]
    pub const fn level(&self) -> &Level {
        &self.level
    }
}

impl Drop for LevelGuard {
    fn drop(&mut self) {
        self.level.alive.store(false, Ordering::Release);
        // The entries are dropped without the borrow: a transform may own tensors whose drop accesses the stack.
        let left: Vec<LevelEntry> =
            LEVEL_STACK.with_borrow_mut(|stack| stack.extract_if(.., |entry| entry.level == self.level).collect());
        drop(left);
        LAYER_GUARDS.with_borrow_mut(|included| {
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
pub(crate) struct PoppedLevel(Option<LevelEntry>);

impl PoppedLevel {
    pub(crate) fn pop() -> Option<Self> {
        LEVEL_STACK.with_borrow_mut(Vec::pop).map(|entry| Self(Some(entry)))
    }

    pub(crate) fn entry(&self) -> Option<&LevelEntry> {
        self.0.as_ref()
    }
}

impl Drop for PoppedLevel {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            LEVEL_STACK.with_borrow_mut(|stack| stack.push(entry));
        }
    }
}

/// An error of a call inside of a transformed function.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TransformError {
    /// The transformed function wrote to a tensor from outside of the function.
    WriteToCaptured {
        /// The name of the operator.
        operator: String,
        /// The name of the written argument.
        argument: String,
    },
    /// A tensor of a level was used on another thread than the level's.
    OtherThread {
        /// The name of the operator.
        operator: String,
    },
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WriteToCaptured { operator, argument } => write!(
                f,
                "`{operator}` would write to `{argument}`, a tensor that the transformed function captured, and the transform cannot follow the \
                 write; pass it to the function as an argument, or write to a copy"
            ),
            Self::OtherThread { operator } => write!(
                f,
                "`{operator}` was called with a tensor of a transform that runs on another thread; call operators on the thread of the transformed function"
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

    struct NoOpTransform;

    impl Transform for NoOpTransform {
        fn layer_keys(&self) -> KeySet {
            KeySet::layers_of(keys::Autograd)
        }
    }

    #[test]
    fn levels_can_be_left_in_any_order() {
        let has_front_layer = || guard::included().has(keys::FuncTorchDynamicLayerFrontMode);
        let (outer, inner) = (enter(NoOpTransform), enter(NoOpTransform));
        drop(outer);
        assert!(depth() == 1 && has_front_layer());
        drop(inner);
        assert!(depth() == 0 && !has_front_layer());
    }
}
