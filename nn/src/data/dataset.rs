//! Datasets: items by index.

use std::sync::Arc;

use dispatch_runtime::{BadArgument, Result};

use super::error::DataError;
use super::random_numbers::{Purpose, derived_seed, shuffled};

/// Items by index, such as pictures with their labels.
///
/// [`Items`] makes a dataset of a list. Random operators in `get` draw their numbers from a generator that depends on the loader's seed, the
/// epoch and the index alone.
///
/// ```
/// use dispatch_nn::data::Dataset;
/// use dispatch_runtime::Result;
///
/// /// The squares below `count`.
/// struct Squares {
///     count: usize,
/// }
///
/// impl Dataset for Squares {
///     type Item = i64;
///
///     fn len(&self) -> usize {
///         self.count
///     }
///
///     fn get(&self, index: usize) -> Result<i64> {
///         Ok((index * index) as i64)
///     }
/// }
///
/// let halves = Squares { count: 4 }.map(|square| Ok(square as f32 * 0.5));
/// assert_eq!(halves.get(3)?, 4.5);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
pub trait Dataset: Send + Sync {
    /// The type of an item.
    type Item;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns an item.
    ///
    /// # Errors
    ///
    /// Returns an error if the item cannot be read, or if the index is not below the number of items.
    fn get(&self, index: usize) -> Result<Self::Item>;

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Applies a function to each item when it is read.
    fn map<R, F: Fn(Self::Item) -> Result<R> + Send + Sync>(self, function: F) -> Map<Self, F>
    where
        Self: Sized,
    {
        Map { dataset: self, function }
    }

    /// Returns the dataset of the items at these indices.
    ///
    /// # Errors
    ///
    /// Returns [`DataError::IndexOutOfRange`] if an index is not below the number of items.
    fn subset(self, indices: Vec<usize>) -> Result<Subset<Self>>
    where
        Self: Sized,
    {
        let len = self.len();
        match indices.iter().find(|&&index| index >= len) {
            Some(&index) => Err(DataError::IndexOutOfRange { index, len }.into()),
            None => Ok(Subset { dataset: self, indices }),
        }
    }

    /// Returns the dataset of these items and then those of another dataset.
    fn concat<D: Dataset<Item = Self::Item>>(self, other: D) -> Concat<Self, D>
    where
        Self: Sized,
    {
        Concat { first: self, second: other }
    }
}

/// The elements of a list as a dataset.
///
/// `Vec` itself is none, because `vec.get(i)` would then mean [`Dataset::get`] wherever the trait is imported.
///
/// ```
/// use dispatch_nn::data::{Dataset, Items};
/// assert_eq!(Items(vec![1, 2]).get(1)?, 2);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Items<T>(pub Vec<T>);

impl<T: Clone + Send + Sync> Dataset for Items<T> {
    type Item = T;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> Result<T> {
        let error = || DataError::IndexOutOfRange { index, len: self.0.len() }.into();
        self.0.get(index).cloned().ok_or_else(error)
    }
}

macro_rules! impl_for_pointers {
    ($($pointer:ident)*) => {$(
        impl<D: Dataset + ?Sized> Dataset for $pointer<D> {
            type Item = D::Item;

            fn len(&self) -> usize {
                (**self).len()
            }

            fn get(&self, index: usize) -> Result<D::Item> {
                (**self).get(index)
            }
        }
    )*};
}

impl_for_pointers! { Box Arc }

/// A dataset with a function that is applied to each item, see [`Dataset::map`].
///
/// ```
/// use dispatch_nn::data::{Dataset, Items};
/// let doubled = Items(vec![1, 2, 3]).map(|number| Ok(2 * number));
/// assert_eq!(doubled.get(2)?, 6);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Map<D, F> {
    dataset: D,
    function: F,
}

impl<D: Dataset, R, F: Fn(D::Item) -> Result<R> + Send + Sync> Dataset for Map<D, F> {
    type Item = R;

    fn len(&self) -> usize {
        self.dataset.len()
    }

    fn get(&self, index: usize) -> Result<R> {
        (self.function)(self.dataset.get(index)?)
    }
}

/// Some items of a dataset, see [`Dataset::subset`].
///
/// ```
/// use dispatch_nn::data::{Dataset, Items};
/// let some = Items(vec!["a", "b", "c"]).subset(vec![2, 0])?;
/// assert_eq!((some.len(), some.get(0)?), (2, "c"));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subset<D> {
    dataset: D,
    indices: Vec<usize>,
}

impl<D: Dataset> Dataset for Subset<D> {
    type Item = D::Item;

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn get(&self, index: usize) -> Result<D::Item> {
        let error = || DataError::IndexOutOfRange { index, len: self.indices.len() };
        self.dataset.get(*self.indices.get(index).ok_or_else(error)?)
    }
}

/// Two datasets, one after the other, see [`Dataset::concat`].
///
/// ```
/// use dispatch_nn::data::{Dataset, Items};
/// let both = Items(vec![1, 2]).concat(Items(vec![3]));
/// assert_eq!((both.len(), both.get(2)?), (3, 3));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Concat<A, B> {
    first: A,
    second: B,
}

impl<A: Dataset, B: Dataset<Item = A::Item>> Dataset for Concat<A, B> {
    type Item = A::Item;

    fn len(&self) -> usize {
        self.first.len().saturating_add(self.second.len())
    }

    fn get(&self, index: usize) -> Result<A::Item> {
        match index.checked_sub(self.first.len()) {
            None => self.first.get(index),
            Some(index) => self.second.get(index),
        }
    }
}

/// Splits a dataset at random into parts of these lengths. The seed decides which items are in which part.
///
/// ```
/// use dispatch_nn::data::{Dataset, Items, random_split};
/// let parts = random_split(Items((0..10).collect::<Vec<i64>>()), &[8, 2], 0)?;
/// assert_eq!((parts[0].len(), parts[1].len()), (8, 2));
/// assert!(random_split(Items(vec![1, 2, 3]), &[1, 1], 0).is_err());
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if the sum of the lengths is not the number of items.
pub fn random_split<D: Dataset>(dataset: D, lengths: &[usize], seed: u64) -> Result<Vec<Subset<Arc<D>>>> {
    let total = lengths.iter().fold(0_usize, |total, &length| total.saturating_add(length));
    if total != dataset.len() {
        let expected = format!("a list with the sum {}, the number of items", dataset.len());
        return Err(BadArgument::value("lengths", format!("{lengths:?}"), expected).into());
    }
    let mut left = shuffled(total, derived_seed(seed, Purpose::Split, 0, 0)).into_iter();
    let dataset = Arc::new(dataset);
    let part =
        |&length: &usize| Subset { dataset: Arc::clone(&dataset), indices: left.by_ref().take(length).collect() };
    Ok(lengths.iter().map(part).collect())
}
