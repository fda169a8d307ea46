//! A list of integers in the options of methods.

use dispatch_runtime::{Dims, IntoSizes};

/// A list of sizes, strides or dimensions in the options of a method. It converts from all types of [`IntoSizes`]: `2.into()`,
/// `[2, 3].into()`. An empty list, the default, leaves the choice to the method.
///
/// ```
/// use aten::IntList;
/// assert_eq!(IntList::from((1, -1)).as_slice(), [1, -1]);
/// assert!(IntList::default().is_empty());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct IntList(Dims);

impl<L: IntoSizes> From<L> for IntList {
    fn from(list: L) -> Self {
        Self(list.into_sizes())
    }
}

impl IntList {
    /// Returns the list as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[i64] {
        &self.0
    }

    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the list, or `None` if it is empty.
    pub(crate) fn if_not_empty(&self) -> Option<&[i64]> {
        (!self.is_empty()).then_some(self.as_slice())
    }

    /// Returns the list, or `[0]` if it is empty.
    #[cfg(any(feature = "conv", feature = "pooling"))]
    pub(crate) fn or_zeros(&self) -> &[i64] {
        self.if_not_empty().unwrap_or(&[0])
    }

    /// Returns the list, or `[1]` if it is empty.
    #[cfg(any(feature = "conv", feature = "pooling"))]
    pub(crate) fn or_ones(&self) -> &[i64] {
        self.if_not_empty().unwrap_or(&[1])
    }
}
