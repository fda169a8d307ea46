//! The error of two trees that differ in structure.

use std::fmt;

use crate::error::Error;

/// Two trees should have the same structure, but one has a tensor at a path, and the other has none.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TreeMismatch {
    /// The path of the tensor.
    pub path: String,
    /// The tree that has the tensor.
    pub present_in: &'static str,
    /// The tree that has no tensor there.
    pub missing_in: &'static str,
}

impl TreeMismatch {
    pub(super) const fn new(path: String, present_in: &'static str, missing_in: &'static str) -> Self {
        Self { path, present_in, missing_in }
    }
}

impl fmt::Display for TreeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, present_in, missing_in } = self;
        write!(
            f,
            "`{present_in}{path}` is a tensor, and `{missing_in}` has none there; both must have the same structure"
        )
    }
}

impl std::error::Error for TreeMismatch {}

impl From<TreeMismatch> for Error {
    #[cold]
    fn from(error: TreeMismatch) -> Self {
        Self::kernel(error)
    }
}
