//! The largest and the smallest, where they are, and what is true.

use dispatch_runtime::{Bool, Element, Operation, Reduced, Result, Spec, Tensor, op_impl, operands};

use crate::inlined::inlined;
use crate::math::vectorised;
use crate::reduce::{Fold, computed, fold_into, kept, lines};

/// A number that can be compared; what is not a number wins every comparison.
pub(crate) trait Ordered: Element + PartialOrd {
    /// Smaller than any.
    const LOWEST: Self;
    /// Larger than any.
    const HIGHEST: Self;

    /// Whether this is not a number.
    fn is_none(self) -> bool;
}

inlined! {
    impl Ordered for f32, f64 {
        const LOWEST: Self = Self::NEG_INFINITY;
        const HIGHEST: Self = Self::INFINITY;
        fn is_none(self) -> bool = self.is_nan();
    }

    impl Ordered for i64 {
        const LOWEST: Self = Self::MIN;
        const HIGHEST: Self = Self::MAX;
        fn is_none(self) -> bool = false;
    }
}

/// The larger of two, or what is not a number.
#[inline(always)]
pub(crate) fn larger<T: Ordered>(a: T, b: T) -> T {
    if a > b || a.is_none() { a } else { b }
}

/// The smaller of two, or what is not a number.
#[inline(always)]
pub(crate) fn smaller<T: Ordered>(a: T, b: T) -> T {
    if a < b || a.is_none() { a } else { b }
}

/// An extreme: where it begins, and which of two it is.
struct Extreme<T, F>(T, F);

inlined! {
    impl[T: Ordered + Sync, F: Fn(T, T) -> T + Sync] Fold for Extreme<T, F> {
        type In = T;
        type Lane = T;
        type Total = T;
        type Out = T;
        fn lane(&self) -> T = self.0;
        // In this order the lane is waited for by one comparison alone.
        fn add(&self, lane: T, value: T) -> T = (self.1)(value, lane);
        fn join(&self, a: T, b: T) -> T = (self.1)(a, b);
        fn total(&self, lane: T) -> T = lane;
        fn merge(&self, a: T, b: T) -> T = (self.1)(a, b);
        fn finish(&self, total: T) -> T = total;
    }
}

fn extreme<O: Operation>(plan: &Reduced, out: &mut Tensor, this: &Tensor, largest: bool) -> Result<()> {
    computed!(O, this.dtype(), T: [f32, f64, i64] => if largest {
        fold_into(out, this, &plan.gone, &Extreme(T::LOWEST, larger))
    } else {
        fold_into(out, this, &plan.gone, &Extreme(T::HIGHEST, smaller))
    })
}

#[op_impl(aten::aminmax, CPU)]
fn aminmax(plan: &Reduced, [least, most]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    extreme::<aten::aminmax>(plan, least, this, false)?;
    extreme::<aten::aminmax>(plan, most, this, true)
}

/// The extreme element of a line and the first place where it is: found apart, because each is a packed loop.
pub(crate) fn find<T: Ordered>(line: &[T], begin: T, choose: impl Fn(T, T) -> T) -> (T, usize) {
    let best = vectorised!({
        let mut lanes = [begin; 16];
        let (wide, rest) = line.as_chunks::<16>();
        for values in wide {
            for (lane, &value) in lanes.iter_mut().zip(values) {
                *lane = choose(value, *lane);
            }
        }
        let best = lanes.into_iter().fold(begin, &choose);
        rest.iter().fold(best, |best, &value| choose(best, value))
    });
    let is_best = |value: &T| *value == best || best.is_none() && value.is_none();
    let blocks = line.chunks(256);
    let block = vectorised!(
        blocks.into_iter().position(|block| block.iter().fold(false, |found, value| found | is_best(value)))
    );
    let start = block.unwrap_or(0) * 256;
    let within = line.get(start..).and_then(|rest| rest.iter().position(is_best));
    (best, start + within.unwrap_or(0))
}

/// The extremes of all lines, and their places.
fn selected<O: Operation>(
    plan: &Reduced,
    [values, indices]: [&mut Tensor; 2],
    this: &Tensor,
    largest: bool,
) -> Result<()> {
    let (mut values, mut indices) = (kept(values, this, &plan.gone)?, kept(indices, this, &plan.gone)?);
    let operands = operands!(write values, indices; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(&plan.gone, &operands, |_, [line]: [&[T]; 1], [value]: [&mut [T]; 1], [index]: [&mut [i64]; 1]| {
            let (best, at) = if largest { find(line, T::LOWEST, larger) } else { find(line, T::HIGHEST, smaller) };
            value[0] = best;
            index[0] = i64::try_from(at).unwrap_or(i64::MAX);
        });
        Ok(())
    })
}

/// The places of the extremes alone.
fn places<O: Operation>(plan: &Reduced, out: &mut Tensor, this: &Tensor, largest: bool) -> Result<()> {
    let mut values = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    selected::<O>(plan, [&mut values, out], this, largest)
}

/// Kernels of operators for the largest and for the smallest, and what does either.
macro_rules! kernels {
    ($($largest:ident $smallest:ident by $either:ident: $out:ty;)*) => {$(
        #[op_impl(aten::$largest, CPU)]
        fn $largest(plan: &Reduced, out: $out, this: &Tensor) -> Result<()> {
            $either::<aten::$largest>(plan, out, this, true)
        }

        #[op_impl(aten::$smallest, CPU)]
        fn $smallest(plan: &Reduced, out: $out, this: &Tensor) -> Result<()> {
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

/// Whether any element is true, or, of the negated, whether none is false.
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
fn any(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.gone, &Truth { all: false })
}

#[op_impl(aten::all, CPU)]
#[op_impl(aten::all_dim, CPU)]
#[op_impl(aten::all_dims, CPU)]
fn all(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    fold_into(out, this, &plan.gone, &Truth { all: true })
}
