//! The reduction engines: folds over dimensions, and functions of lines.
//!
//! There are two. For results that can be merged in any order, such as sums, extremes and norms, an operator supplies a [`Fold`]. The
//! engine reads memory once, in memory order, for any reduced dimensions. If the innermost dimension is reduced, its elements are folded in
//! several lanes; otherwise rows are folded into a row. Operators that need all elements of a line at once, such as scans, sorts and
//! softmax, are functions of [`for_each_line`].

mod fold;
mod fold_nest;
pub mod line_totals;
mod lines;
pub mod min_max;

use dispatch_runtime::{DType, Dims, Element, ErrorKind, Geometry, Operand, Operation, Result, Tensor, operands};

pub use fold::MAX_LANE_ELEMENTS;
pub use lines::for_each_line;

use crate::elementwise::loop_nest::to_isize;

/// A reduction of elements to one result.
///
/// Elements are added to lanes, at most [`MAX_LANE_ELEMENTS`] to each, and lanes are merged into totals. With a wider type for totals, sums
/// are accurate enough.
pub trait Fold: Sync {
    /// The type to which an element is converted before it is added to a lane.
    type Input: Element;
    /// The accumulator to which a loop adds elements.
    type LaneAccumulator: Copy + Send + Sync;
    /// The accumulator into which lanes are merged.
    type TotalAccumulator: Copy + Send + Sync;
    /// The type of the result.
    type Output: Element;

    /// Returns a lane without elements.
    fn empty_lane(&self) -> Self::LaneAccumulator;

    /// Adds an element to a lane.
    fn add_to_lane(&self, lane: Self::LaneAccumulator, value: Self::Input) -> Self::LaneAccumulator;

    /// Joins two lanes.
    fn join_lanes(&self, a: Self::LaneAccumulator, b: Self::LaneAccumulator) -> Self::LaneAccumulator;

    /// Converts a lane to a total.
    fn lane_to_total(&self, lane: Self::LaneAccumulator) -> Self::TotalAccumulator;

    /// Merges two totals.
    fn merge_totals(&self, a: Self::TotalAccumulator, b: Self::TotalAccumulator) -> Self::TotalAccumulator;

    /// Computes the result from a total.
    fn total_to_result(&self, total: Self::TotalAccumulator) -> Self::Output;
}

/// Reduces the dimensions that are marked in `reduced_dims` into a contiguous tensor.
pub fn fold_into(out: &mut Tensor, this: &Tensor, reduced_dims: &[bool], fold: &impl Fold) -> Result<()> {
    let operands = operands!(write out; read this)?;
    let ([to], [from]) = (operands.written(), operands.read());
    fold_operands(from, reduced_dims, to, fold);
    Ok(())
}

/// Reduces the dimensions of `from` that are marked in `reduced_dims`, into `to`, which is contiguous.
///
/// # Panics
///
/// Panics if the sizes of `to` do not match, or if `to` is not contiguous.
pub(crate) fn fold_operands(from: &Operand<'_>, reduced_dims: &[bool], to: &Operand<'_>, fold: &impl Fold) {
    fold_nest::fold_dims(from, reduced_dims, to, fold);
}

/// Returns a tensor's sizes, with 1 in place of the dimensions that are marked in `reduced_dims`.
pub fn keepdim_sizes(sizes: &[i64], reduced_dims: &[bool]) -> Dims {
    sizes.iter().zip(reduced_dims).map(|(&size, &is_reduced)| if is_reduced { 1 } else { size }).collect()
}

/// Returns a contiguous view of the results for [`for_each_line`]: the dimensions that are marked in `reduced_dims` are kept with size 1.
pub fn keepdim_view(out: &Tensor, this: &Tensor, reduced_dims: &[bool]) -> Result<Tensor> {
    let sizes = keepdim_sizes(this.sizes(), reduced_dims);
    Ok(out.restride(Geometry::contiguous(&sizes).with_offset(out.geometry().offset()))?)
}

/// Returns marks for `rank` dimensions, of which only `dim` is set.
pub fn dim_mask(rank: usize, dim: usize) -> Vec<bool> {
    (0..rank).map(|i| i == dim).collect()
}

/// Returns the error for an argument whose dtype the operator does not support.
#[cold]
pub fn unsupported_dtype_error<O: Operation>(
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> dispatch_runtime::Error {
    ErrorKind::UnsupportedDType { operator: O::operator().name(), argument, dtype, supported }.into()
}

/// Runs a block of code with the type that a dtype is computed in, or returns an error for an unsupported dtype.
#[macro_export]
#[doc(hidden)]
macro_rules! __with_compute_type_reduce {
    ($operator:path, $dtype:expr, $name:ident: [$($ty:ty),+] => $body:expr) => {{
        let dtype: ::dispatch_runtime::DType = $dtype;
        $crate::reduce::with_compute_type!(@ $operator, "self", dtype, Some($crate::convert::compute_dtype(dtype)), $name [$($ty),+] $body)
    }};
    (@ $operator:path, $argument:literal, $dtype:ident, $computed:expr, $name:ident [$($ty:ty),+] $body:expr) => {{
        let computed = $computed;
        $(if computed == Some(<$ty as ::dispatch_runtime::Element>::DTYPE) {
            type $name = $ty;
            $body
        } else)+ {
            Err($crate::reduce::unsupported_dtype_error::<$operator>(
                $argument, $dtype, &[$(<$ty as ::dispatch_runtime::Element>::DTYPE),+],
            ))
        }
    }};
}
pub use __with_compute_type_reduce as with_compute_type;
