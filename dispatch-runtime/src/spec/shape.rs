//! The contract of an operator in a word.
//!
//! A shape word is a plan that the definition makes, and data on the operator: layers that map over dimensions or count operations read
//! it. It says how sizes come about and, by its [`Promotion`], the dtype.

use super::promotion::Promotion;
use crate::scalar::DType;

/// A shape word with the arguments that it names, by position.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Promotion, Shape};
///
/// #[op_def("sum_over(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = sum)]
/// pub fn sum_over(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;
///
/// let shape = sum_over::operator().shape();
/// assert!(matches!(shape, Some(Shape::Reduce { dims: Some(1), keepdim: Some(2), dtype: Promotion::Sum })));
/// let matrix = dispatch_runtime::Spec::contiguous(DType::I32, &[2, 3]).on(Device::META).unwrap();
/// let row = sum_over(&matrix, Some(&[0]), false).unwrap();
/// assert_eq!((row.sizes(), row.dtype()), (&[3_i64][..], DType::I64));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// Elements meet one by one, after broadcasting.
    Pointwise {
        /// The tensors and numbers that decide sizes and dtype.
        operands: &'static [usize],
        /// Their names.
        names: &'static [&'static str],
        /// The dtype of the result.
        dtype: Promotion,
        /// The dtypes that it computes in: halves count as [`DType::F32`], integers and booleans as [`DType::I64`]. Empty if the
        /// definition does not say.
        dtypes: &'static [DType],
    },
    /// Some dimensions of the first argument are gone, or of size 1.
    Reduce {
        /// The argument that lists them; without one, or without any listed, all are.
        dims: Option<usize>,
        /// The argument that says whether they stay, with size 1.
        keepdim: Option<usize>,
        /// The dtype of the result, unless an argument `dtype` names one.
        dtype: Promotion,
    },
    /// Dimensions are letters: equal letters have equal sizes, and those of the result are what remains.
    Product {
        /// The letters, as in `mk,kn->mn`.
        letters: &'static str,
    },
}
