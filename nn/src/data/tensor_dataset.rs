//! Datasets of the rows of tensors.

use aten::prelude::*;
use dispatch_runtime::{Result, Tensor};

use super::dataset::Dataset;
use super::error::DataError;

/// The rows of tensors, together: `(x[i], y[i])`.
///
/// ```
/// use dispatch_nn::data::{Dataset, TensorDataset};
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
///
/// let dataset = TensorDataset::new((Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([0, 1])))?;
/// let (x, y) = dataset.get(1)?;
/// assert_eq!((x.to_vec::<f64>()?, y.sizes()), (vec![3.0, 4.0], &[][..]));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TensorDataset<T> {
    tensors: T,
    len: usize,
}

impl<T: TensorColumns> TensorDataset<T> {
    /// Creates a dataset of a tensor, or of a tuple of tensors.
    ///
    /// # Errors
    ///
    /// Returns [`DataError::UnequalRows`] if the tensors have different numbers of rows, or if one has no dimensions.
    pub fn new(tensors: T) -> Result<Self> {
        let mut rows = Vec::new();
        tensors.for_each(&mut |tensor| rows.push(tensor.sizes().first().copied().unwrap_or(-1)));
        match rows.first().and_then(|&first| usize::try_from(first).ok()) {
            Some(len) if rows.windows(2).all(|pair| pair.first() == pair.last()) => Ok(Self { tensors, len }),
            _ => Err(DataError::UnequalRows { rows }.into()),
        }
    }
}

impl<T: TensorColumns> Dataset for TensorDataset<T> {
    type Item = T;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize) -> Result<T> {
        if index >= self.len {
            return Err(DataError::IndexOutOfRange { index, len: self.len }.into());
        }
        self.tensors.row(index)
    }
}

/// A tensor, or a tuple of tensors, in a [`TensorDataset`].
///
/// ```
/// use dispatch_nn::data::TensorColumns;
/// use dispatch_runtime::Tensor;
/// # use kernels_cpu as _;
/// assert_eq!(Tensor::from([1, 2, 3]).row(2)?.to_vec::<i32>()?, [3]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is neither a tensor nor a tuple of two to four tensors")]
pub trait TensorColumns: Send + Sync + Sized {
    /// Calls `f` with each tensor.
    fn for_each(&self, f: &mut dyn FnMut(&Tensor));

    /// Returns the row `index` of each tensor, which shares its elements.
    ///
    /// # Errors
    ///
    /// Returns the error of the view.
    fn row(&self, index: usize) -> Result<Self>;
}

impl TensorColumns for Tensor {
    fn for_each(&self, f: &mut dyn FnMut(&Tensor)) {
        f(self);
    }

    fn row(&self, index: usize) -> Result<Self> {
        self.select(0, index)
    }
}

macro_rules! impl_for_tuples {
    ($($($index:tt),+;)*) => {$(
        impl TensorColumns for ($(impl_for_tuples!(@tensor $index),)+) {
            fn for_each(&self, f: &mut dyn FnMut(&Tensor)) {
                $(f(&self.$index);)+
            }

            fn row(&self, index: usize) -> Result<Self> {
                Ok(($(self.$index.row(index)?,)+))
            }
        }
    )*};
    (@tensor $index:tt) => { Tensor };
}

impl_for_tuples! {
    0, 1;
    0, 1, 2;
    0, 1, 2, 3;
}
