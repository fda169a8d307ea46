//! Bounds: a smallest and a largest value, each optional.

use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The smallest and the largest value of elements: `0.0..=1.0`, `0.0..`, `..=1.0`, or ranges of tensors.
///
/// ```
/// use dispatch_runtime::{Bounds, IntoBounds, Scalar};
/// let Bounds::Numbers(lower, upper) = (0.0..).into_bounds() else { unreachable!() };
/// assert_eq!((lower, upper), (Some(Scalar::from(0.0)), None));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range of bounds",
    label = "write `0.0..=1.0`, `0.0..`, `..=1.0`, or a range of tensors such as `&lower..=&upper`",
    note = "the upper bound is included, so it is written after `..=`"
)]
pub trait IntoBounds {
    /// Converts the range to its bounds.
    fn into_bounds(self) -> Bounds;
}

/// A lower and an upper bound, each optional: numbers, or tensors with a bound for each element.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Bounds {
    /// The same bounds for all elements.
    Numbers(Option<Scalar>, Option<Scalar>),
    /// A bound for each element. The tensors broadcast.
    Tensors(Option<Tensor>, Option<Tensor>),
}

macro_rules! impl_for_ranges {
    ($($ty:ty => $variant:ident;)*) => {$(
        impl IntoBounds for RangeInclusive<$ty> {
            fn into_bounds(self) -> Bounds {
                let (lower, upper) = self.into_inner();
                Bounds::$variant(Some(lower.into()), Some(upper.into()))
            }
        }

        impl IntoBounds for RangeFrom<$ty> {
            fn into_bounds(self) -> Bounds {
                Bounds::$variant(Some(self.start.into()), None)
            }
        }

        impl IntoBounds for RangeToInclusive<$ty> {
            fn into_bounds(self) -> Bounds {
                Bounds::$variant(None, Some(self.end.into()))
            }
        }
    )*};
}

impl_for_ranges! {
    i32 => Numbers;
    i64 => Numbers;
    f32 => Numbers;
    f64 => Numbers;
    Scalar => Numbers;
    Tensor => Tensors;
}

impl IntoBounds for RangeInclusive<&Tensor> {
    fn into_bounds(self) -> Bounds {
        let (lower, upper) = self.into_inner();
        Bounds::Tensors(Some(lower.clone()), Some(upper.clone()))
    }
}

impl IntoBounds for RangeFrom<&Tensor> {
    fn into_bounds(self) -> Bounds {
        Bounds::Tensors(Some(self.start.clone()), None)
    }
}

impl IntoBounds for RangeToInclusive<&Tensor> {
    fn into_bounds(self) -> Bounds {
        Bounds::Tensors(None, Some(self.end.clone()))
    }
}
