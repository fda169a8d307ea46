//! Kernels of maxima, minima, their indices, `any` and `all`.

use dispatch_runtime::{Bool, Operation, ReductionDims, Result, Spec, Tensor, op_impl, operands};

use engine::inlined::inlined;
use engine::reduce::min_max::{Ordered, find, larger, smaller};
use engine::reduce::{Fold, computed, fold_into, kept, lines};

/// A fold to a maximum or minimum: the initial value, and the function that picks one of two values.
struct Extreme<T, F>(T, F);

inlined! {
    impl[T: Ordered + Sync, F: Fn(T, T) -> T + Sync] Fold for Extreme<T, F> {
        type In = T;
        type Lane = T;
        type Total = T;
        type Out = T;
        fn lane(&self) -> T = self.0;
        // In this order of the arguments, only one comparison depends on the lane.
        fn add(&self, lane: T, value: T) -> T = (self.1)(value, lane);
        fn join(&self, a: T, b: T) -> T = (self.1)(a, b);
        fn total(&self, lane: T) -> T = lane;
        fn merge(&self, a: T, b: T) -> T = (self.1)(a, b);
        fn finish(&self, total: T) -> T = total;
    }
}

fn extreme<O: Operation>(plan: &ReductionDims, out: &mut Tensor, this: &Tensor, largest: bool) -> Result<()> {
    computed!(O, this.dtype(), T: [f32, f64, i64] => if largest {
        fold_into(out, this, &plan.is_reduced, &Extreme(T::LOWEST, larger))
    } else {
        fold_into(out, this, &plan.is_reduced, &Extreme(T::HIGHEST, smaller))
    })
}

#[op_impl(aten::aminmax, CPU)]
fn aminmax(plan: &ReductionDims, [least, most]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    extreme::<aten::aminmax>(plan, least, this, false)?;
    extreme::<aten::aminmax>(plan, most, this, true)
}

/// Computes the maxima or minima of all rows, and their indices.
fn selected<O: Operation>(
    plan: &ReductionDims,
    [values, indices]: [&mut Tensor; 2],
    this: &Tensor,
    largest: bool,
) -> Result<()> {
    let (mut values, mut indices) = (kept(values, this, &plan.is_reduced)?, kept(indices, this, &plan.is_reduced)?);
    let operands = operands!(write values, indices; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(&plan.is_reduced, &operands, |_, [line]: [&[T]; 1], [value]: [&mut [T]; 1], [index]: [&mut [i64]; 1]| {
            let (best, at) = if largest { find(line, T::LOWEST, larger) } else { find(line, T::HIGHEST, smaller) };
            value[0] = best;
            index[0] = i64::try_from(at).unwrap_or(i64::MAX);
        });
        Ok(())
    })
}

/// Computes only the indices of the maxima or minima.
fn places<O: Operation>(plan: &ReductionDims, out: &mut Tensor, this: &Tensor, largest: bool) -> Result<()> {
    let mut values = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    selected::<O>(plan, [&mut values, out], this, largest)
}

/// Defines the kernels of pairs of operators for maxima and minima, each pair by one function.
macro_rules! kernels {
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

kernels! {
    amax amin by extreme: &mut Tensor;
    max min by extreme: &mut Tensor;
    max_dim min_dim by selected: [&mut Tensor; 2];
    argmax argmin by places: &mut Tensor;
}

/// A fold to `any`, or to `all`, which is the negated `any` of the negated elements.
struct Truth {
    all: bool,
}

inlined! {
    impl Fold for Truth {
        type In = Bool;
        type Lane = u8;
        type Total = u8;
        type Out = Bool;
        fn lane(&self) -> u8 = 0;
        fn add(&self, lane: u8, value: Bool) -> u8 = lane | u8::from((value.0 != 0) != self.all);
        fn join(&self, a: u8, b: u8) -> u8 = a | b;
        fn total(&self, lane: u8) -> u8 = lane;
        fn merge(&self, a: u8, b: u8) -> u8 = a | b;
        fn finish(&self, total: u8) -> Bool = Bool::from((total != 0) != self.all);
    }
}

#[op_impl(aten::any, CPU)]
#[op_impl(aten::any_dim, CPU)]
#[op_impl(aten::any_dims, CPU)]
fn any(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.is_reduced, &Truth { all: false })
}

#[op_impl(aten::all, CPU)]
#[op_impl(aten::all_dim, CPU)]
#[op_impl(aten::all_dims, CPU)]
fn all(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.is_reduced, &Truth { all: true })
}
