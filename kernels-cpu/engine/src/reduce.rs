//! The reduction engines: folds over dimensions, and functions of lines.
//!
//! There are two. For results that can be merged in any order, such as sums, extremes and norms, an operator supplies a [`Fold`]. The
//! engine reads memory once, in memory order, for any reduced dimensions. If the innermost dimension is reduced, its elements are folded in
//! several lanes; otherwise rows are folded into a row. Operators that need all elements of a line at once, such as scans, sorts and
//! softmax, are functions of [`lines`].

mod fold;
pub mod line_totals;
mod lines;
pub mod min_max;
mod walk;

use dispatch_runtime::{DType, Dims, Element, ErrorKind, Geometry, Operation, Result, Tensor, operands};

pub use fold::MOST_IN_A_LANE;
pub use lines::lines;

use crate::elementwise::loop_nest::bytes_of as signed;

/// A reduction of elements to one result.
///
/// Elements are added to lanes, at most [`MOST_IN_A_LANE`] to each, and lanes are merged into totals. With a wider type for totals, sums
/// are accurate enough.
pub trait Fold: Sync {
    /// The type that elements are converted to.
    type In: Element;
    /// The accumulator of a loop.
    type Lane: Copy + Send + Sync;
    /// The accumulator of lanes.
    type Total: Copy + Send + Sync;
    /// The type of the result.
    type Out: Element;

    /// Returns a lane without elements.
    fn lane(&self) -> Self::Lane;

    /// Adds an element to a lane.
    fn add(&self, lane: Self::Lane, value: Self::In) -> Self::Lane;

    /// Joins two lanes.
    fn join(&self, a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// Converts a lane to a total.
    fn total(&self, lane: Self::Lane) -> Self::Total;

    /// Merges two totals.
    fn merge(&self, a: Self::Total, b: Self::Total) -> Self::Total;

    /// Computes the result from a total.
    fn finish(&self, total: Self::Total) -> Self::Out;
}

/// Reduces the dimensions that are marked in `gone` into a contiguous tensor.
pub fn fold_into(out: &mut Tensor, this: &Tensor, gone: &[bool], fold: &impl Fold) -> Result<()> {
    let operands = operands!(write out; read this)?;
    let ([to], [from]) = (operands.written(), operands.read());
    walk::walk(from, gone, to, fold);
    Ok(())
}

/// Returns the sizes with 1 in place of the dimensions that are marked in `gone`.
pub fn kept_sizes(sizes: &[i64], gone: &[bool]) -> Dims {
    sizes.iter().zip(gone).map(|(&size, &gone)| if gone { 1 } else { size }).collect()
}

/// Returns a contiguous view of the results for [`lines`]: the dimensions that are marked in `gone` are kept with size 1.
pub fn kept(out: &Tensor, this: &Tensor, gone: &[bool]) -> Result<Tensor> {
    let sizes = kept_sizes(this.sizes(), gone);
    Ok(out.restride(Geometry::contiguous(&sizes).with_offset(out.geometry().offset()))?)
}

/// Returns marks for `rank` dimensions, of which only `dim` is set.
pub fn marked(rank: usize, dim: usize) -> Vec<bool> {
    (0..rank).map(|i| i == dim).collect()
}

/// Returns the error for an unsupported dtype.
#[cold]
pub fn unsupported<O: Operation>(
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> dispatch_runtime::Error {
    ErrorKind::UnsupportedDType { operator: O::operator().name(), argument, dtype, supported }.into()
}

/// Runs a body with the type that a dtype is computed in, or returns an error for an unsupported dtype.
#[macro_export]
#[doc(hidden)]
macro_rules! __computed_reduce {
    ($operator:path, $dtype:expr, $name:ident: [$($ty:ty),+] => $body:expr) => {{
        let dtype: ::dispatch_runtime::DType = $dtype;
        $crate::reduce::computed!(@ $operator, "self", dtype, Some($crate::convert::computed_in(dtype)), $name [$($ty),+] $body)
    }};
    (@ $operator:path, $argument:literal, $dtype:ident, $computed:expr, $name:ident [$($ty:ty),+] $body:expr) => {{
        let computed = $computed;
        $(if computed == Some(<$ty as ::dispatch_runtime::Element>::DTYPE) {
            type $name = $ty;
            $body
        } else)+ {
            Err($crate::reduce::unsupported::<$operator>(
                $argument, $dtype, &[$(<$ty as ::dispatch_runtime::Element>::DTYPE),+],
            ))
        }
    }};
}
pub use __computed_reduce as computed;
