//! The batch of some items.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

use super::error::DataError;

/// An item whose batches are made without a function of the caller: tensors are stacked, numbers become a tensor, and tuples, arrays and
/// lists are made into batches part by part: a list of numbers becomes a list of vectors. For a row of numbers, return a tensor.
///
/// ```
/// use dispatch_nn::data::Collate;
/// use dispatch_runtime::{DType, Tensor};
/// # use kernels_cpu as _;
///
/// let items = vec![(Tensor::from([1.0, 2.0]), 7_i64), (Tensor::from([3.0, 4.0]), 8)];
/// let (x, y) = Collate::collate(items)?;
/// assert_eq!((x.sizes(), y.sizes(), y.dtype()), (&[2, 2][..], &[2][..], DType::I64));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "items of type `{Self}` have no default batch",
    note = "tensors, numbers, texts, and tuples, arrays and lists of these have one; for other items call `DataLoader::with_collate`"
)]
pub trait Collate: Sized {
    /// The type of a batch.
    type Batch;

    /// Returns the batch of some items.
    ///
    /// # Errors
    ///
    /// Returns an error if the items have different sizes.
    fn collate(items: Vec<Self>) -> Result<Self::Batch>;
}

impl Collate for Tensor {
    type Batch = Self;

    fn collate(items: Vec<Self>) -> Result<Self> {
        if items.is_empty() {
            return Err(DataError::EmptyBatch.into());
        }
        Self::stack(&items, 0)
    }
}

macro_rules! impl_for_numbers {
    ($($number:ty)*) => {$(
        impl Collate for $number {
            type Batch = Tensor;

            fn collate(items: Vec<Self>) -> Result<Tensor> {
                Ok(Tensor::from(items))
            }
        }
    )*};
}

impl_for_numbers! { bool u8 i8 i16 i32 i64 f32 f64 }

impl Collate for String {
    type Batch = Vec<Self>;

    fn collate(items: Vec<Self>) -> Result<Vec<Self>> {
        Ok(items)
    }
}

impl<T: Collate> Collate for Vec<T> {
    type Batch = Vec<T::Batch>;

    fn collate(items: Vec<Self>) -> Result<Vec<T::Batch>> {
        let first = items.first().map_or(0, Self::len);
        let mut parts: Vec<Self> = (0..first).map(|_| Self::with_capacity(items.len())).collect();
        for item in items {
            if item.len() != first {
                return Err(DataError::UnequalLengths { first, other: item.len() }.into());
            }
            parts.iter_mut().zip(item).for_each(|(part, element)| part.push(element));
        }
        parts.into_iter().map(T::collate).collect()
    }
}

impl<T: Collate, const N: usize> Collate for [T; N] {
    type Batch = [T::Batch; N];

    fn collate(items: Vec<Self>) -> Result<[T::Batch; N]> {
        let mut parts: [Vec<T>; N] = std::array::from_fn(|_| Vec::with_capacity(items.len()));
        for item in items {
            parts.iter_mut().zip(item).for_each(|(part, element)| part.push(element));
        }
        let batches: Vec<T::Batch> = parts.into_iter().map(T::collate).collect::<Result<_>>()?;
        let found = batches.len();
        batches.try_into().map_err(|_| DataError::UnequalLengths { first: N, other: found }.into())
    }
}

macro_rules! impl_for_tuples {
    ($($($name:ident $part:ident)*;)*) => {$(
        impl<$($name: Collate),*> Collate for ($($name,)*) {
            type Batch = ($($name::Batch,)*);

            fn collate(items: Vec<Self>) -> Result<Self::Batch> {
                $(let mut $part = Vec::with_capacity(items.len());)*
                for item in items {
                    #[expect(non_snake_case, reason = "each part has the name of its type")]
                    let ($($name,)*) = item;
                    $($part.push($name);)*
                }
                Ok(($($name::collate($part)?,)*))
            }
        }
    )*};
}

impl_for_tuples! {
    A a B b;
    A a B b C c;
    A a B b C c D d;
}
