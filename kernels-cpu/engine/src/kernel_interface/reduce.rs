//! Reductions whose partial results merge in any order.

use std::marker::PhantomData;

use dispatch_runtime::{BadArgument, Device, Element, Operands, Problem, ReductionDims, Result, Sizes, Tensor};

use crate::reduce::{Fold, fold_operands};

/// Reduces dimensions of a tensor; an empty list means all. `add` adds an element to a partial result, `merge` merges two partial results,
/// and `start` is a partial result without elements: merging it changes nothing. Elements are added in any order, in several lanes and by
/// several threads, but in the same order for tensors of the same sizes and strides.
///
/// The result is contiguous and of the partial results' dtype. With `keepdim`, reduced dimensions are kept with size 1.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use kernels_cpu::engine::reduce;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([[1.0_f32, -2.0], [3.0, 4.0]]);
/// let energy = reduce(&x, &[1], false, 0.0, |sum: f64, x: f32| sum + f64::from(x * x), |a, b| a + b)?;
/// assert_eq!(energy.to_vec::<f64>()?, [5.0, 25.0]);
/// let largest = reduce(&x, &[], false, f32::NEG_INFINITY, |a: f32, x: f32| a.max(x), f32::max)?;
/// assert_eq!(largest.to_vec::<f32>()?, [4.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if `dims` are not dimensions of the tensor, if it is not in memory of the CPU, or if it is borrowed for writing.
/// Returns [`OutOfMemory`](dispatch_runtime::OutOfMemory) if there is no memory for the result.
pub fn reduce<C: Element, A: Element>(
    this: &Tensor,
    dims: &[i64],
    keepdim: bool,
    start: A,
    add: impl Fn(A, C) -> A + Sync,
    merge: impl Fn(A, A) -> A + Sync,
) -> Result<Tensor> {
    let plan = ReductionDims::plan(this, dims, keepdim, A::DTYPE)?;
    let [spec] = plan.outputs;
    let mut out = spec.on(Device::CPU)?;
    reduce_into(&mut out, this, &plan.value, start, add, merge)?;
    Ok(out)
}

/// Computes as [`reduce`] does, into a contiguous tensor of the kept sizes. Results are converted to its dtype. `dims` are the plan of an
/// operator with `shape = reduce(dim)`:
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::ReductionDims;
/// use kernels_cpu::engine as cpu;
///
/// /// The sum of the magnitudes.
/// #[op_def("reduced::taxicab(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor", shape = reduce(dim))]
/// pub fn taxicab(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor>;
///
/// #[op_impl(taxicab, CPU, dtypes(floating))]
/// fn taxicab_cpu<T: cpu::Float>(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
///     cpu::reduce_into(out, this, plan, 0.0, |sum: f64, x: T::Compute| sum + x.to_f64().abs(), |a, b| a + b)
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[1.0, -2.0], [3.0, 4.0]]);
/// assert_eq!(taxicab(&x, Some(&[0]), true)?.to_vec::<f64>()?, [4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`reduce`], and [`BadArgument`] if `out` has another number of elements, is not contiguous, or shares memory with
/// the tensor.
pub fn reduce_into<C: Element, A: Element>(
    out: &mut Tensor,
    this: &Tensor,
    dims: &ReductionDims,
    start: A,
    add: impl Fn(A, C) -> A + Sync,
    merge: impl Fn(A, A) -> A + Sync,
) -> Result<()> {
    let is_reduced = &dims.is_reduced;
    if is_reduced.len() != this.sizes().len() {
        return Err(BadArgument::rank("operand 0", this.sizes().len(), is_reduced.len()).into());
    }
    let kept: Vec<i64> = sizes_with(this.sizes(), is_reduced, None);
    if out.sizes() != kept && out.sizes() != sizes_with(this.sizes(), is_reduced, Some(1)) {
        return Err(BadArgument::sizes("out", out.sizes(), Sizes::Are(kept)).into());
    }
    if !out.geometry().is_contiguous() {
        return Err(BadArgument::value("out", format!("of strides {:?}", out.strides()), "contiguous").into());
    }
    let operands = Operands::borrow(&["out"], [out], &["operand 0"], [this])?;
    let ([to], [from]) = (operands.written(), operands.read());
    if to.is_same_elements_as(from) {
        return Err(BadArgument::new("operand 0", Problem::Overlap { with: "out".into() }).into());
    }
    fold_operands(from, is_reduced, to, &FoldOfFunctions { start, add, merge, input: PhantomData });
    Ok(())
}

/// Returns the sizes, with `reduced` in place of those that are reduced, or without these.
fn sizes_with(sizes: &[i64], is_reduced: &[bool], reduced: Option<i64>) -> Vec<i64> {
    let sizes = sizes.iter().zip(is_reduced);
    sizes.filter_map(|(&size, &is_reduced)| if is_reduced { reduced } else { Some(size) }).collect()
}

/// A fold whose lanes and totals are the results themselves.
struct FoldOfFunctions<A, F, M, C> {
    start: A,
    add: F,
    merge: M,
    input: PhantomData<fn(C)>,
}

impl<C: Element, A: Element, F: Fn(A, C) -> A + Sync, M: Fn(A, A) -> A + Sync> Fold for FoldOfFunctions<A, F, M, C> {
    type Input = C;
    type LaneAccumulator = A;
    type TotalAccumulator = A;
    type Output = A;

    #[inline(always)]
    fn empty_lane(&self) -> A {
        self.start
    }

    #[inline(always)]
    fn add_to_lane(&self, lane: A, value: C) -> A {
        (self.add)(lane, value)
    }

    #[inline(always)]
    fn join_lanes(&self, a: A, b: A) -> A {
        (self.merge)(a, b)
    }

    #[inline(always)]
    fn lane_to_total(&self, lane: A) -> A {
        lane
    }

    #[inline(always)]
    fn merge_totals(&self, a: A, b: A) -> A {
        (self.merge)(a, b)
    }

    #[inline(always)]
    fn total_to_result(&self, total: A) -> A {
        total
    }
}
