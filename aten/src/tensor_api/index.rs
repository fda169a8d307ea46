//! `x.i((.., 0, 1..3))`: the part of a tensor that is at these positions.
//!
//! As in PyTorch, everything but tensors gives a view. What tensors pick is a copy, made of that view in one go.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Term};

use crate::is_mask;

/// Part of a tensor by position.
///
/// | index | what it gives |
/// |---|---|
/// | `2`, `-1` | one position; the dimension goes |
/// | `1..3`, `..-1`, `2..`, `..` | a run of positions; what reaches outside is left out |
/// | `Slice::step(.., 2)` | every second position |
/// | [`NewAxis`] | a new dimension of size 1 |
/// | [`Ellipsis`] | all dimensions that the other indices leave |
/// | `[2, 0]`, an integer tensor | these positions, in this order |
/// | a boolean tensor | the positions where it holds |
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_runtime::prelude::*;
///
/// # fn main() -> Result<()> {
/// let mut x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(x.i(-1)?.to_vec::<i32>()?, [4, 5, 6]);
/// assert_eq!(x.i((.., 1..))?.to_vec::<i32>()?, [2, 3, 5, 6]);
/// assert_eq!(x.i((Ellipsis, Slice::step(.., 2)))?.to_vec::<i32>()?, [1, 3, 4, 6]);
/// assert_eq!(x.i((.., [2, 0]))?.to_vec::<i32>()?, [3, 1, 6, 4]);
/// assert_eq!(x.i((.., NewAxis, 0))?.sizes(), [2, 1]);
/// assert_eq!(x.i(&x.gt_scalar(4)?)?.to_vec::<i32>()?, [5, 6]);
///
/// x.set((0, ..2), 0)?;
/// assert_eq!(x.to_vec::<i32>()?, [0, 0, 3, 4, 5, 6]);
/// # Ok(())
/// # }
/// ```
pub trait Indexing: Sized {
    /// The part of the tensor that is there: one [`Index`] for each dimension, alone or in a tuple, the first dimension first.
    /// Dimensions without one are whole.
    fn i(&self, indices: impl Indices) -> Result<Self>;

    /// Writes what is there: a tensor that stretches to it, or a number.
    fn set(&mut self, indices: impl Indices, value: impl Term) -> Result<()>;
}

/// What is meant of one dimension, or between two.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Index {
    /// One position, counted from the end where it is negative.
    At(i64),
    /// A run of positions.
    Slice(Slice),
    /// A dimension of size 1 that was not there.
    NewAxis,
    /// As many whole dimensions as nothing else is said about.
    Ellipsis,
    /// The positions that are the elements of an integer tensor, or where a boolean one is true.
    Where(Tensor),
}

/// A run of positions, some apart, of which both ends can be negative and then count from the end.
///
/// ```
/// use aten::Slice;
/// assert_eq!(Slice::from(1..=3), Slice { start: Some(1), end: Some(4), step: 1 });
/// assert_eq!(Slice::step(..-1, 2), Slice { start: None, end: Some(-1), step: 2 });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The first position.
    pub start: Option<i64>,
    /// The position before which it ends.
    pub end: Option<i64>,
    /// How far apart they are.
    pub step: i64,
}

impl Slice {
    /// From one position to before another: `1..-1`, which Rust's lints take for an empty range where both ends are literals.
    ///
    /// ```
    /// use aten::Slice;
    /// assert_eq!(Slice::between(1, -1), Slice { start: Some(1), end: Some(-1), step: 1 });
    /// ```
    #[must_use]
    pub const fn between(start: i64, end: i64) -> Self {
        Self { start: Some(start), end: Some(end), step: 1 }
    }

    /// Every `step`th position of a range.
    #[must_use]
    pub fn step(range: impl Into<Self>, step: i64) -> Self {
        Self { step, ..range.into() }
    }
}

/// A new dimension of size 1, as an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewAxis;

/// All dimensions that the other indices leave, as an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ellipsis;

/// What [`Indexing::i`] takes: something that is an [`Index`], or a tuple, an array or a vector of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says nothing about where in a tensor",
    label = "write an integer, a range, a tensor, `NewAxis`, `Ellipsis`, or a tuple of up to eight of them"
)]
pub trait Indices {
    /// The indices, the first dimension's first.
    fn list(self) -> Vec<Index>;
}

impl<I: Into<Index>> Indices for I {
    fn list(self) -> Vec<Index> {
        vec![self.into()]
    }
}

impl Indices for Vec<Index> {
    fn list(self) -> Vec<Index> {
        self
    }
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: Into<Index>),*> Indices for ($($name,)*) {
            #[allow(non_snake_case, reason = "a type and its value have one name here")]
            fn list(self) -> Vec<Index> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    )*};
}

tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }

impl From<Slice> for Index {
    fn from(slice: Slice) -> Self {
        Self::Slice(slice)
    }
}

impl From<NewAxis> for Index {
    fn from(_: NewAxis) -> Self {
        Self::NewAxis
    }
}

impl From<Ellipsis> for Index {
    fn from(_: Ellipsis) -> Self {
        Self::Ellipsis
    }
}

impl From<&Tensor> for Index {
    fn from(tensor: &Tensor) -> Self {
        Self::Where(tensor.clone())
    }
}

impl From<Tensor> for Index {
    fn from(tensor: Tensor) -> Self {
        Self::Where(tensor)
    }
}

impl<const N: usize> From<[i64; N]> for Index {
    fn from(positions: [i64; N]) -> Self {
        Self::Where(Tensor::from_slice(&positions))
    }
}

impl From<Vec<i64>> for Index {
    fn from(positions: Vec<i64>) -> Self {
        Self::Where(Tensor::from_slice(&positions))
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self { start: None, end: None, step: 1 }
    }
}

impl From<RangeFull> for Index {
    fn from(range: RangeFull) -> Self {
        Self::Slice(range.into())
    }
}

/// The position after this one. After the last there is only the end.
fn after(position: i64) -> Option<i64> {
    position.checked_add(1).filter(|&end| end != 0)
}

fn position<N: TryInto<i64>>(position: N) -> i64 {
    position.try_into().unwrap_or(i64::MAX)
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl From<$ty> for Index {
            fn from(at: $ty) -> Self {
                Self::At(position(at))
            }
        }

        integers! { $ty:
            Range, range => (Some(position(range.start)), Some(position(range.end)));
            RangeFrom, range => (Some(position(range.start)), None);
            RangeTo, range => (None, Some(position(range.end)));
            RangeInclusive, range => (Some(position(*range.start())), after(position(*range.end())));
            RangeToInclusive, range => (None, after(position(range.end)));
        }
    )*};
    ($ty:ident: $($kind:ident, $range:ident => $ends:expr;)*) => {$(
        impl From<$kind<$ty>> for Slice {
            fn from($range: $kind<$ty>) -> Self {
                let (start, end) = $ends;
                Self { start, end, step: 1 }
            }
        }

        impl From<$kind<$ty>> for Index {
            fn from(range: $kind<$ty>) -> Self {
                Self::Slice(range.into())
            }
        }
    )*};
}

integers! { i32 i64 usize }

impl Indexing for Tensor {
    fn i(&self, indices: impl Indices) -> Result<Self> {
        let (view, picks) = resolve(self, indices.list())?;
        if picks.iter().any(Option::is_some) { crate::index(&view, &picks) } else { Ok(view) }
    }

    fn set(&mut self, indices: impl Indices, value: impl Term) -> Result<()> {
        let (mut view, picks) = resolve(self, indices.list())?;
        value.with(|value| {
            if picks.iter().all(Option::is_none) {
                return crate::copy_(&mut view, value, false);
            }
            let number;
            let values = if value.is_number() {
                number = crate::_to_copy(value, Some(view.dtype()), None, Some(view.device()), None, false, None)?;
                &number
            } else {
                value
            };
            crate::index_put_(&mut view, &picks, values, false)
        })
    }
}

/// The view that everything but tensors gives, and the tensors by its dimensions.
fn resolve(tensor: &Tensor, indices: Vec<Index>) -> Result<(Tensor, Vec<Option<Tensor>>)> {
    let whole = tensor.sizes().len().checked_sub(indices.iter().map(dims).sum());
    let Some(whole) = whole else {
        let expected = format!("for the {} dimensions that there are, and no more", tensor.sizes().len());
        return Err(BadArgument::value(
            "indices",
            format!("for {} dimensions", indices.iter().map(dims).sum::<usize>()),
            expected,
        )
        .into());
    };
    if indices.iter().filter(|index| matches!(index, Index::Ellipsis)).count() > 1 {
        return Err(BadArgument::value("indices", "more than one ellipsis", "at most one").into());
    }
    let mut view = crate::alias(tensor)?;
    let (mut dim, mut picks) = (0, Vec::new());
    for index in indices {
        match index {
            Index::At(at) => view = crate::select_int(&view, dim, at)?,
            Index::Slice(Slice { start: None, end: None, step: 1 }) => {
                dim += 1;
                picks.push(None);
            }
            Index::Slice(Slice { start, end, step }) => {
                view = crate::slice(&view, dim, start, end, step)?;
                dim += 1;
                picks.push(None);
            }
            Index::NewAxis => {
                view = crate::unsqueeze(&view, dim)?;
                dim += 1;
                picks.push(None);
            }
            Index::Ellipsis => {
                dim += i64::try_from(whole).unwrap_or(i64::MAX);
                picks.resize(picks.len() + whole, None);
            }
            Index::Where(mask) if is_mask(&mask) && mask.sizes().is_empty() => {
                // All of what follows, or nothing of it: the mask of a dimension that is made for it.
                view = crate::unsqueeze(&view, dim)?;
                dim += 1;
                picks.push(Some(crate::reshape(&mask, &[1])?));
            }
            Index::Where(tensor) => {
                dim += i64::try_from(dims_of(&tensor)).unwrap_or(i64::MAX);
                picks.push(Some(tensor));
            }
        }
    }
    Ok((view, picks))
}

/// How many of the tensor's dimensions an index speaks of.
fn dims(index: &Index) -> usize {
    match index {
        Index::NewAxis | Index::Ellipsis => 0,
        Index::At(_) | Index::Slice(_) => 1,
        Index::Where(tensor) => dims_of(tensor),
    }
}

fn dims_of(index: &Tensor) -> usize {
    if is_mask(index) { index.sizes().len() } else { 1 }
}
