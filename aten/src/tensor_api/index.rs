//! Indexing of tensors: `x.i((.., 0, 1..3))`.
//!
//! As in PyTorch, indices that are no tensors return a view. If there are index tensors, one call of `index` copies the selected elements
//! of that view.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ArithmeticOperand, BadArgument, IntoInt, Problem};

use crate::{ConversionMethods, IndexingMethods, is_mask};

/// Indexing of a tensor: reading ([`i`](Self::i)) and writing ([`set`](Self::set)) at indices, as in NumPy.
///
/// | index | selects |
/// |---|---|
/// | `2`, `-1` | one index; the dimension is removed |
/// | `1..3`, `..-1`, `2..`, `..` | a range of indices; a range beyond the size is cut off |
/// | `Slice::step(.., 2)` | every second index |
/// | [`NewAxis`] | a new dimension of size 1 |
/// | [`Ellipsis`] | all dimensions that no other index covers |
/// | `[2, 0]`, a slice, a `Vec`, an integer tensor | these indices, in this order |
/// | `[true, false]`, a boolean tensor | the indices at which it is true |
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(x.i(-1)?.to_vec::<i32>()?, [4, 5, 6]);
/// assert_eq!(x.i((.., 1..))?.to_vec::<i32>()?, [2, 3, 5, 6]);
/// assert_eq!(x.i((Ellipsis, Slice::step(.., 2)))?.to_vec::<i32>()?, [1, 3, 4, 6]);
/// assert_eq!(x.i((.., [2, 0]))?.to_vec::<i32>()?, [3, 1, 6, 4]);
/// assert_eq!(x.i((.., NewAxis, 0))?.sizes(), [2, 1]);
/// assert_eq!(x.i(&x.gt(4)?)?.to_vec::<i32>()?, [5, 6]);
///
/// x.set((0, ..2), 0)?;
/// assert_eq!(x.to_vec::<i32>()?, [0, 0, 3, 4, 5, 6]);
/// # Ok(())
/// # }
/// ```
pub trait Indexing: Sized {
    /// Returns the elements at the indices: one [`Index`] for each dimension, alone or in a tuple, starting with the first dimension.
    /// Dimensions without an index are selected whole. PyTorch: `x[...]`.
    fn i(&self, indices: impl Indices) -> Result<Self>;

    /// Writes `value` to the elements at the indices. `value` is a number, or a tensor that broadcasts to the sizes of the selection.
    /// PyTorch: `x[...] = value`.
    fn set(&self, indices: impl Indices, value: impl ArithmeticOperand) -> Result<()>;
}

/// An index of one dimension (or of several, for masks and ellipses), or a new dimension.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Index {
    /// A single index. A negative index counts from the end.
    Single(i64),
    /// A range of indices, with a step.
    Slice(Slice),
    /// A new dimension of size 1.
    NewAxis,
    /// All dimensions that no other index covers, selected whole.
    Ellipsis,
    /// The indices in an integer tensor, or the indices at which a boolean tensor is true.
    Tensor(Tensor),
}

/// A range of indices with a step. A negative start or end counts from the end of the dimension.
///
/// ```
/// use aten::Slice;
/// assert_eq!(Slice::from(1..=3), Slice { start: Some(1), end: Some(4), step: 1 });
/// assert_eq!(Slice::step(..-1, 2), Slice { start: None, end: Some(-1), step: 2 });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The first index. `None` is the start of the dimension.
    pub start: Option<i64>,
    /// The end, excluded. `None` is the end of the dimension.
    pub end: Option<i64>,
    /// The distance between two indices.
    pub step: i64,
}

impl Slice {
    /// Returns the slice from `start` to `end`, excluded. Use it for `1..-1`, which Rust's lints report as an empty range if both ends are
    /// literals.
    ///
    /// ```
    /// use aten::Slice;
    /// assert_eq!(Slice::between(1, -1), Slice { start: Some(1), end: Some(-1), step: 1 });
    /// ```
    #[must_use]
    pub const fn between(start: i64, end: i64) -> Self {
        Self { start: Some(start), end: Some(end), step: 1 }
    }

    /// Returns the slice of every `step`th index of a range.
    #[must_use]
    pub fn step(range: impl Into<Self>, step: i64) -> Self {
        Self { step, ..range.into() }
    }
}

/// The index that inserts a new dimension of size 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewAxis;

/// The index that selects, whole, all dimensions that no other index covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ellipsis;

/// A value that is one [`Index`], as the table of [`Indexing`] lists them.
///
/// ```
/// use aten::{Index, IntoIndex};
/// let last = 2_usize;
/// let indices: Vec<Index> = vec![(..).into_index(), [0, last].into_index()];
/// assert!(matches!(indices[1], Index::Tensor(_)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of a tensor",
    label = "write an integer, a range, a tensor, a list of integers or booleans, `NewAxis` or `Ellipsis`",
    note = "integers are `i32`, `i64` or `usize`; after a call that returns a `Result`, write `?`"
)]
pub trait IntoIndex {
    /// Converts the value to an index.
    fn into_index(self) -> Index;
}

/// The argument of [`Indexing::i`]: an [index](IntoIndex), a tuple of up to eight indices, or a `Vec<Index>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of a tensor",
    label = "write an integer, a range, a tensor, `NewAxis`, `Ellipsis`, or a tuple of up to eight of them",
    note = "integers are `i32`, `i64` or `usize`; after a call that returns a `Result`, write `?`"
)]
pub trait Indices {
    /// Returns the indices as a list, starting with the first dimension.
    fn into_list(self) -> Vec<Index>;
}

impl<I: IntoIndex> Indices for I {
    fn into_list(self) -> Vec<Index> {
        vec![self.into_index()]
    }
}

impl Indices for Vec<Index> {
    fn into_list(self) -> Vec<Index> {
        self
    }
}

macro_rules! impl_indices_for_tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: IntoIndex),*> Indices for ($($name,)*) {
            #[allow(non_snake_case, reason = "a type parameter and its value have one name")]
            fn into_list(self) -> Vec<Index> {
                let ($($name,)*) = self;
                vec![$($name.into_index()),*]
            }
        }
    )*};
}

impl_indices_for_tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }

macro_rules! impl_into_index {
    ($([$($generics:tt)*] $ty:ty: $this:ident => $index:expr;)*) => {$(
        impl<$($generics)*> IntoIndex for $ty {
            fn into_index(self) -> Index {
                let $this = self;
                $index
            }
        }
    )*};
}

impl_into_index! {
    [] Index: index => index;
    [] Slice: slice => Index::Slice(slice);
    [] RangeFull: range => Index::Slice(range.into());
    [] NewAxis: _this => Index::NewAxis;
    [] Ellipsis: _this => Index::Ellipsis;
    [] &Tensor: tensor => Index::Tensor(tensor.clone());
    [] Tensor: tensor => Index::Tensor(tensor);
}

macro_rules! impl_into_index_for_lists {
    ($($ty:ty: $to_tensor:expr;)*) => {$(
        impl_into_index! {
            [] &[$ty]: list => Index::Tensor($to_tensor(list));
            [const N: usize] [$ty; N]: list => Index::Tensor($to_tensor(&list));
            [const N: usize] &[$ty; N]: list => Index::Tensor($to_tensor(list));
            [] Vec<$ty>: list => Index::Tensor($to_tensor(&list));
            [] &Vec<$ty>: list => Index::Tensor($to_tensor(list));
        }
    )*};
}

impl_into_index_for_lists! {
    i32: tensor_of_indices;
    i64: tensor_of_indices;
    usize: tensor_of_indices;
    bool: Tensor::from;
}

fn tensor_of_indices<T: IntoInt + Copy>(indices: &[T]) -> Tensor {
    Tensor::from_slice(&indices.iter().map(|index| index.into_int()).collect::<Vec<_>>())
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self { start: None, end: None, step: 1 }
    }
}

/// Returns the excluded end of a range with the included end `position`. After the last index, -1, this is `None`: the end of the
/// dimension.
fn exclusive_end(position: i64) -> Option<i64> {
    position.checked_add(1).filter(|&end| end != 0)
}

macro_rules! impl_from_integers_and_ranges {
    ($($ty:ident)*) => {$(
        impl_into_index! { [] $ty: at => Index::Single(at.into_int()); }

        impl_from_integers_and_ranges! { $ty:
            Range, range => (Some(range.start.into_int()), Some(range.end.into_int()));
            RangeFrom, range => (Some(range.start.into_int()), None);
            RangeTo, range => (None, Some(range.end.into_int()));
            RangeInclusive, range => (Some(range.start().into_int()), exclusive_end(range.end().into_int()));
            RangeToInclusive, range => (None, exclusive_end(range.end.into_int()));
        }
    )*};
    ($ty:ident: $($kind:ident, $range:ident => $ends:expr;)*) => {$(
        impl From<$kind<$ty>> for Slice {
            fn from($range: $kind<$ty>) -> Self {
                let (start, end) = $ends;
                Self { start, end, step: 1 }
            }
        }

        impl_into_index! { [] $kind<$ty>: range => Index::Slice(range.into()); }
    )*};
}

impl_from_integers_and_ranges! { i32 i64 usize }

impl Indexing for Tensor {
    fn i(&self, indices: impl Indices) -> Result<Self> {
        let (view, index_tensors) = apply_view_indices(self, indices.into_list())?;
        if index_tensors.iter().any(Option::is_some) { crate::index(&view, &index_tensors) } else { Ok(view) }
    }

    fn set(&self, indices: impl Indices, value: impl ArithmeticOperand) -> Result<()> {
        let (view, index_tensors) = apply_view_indices(self, indices.into_list())?;
        value.call_with_tensor(|value| {
            if index_tensors.iter().all(Option::is_none) {
                return view.copy_(value);
            }
            let number;
            let values = if value.is_number() {
                number = crate::_to_copy(value, Some(view.dtype()), None, Some(view.device()), None, false, None)?;
                &number
            } else {
                value
            };
            view.index_put_(&index_tensors, values, false)
        })
    }
}

/// Applies all indices but tensors. Returns the view and, for each of its dimensions, the index tensor if there is one.
fn apply_view_indices(tensor: &Tensor, indices: Vec<Index>) -> Result<(Tensor, Vec<Option<Tensor>>)> {
    let unindexed = tensor.sizes().len().checked_sub(indices.iter().map(covered_dim_count).sum());
    let Some(unindexed) = unindexed else {
        let expected = format!("for at most {} dimensions, those of the tensor", tensor.sizes().len());
        return Err(BadArgument::value(
            "indices",
            format!("for {} dimensions", indices.iter().map(covered_dim_count).sum::<usize>()),
            expected,
        )
        .into());
    };
    if indices.iter().filter(|index| matches!(index, Index::Ellipsis)).count() > 1 {
        return Err(BadArgument::value("indices", "more than one ellipsis", "at most one").into());
    }
    check_single_indices(tensor, &indices, unindexed)?;
    let mut view = crate::alias(tensor)?;
    let (mut dim, mut index_tensors) = (0, Vec::new());
    for index in indices {
        match index {
            Index::Single(at) => view = crate::select_int(&view, dim, at)?,
            Index::Slice(Slice { start: None, end: None, step: 1 }) => {
                dim += 1;
                index_tensors.push(None);
            }
            Index::Slice(Slice { start, end, step }) => {
                view = crate::slice(&view, dim, start, end, step)?;
                dim += 1;
                index_tensors.push(None);
            }
            Index::NewAxis => {
                view = crate::unsqueeze(&view, dim)?;
                dim += 1;
                index_tensors.push(None);
            }
            Index::Ellipsis => {
                dim += i64::try_from(unindexed).unwrap_or(i64::MAX);
                index_tensors.resize(index_tensors.len() + unindexed, None);
            }
            Index::Tensor(mask) if is_mask(&mask) && mask.sizes().is_empty() => {
                // A mask without dimensions selects all or nothing: it becomes the mask of a new dimension of size 1.
                view = crate::unsqueeze(&view, dim)?;
                dim += 1;
                index_tensors.push(Some(crate::reshape(&mask, &[1])?));
            }
            Index::Tensor(tensor) => {
                dim += i64::try_from(covered_dim_count_of_tensor(&tensor)).unwrap_or(i64::MAX);
                index_tensors.push(Some(tensor));
            }
        }
    }
    Ok((view, index_tensors))
}

/// Checks the single indices against the tensor's own dimensions. Views have lost the dimensions of earlier indices, so that their errors
/// would name others.
fn check_single_indices(tensor: &Tensor, indices: &[Index], unindexed: usize) -> Result<(), BadArgument> {
    let mut dim = 0;
    for index in indices {
        if let (&Index::Single(index), Some(&size)) = (index, tensor.sizes().get(dim))
            && !(size.saturating_neg()..size).contains(&index)
        {
            return Err(BadArgument::new("indices", Problem::Index { index, size, dim: Some(dim) }));
        }
        dim += if matches!(index, Index::Ellipsis) { unindexed } else { covered_dim_count(index) };
    }
    Ok(())
}

/// Returns the number of the tensor's dimensions that an index covers.
fn covered_dim_count(index: &Index) -> usize {
    match index {
        Index::NewAxis | Index::Ellipsis => 0,
        Index::Single(_) | Index::Slice(_) => 1,
        Index::Tensor(tensor) => covered_dim_count_of_tensor(tensor),
    }
}

fn covered_dim_count_of_tensor(index: &Tensor) -> usize {
    if is_mask(index) { index.sizes().len() } else { 1 }
}
