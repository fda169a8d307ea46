//! Kernels of maxima, minima, their indices, `any` and `all`.

use dispatch_runtime::{Bool, Operation, ReductionDims, Result, Spec, Tensor, op_impl, operands};

use engine::inlined::inlined;
use engine::reduce::min_max::{Comparable, find_extreme_and_index, larger, smaller};
use engine::reduce::{Fold, fold_into, for_each_line, keepdim_view, with_compute_type};

/// A fold to a maximum or minimum: the initial value, and the function that picks one of two values.
struct MinMaxFold<T, F>(T, F);

inlined! {
    impl[T: Comparable + Sync, F: Fn(T, T) -> T + Sync] Fold for MinMaxFold<T, F> {
        type Input = T;
        type LaneAccumulator = T;
        type TotalAccumulator = T;
        type Output = T;
        fn empty_lane(&self) -> T = self.0;
        // In this order of the arguments, only one comparison depends on the lane.
        fn add_to_lane(&self, lane: T, value: T) -> T = (self.1)(value, lane);
        fn join_lanes(&self, a: T, b: T) -> T = (self.1)(a, b);
        fn lane_to_total(&self, lane: T) -> T = lane;
        fn merge_totals(&self, a: T, b: T) -> T = (self.1)(a, b);
        fn total_to_result(&self, total: T) -> T = total;
    }
}

fn reduce_extreme<O: Operation>(plan: &ReductionDims, out: &mut Tensor, this: &Tensor, largest: bool) -> Result<()> {
    with_compute_type!(O, this.dtype(), T: [f32, f64, i64] => if largest {
        fold_into(out, this, &plan.is_reduced, &MinMaxFold(T::MIN_VALUE, larger))
    } else {
        fold_into(out, this, &plan.is_reduced, &MinMaxFold(T::MAX_VALUE, smaller))
    })
}

#[op_impl(aten::aminmax, CPU)]
fn aminmax(plan: &ReductionDims, [minimum, maximum]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    reduce_extreme::<aten::aminmax>(plan, minimum, this, false)?;
    reduce_extreme::<aten::aminmax>(plan, maximum, this, true)
}

/// Computes the maxima or minima of all rows, and their indices.
fn reduce_extreme_with_index<O: Operation>(
    plan: &ReductionDims,
    [values, indices]: [&mut Tensor; 2],
    this: &Tensor,
    largest: bool,
) -> Result<()> {
    let (mut values, mut indices) =
        (keepdim_view(values, this, &plan.is_reduced)?, keepdim_view(indices, this, &plan.is_reduced)?);
    let operands = operands!(write values, indices; read this)?;
    with_compute_type!(O, this.dtype(), T: [f32, f64, i64] => {
        for_each_line(&plan.is_reduced, &operands, |_, [line]: [&[T]; 1], [value]: [&mut [T]; 1], [index]: [&mut [i64]; 1]| {
            let (best, at) = if largest { find_extreme_and_index(line, T::MIN_VALUE, larger) } else { find_extreme_and_index(line, T::MAX_VALUE, smaller) };
            value[0] = best;
            index[0] = i64::try_from(at).unwrap_or(i64::MAX);
        });
        Ok(())
    })
}

/// Computes only the indices of the maxima or minima.
fn reduce_extreme_index<O: Operation>(
    plan: &ReductionDims,
    out: &mut Tensor,
    this: &Tensor,
    largest: bool,
) -> Result<()> {
    let mut values = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    reduce_extreme_with_index::<O>(plan, [&mut values, out], this, largest)
}

/// Defines the kernels of pairs of operators for maxima and minima, each pair by one function.
macro_rules! define_min_max_kernels {
    ($($largest:ident $smallest:ident by $either:ident: $out:ty;)*) => {$(
        #[op_impl(aten::$largest, CPU)]
        fn $largest(plan: &ReductionDims, out: $out, this: &Tensor) -> Result<()> {
            $either::<aten::$largest>(plan, out, this, true)
        }

        #[op_impl(aten::$smallest, CPU)]
        fn $smallest(plan: &ReductionDims, out: $out, this: &Tensor) -> Result<()> {
            $either::<aten::$smallest>(plan, out, this, false)
        }
    )*};
}

define_min_max_kernels! {
    amax amin by reduce_extreme: &mut Tensor;
    max min by reduce_extreme: &mut Tensor;
    max_dim min_dim by reduce_extreme_with_index: [&mut Tensor; 2];
    argmax argmin by reduce_extreme_index: &mut Tensor;
}

/// A fold to `any`, or to `all`, which is the negated `any` of the negated elements.
struct AnyAllFold {
    all: bool,
}

inlined! {
    impl Fold for AnyAllFold {
        type Input = Bool;
        type LaneAccumulator = u8;
        type TotalAccumulator = u8;
        type Output = Bool;
        fn empty_lane(&self) -> u8 = 0;
        fn add_to_lane(&self, lane: u8, value: Bool) -> u8 = lane | u8::from((value.0 != 0) != self.all);
        fn join_lanes(&self, a: u8, b: u8) -> u8 = a | b;
        fn lane_to_total(&self, lane: u8) -> u8 = lane;
        fn merge_totals(&self, a: u8, b: u8) -> u8 = a | b;
        fn total_to_result(&self, total: u8) -> Bool = Bool::from((total != 0) != self.all);
    }
}

#[op_impl(aten::any, CPU)]
#[op_impl(aten::any_dim, CPU)]
#[op_impl(aten::any_dims, CPU)]
fn any(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.is_reduced, &AnyAllFold { all: false })
}

#[op_impl(aten::all, CPU)]
#[op_impl(aten::all_dim, CPU)]
#[op_impl(aten::all_dims, CPU)]
fn all(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.is_reduced, &AnyAllFold { all: true })
}
