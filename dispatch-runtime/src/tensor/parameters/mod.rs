//! The types that methods of tensors accept as sizes, dimensions, integers and bounds.
//!
//! Each is a trait with a message for the compiler's error. They convert to the types of operators: `i64` and lists of `i64`. An integer
//! that `i64` cannot represent becomes `i64::MAX`, which operators refuse as out of range.

mod bounds;
mod lists;

pub use bounds::{Bounds, IntoBounds};
pub use lists::{IntoAxes, IntoSizes};

/// An integer argument of a method: a dimension, an index or a count. It is an `i32`, an `i64` or a `usize`.
///
/// Dimensions and indices may be negative: they count from the end.
///
/// ```
/// use dispatch_runtime::IntoInt;
/// fn dim(dim: impl IntoInt) -> i64 {
///     dim.into_int()
/// }
/// assert_eq!((dim(-1), dim(2_usize), dim(3_i64)), (-1, 2, 3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer argument",
    label = "write one integer: an `i32`, an `i64` or a `usize`",
    note = "methods such as `sum_dims` and `permute` take several dimensions: `x.sum_dims([0, 2])`"
)]
pub trait IntoInt {
    /// Converts the integer to the type of operators' arguments.
    fn into_int(self) -> i64;
}

impl IntoInt for i32 {
    fn into_int(self) -> i64 {
        self.into()
    }
}

impl IntoInt for i64 {
    fn into_int(self) -> i64 {
        self
    }
}

impl IntoInt for usize {
    fn into_int(self) -> i64 {
        self.try_into().unwrap_or(i64::MAX)
    }
}
