//! The stack of levels that function transforms share.
//!
//! A transform (such as the gradient of a function, or a function over a batch) runs a function at a *level* of its own. Levels nest in any
//! order, and each operator call goes through all of them, from the innermost out:
//!
//! ```text
//! front    the highest layer below the modes: lifts the arguments to the innermost level and enables only that level's own layers
//!   ...    those layers, such as Autograd: they see tensors of this level
//! back     the lowest of them: takes the level off the stack, lowers the arguments, and calls the operator again. The call enters the
//!          front for the next level, or is a plain call if no level is left. Its results are lifted to the level again
//! ```
//!
//! A layer that transforms functions implements [`Transform`] and [enters](enter) a level while the function runs. A tensor of a level is a
//! [`LiftInfo`] one: the same elements under additional keys. What a level records about it does not affect other levels.
#![forbid(unsafe_code)]

mod front_and_back;
mod level_stack;
mod lifted;

pub use front_and_back::caller_state;
pub use level_stack::{Level, LevelGuard, Transform, TransformError, depth, enter};
pub use lifted::{LiftInfo, is_lifted, unwrap_ended_levels};
