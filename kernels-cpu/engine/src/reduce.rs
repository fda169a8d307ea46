//! The reduction engines.
//!
//! There are two. Where results are merged from parts in any order - sums, extremes, norms - an operator brings a [`Fold`], and the
//! engine reads memory once in the order in which it lies, whichever dimensions go: a reduced dimension that is innermost is folded in
//! several lanes, a kept one that is innermost is folded as rows into a row. Everything that wants its elements as one run - scans,
//! sorts, softmax - is a function of [`lines`].

mod fold;
pub mod line_totals;
mod lines;
pub mod min_max;
mod walk;

use dispatch_runtime::{DType, Dims, Element, ErrorKind, Geometry, Operation, Result, Tensor, operands};

pub use fold::MOST_IN_A_LANE;
pub use lines::lines;

use crate::elementwise::loop_nest::bytes_of as signed;

/// How elements become one.
///
/// Elements are added to lanes, [`MOST_IN_A_LANE`] to each at most, and lanes to totals: sums are exact enough if totals are wider.
pub trait Fold: Sync {
    /// What elements are converted to.
    type In: Element;
    /// What a loop carries.
    type Lane: Copy + Send + Sync;
    /// What lanes end in.
    type Total: Copy + Send + Sync;
    /// What a total ends in.
    type Out: Element;

    /// A lane without elements.
    fn lane(&self) -> Self::Lane;

    /// A lane with one element more.
    fn add(&self, lane: Self::Lane, value: Self::In) -> Self::Lane;

    /// Two lanes as one.
    fn join(&self, a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// The total of one lane.
    fn total(&self, lane: Self::Lane) -> Self::Total;

    /// Two totals as one.
    fn merge(&self, a: Self::Total, b: Self::Total) -> Self::Total;

    /// The result.
    fn finish(&self, total: Self::Total) -> Self::Out;
}

/// Folds the dimensions that are `gone` into a tensor whose elements lie side by side.
pub fn fold_into(out: &mut Tensor, this: &Tensor, gone: &[bool], fold: &impl Fold) -> Result<()> {
    let operands = operands!(write out; read this)?;
    let ([to], [from]) = (operands.written(), operands.read());
    walk::walk(from, gone, to, fold);
    Ok(())
}

/// Sizes with 1 in place of the dimensions that are `gone`.
pub fn kept_sizes(sizes: &[i64], gone: &[bool]) -> Dims {
    sizes.iter().zip(gone).map(|(&size, &gone)| if gone { 1 } else { size }).collect()
}

/// Results as [`lines`] wants them: with the dimensions that are `gone`, of size 1. Their elements lie side by side.
pub fn kept(out: &Tensor, this: &Tensor, gone: &[bool]) -> Result<Tensor> {
    let sizes = kept_sizes(this.sizes(), gone);
    Ok(out.restride(Geometry::contiguous(&sizes).at(out.geometry().offset()))?)
}

/// A dimension as the engines want it: marked among all.
pub fn marked(rank: usize, dim: usize) -> Vec<bool> {
    (0..rank).map(|i| i == dim).collect()
}

/// The refusal of a dtype.
#[cold]
pub fn unsupported<O: Operation>(
    argument: &'static str,
    dtype: DType,
    supported: &'static [DType],
) -> dispatch_runtime::Error {
    ErrorKind::UnsupportedDType { operator: O::operator().name(), argument, dtype, supported }.into()
}

/// Runs a body for the type that a dtype is computed in, or refuses the dtype.
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
