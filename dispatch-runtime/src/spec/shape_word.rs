//! Shape words: plans that an operator's definition names by one word.
//!
//! A definition expands its shape word to a plan. The word is also data on the operator, which layers read, for example to map over batch
//! dimensions or to count operations. It describes the sizes of the result and, by its [`Promotion`], the dtype.

use super::promotion::Promotion;
use crate::scalar::DType;

/// A shape word with the indices of the arguments that it names.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{Promotion, ShapeWord};
///
/// #[op_def("sum_over(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", shape = reduce(dim), dtype = sum)]
/// pub fn sum_over(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;
///
/// let shape = sum_over::operator().shape_word();
/// assert!(matches!(shape, Some(ShapeWord::Reduce { dims: Some(1), keepdim: Some(2), dtype: Promotion::Sum })));
/// let matrix = dispatch_runtime::Spec::contiguous(DType::I32, &[2, 3]).on(Device::META).unwrap();
/// let row = sum_over(&matrix, Some(&[0]), false).unwrap();
/// assert_eq!((row.sizes(), row.dtype()), (&[3_i64][..], DType::I64));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ShapeWord {
    /// An elementwise operator with broadcasting.
    Pointwise {
        /// The tensor and number arguments that decide the sizes and the dtype.
        operands: &'static [usize],
        /// The names of the `operands`.
        names: &'static [&'static str],
        /// The promotion rule for the dtype of the result.
        dtype: Promotion,
        /// The dtypes that the operator accepts, after promotion. Empty if the definition does not name dtypes.
        dtypes: &'static [DType],
        /// Whether the operator also computes with float8 dtypes.
        float8: bool,
    },
    /// A reduction: some dimensions of the first argument are removed, or become size 1.
    Reduce {
        /// The argument that lists the reduced dimensions. All dimensions are reduced if there is no such argument, or if its list is
        /// empty.
        dims: Option<usize>,
        /// The argument that says whether reduced dimensions stay, with size 1.
        keepdim: Option<usize>,
        /// The dtype of the result, unless an argument `dtype` names one.
        dtype: Promotion,
    },
    /// A product in Einstein notation: each dimension has a letter, equal letters have equal sizes, and the result has the letters after
    /// the arrow.
    Product {
        /// The letters of the operands and of the result, as in `mk,kn->mn`.
        letters: &'static str,
    },
}
