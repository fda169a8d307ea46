//! The largest and the smallest, where they are, and what is true.

use dispatch_runtime::{Bool, DType, Element, Operation, Result, Spec, Tensor, op_impl, operands, reduced_dims};

use crate::math::vectorised;
use crate::reduce::{Fold, computed, dropped, folded, kept_sizes, lines};

/// A number that can be compared; what is not a number wins every comparison.
pub(crate) trait Ordered: Element + PartialOrd {
    /// Smaller than any.
    const LOWEST: Self;
    /// Larger than any.
    const HIGHEST: Self;

    /// Whether this is not a number.
    fn is_none(self) -> bool;
}

macro_rules! ordered {
    ($($ty:ty: $lowest:expr, $highest:expr, |$x:ident| $is_none:expr;)*) => {$(
        impl Ordered for $ty {
            const LOWEST: Self = $lowest;
            const HIGHEST: Self = $highest;

            #[inline(always)]
            fn is_none(self) -> bool {
                let $x = self;
                $is_none
            }
        }
    )*};
}
ordered! {
    f32: Self::NEG_INFINITY, Self::INFINITY, |x| x.is_nan();
    f64: Self::NEG_INFINITY, Self::INFINITY, |x| x.is_nan();
    i64: Self::MIN, Self::MAX, |_x| false;
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

impl<T: Ordered + Sync, F: Fn(T, T) -> T + Sync> Fold for Extreme<T, F> {
    type In = T;
    type Lane = T;
    type Total = T;
    type Out = T;

    #[inline(always)]
    fn lane(&self) -> T {
        self.0
    }

    #[inline(always)]
    fn add(&self, lane: T, value: T) -> T {
        // In this order the lane is waited for by one comparison alone.
        (self.1)(value, lane)
    }

    #[inline(always)]
    fn join(&self, a: T, b: T) -> T {
        (self.1)(a, b)
    }

    #[inline(always)]
    fn total(&self, lane: T) -> T {
        lane
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        (self.1)(a, b)
    }

    #[inline(always)]
    fn finish(&self, total: T) -> T {
        total
    }
}

fn extreme<O: Operation>(this: &Tensor, dim: &[i64], keepdim: bool, largest: bool) -> Result<Tensor> {
    aten::extreme_spec(this, dim, keepdim)?;
    let gone = reduced_dims(this.sizes().len(), dim, "dim")?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => if largest {
        folded(this, &gone, keepdim, this.dtype(), &Extreme(T::LOWEST, larger))
    } else {
        folded(this, &gone, keepdim, this.dtype(), &Extreme(T::HIGHEST, smaller))
    })
}

#[op_impl(aten::amax, CPU)]
fn amax(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme::<aten::amax>(this, dim, keepdim, true)
}

#[op_impl(aten::amin, CPU)]
fn amin(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme::<aten::amin>(this, dim, keepdim, false)
}

#[op_impl(aten::aminmax, CPU)]
fn aminmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let extreme = |largest| extreme::<aten::aminmax>(this, dim.as_slice(), keepdim, largest);
    Ok((extreme(false)?, extreme(true)?))
}

#[op_impl(aten::max, CPU)]
fn max(this: &Tensor) -> Result<Tensor> {
    extreme::<aten::max>(this, &[], false, true)
}

#[op_impl(aten::min, CPU)]
fn min(this: &Tensor) -> Result<Tensor> {
    extreme::<aten::min>(this, &[], false, false)
}

/// The extreme element of a line and the first place where it is: found apart, because each is a packed loop.
pub(crate) fn find<T: Ordered>(line: &[T], begin: T, choose: impl Fn(T, T) -> T) -> (T, usize) {
    let best = vectorised(
        #[inline(always)]
        || {
            let mut lanes = [begin; 16];
            let (wide, rest) = line.as_chunks::<16>();
            for values in wide {
                for (lane, &value) in lanes.iter_mut().zip(values) {
                    *lane = choose(value, *lane);
                }
            }
            let best = lanes.into_iter().fold(begin, &choose);
            rest.iter().fold(best, |best, &value| choose(best, value))
        },
    );
    let is_best = |value: &T| *value == best || best.is_none() && value.is_none();
    let blocks = line.chunks(256);
    let block = vectorised(
        #[inline(always)]
        || blocks.into_iter().position(|block| block.iter().fold(false, |found, value| found | is_best(value))),
    );
    let start = block.unwrap_or(0) * 256;
    let within = line.get(start..).and_then(|rest| rest.iter().position(is_best));
    (best, start + within.unwrap_or(0))
}

/// The extremes of all lines, and their places.
fn selected<O: Operation>(this: &Tensor, gone: &[bool], keepdim: bool, largest: bool) -> Result<(Tensor, Tensor)> {
    let sizes = kept_sizes(this.sizes(), gone, true);
    let mut values = Spec::contiguous(this.dtype(), &sizes).on(this.device())?;
    let mut indices = Spec::contiguous(DType::I64, &sizes).on(this.device())?;
    let operands = operands!(write values, indices; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, i64] => {
        lines(gone, &operands, |_, [line]: [&[T]; 1], [value]: [&mut [T]; 1], [index]: [&mut [i64]; 1]| {
            let (best, at) = if largest { find(line, T::LOWEST, larger) } else { find(line, T::HIGHEST, smaller) };
            value[0] = best;
            index[0] = i64::try_from(at).unwrap_or(i64::MAX);
        });
        Ok(())
    })?;
    drop(operands);
    Ok((dropped(values, gone, keepdim)?, dropped(indices, gone, keepdim)?))
}

fn selected_along<O: Operation>(this: &Tensor, dim: &[i64], keepdim: bool, largest: bool) -> Result<(Tensor, Tensor)> {
    aten::extreme_spec(this, dim, keepdim)?;
    selected::<O>(this, &reduced_dims(this.sizes().len(), dim, "dim")?, keepdim, largest)
}

#[op_impl(aten::max_dim, CPU)]
fn max_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_along::<aten::max_dim>(this, &[dim], keepdim, true)
}

#[op_impl(aten::min_dim, CPU)]
fn min_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    selected_along::<aten::min_dim>(this, &[dim], keepdim, false)
}

#[op_impl(aten::argmax, CPU)]
fn argmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    Ok(selected_along::<aten::argmax>(this, dim.as_slice(), keepdim, true)?.1)
}

#[op_impl(aten::argmin, CPU)]
fn argmin(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    Ok(selected_along::<aten::argmin>(this, dim.as_slice(), keepdim, false)?.1)
}

/// Whether any element is true, or, of the negated, whether none is false.
struct Truth {
    all: bool,
}

impl Fold for Truth {
    type In = Bool;
    type Lane = u8;
    type Total = u8;
    type Out = Bool;

    #[inline(always)]
    fn lane(&self) -> u8 {
        0
    }

    #[inline(always)]
    fn add(&self, lane: u8, value: Bool) -> u8 {
        lane | u8::from((value.0 != 0) != self.all)
    }

    #[inline(always)]
    fn join(&self, a: u8, b: u8) -> u8 {
        a | b
    }

    #[inline(always)]
    fn total(&self, lane: u8) -> u8 {
        lane
    }

    #[inline(always)]
    fn merge(&self, a: u8, b: u8) -> u8 {
        a | b
    }

    #[inline(always)]
    fn finish(&self, total: u8) -> Bool {
        Bool::from((total != 0) != self.all)
    }
}

fn truth(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, all: bool) -> Result<Tensor> {
    let (gone, spec) = aten::truth_spec(this, dim, keepdim)?;
    folded(this, &gone, keepdim, spec.dtype, &Truth { all })
}

#[op_impl(aten::any, CPU)]
fn any(this: &Tensor) -> Result<Tensor> {
    truth(this, None, false, false)
}

#[op_impl(aten::any_dim, CPU)]
fn any_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
    truth(this, Some(&[dim]), keepdim, false)
}

#[op_impl(aten::any_dims, CPU)]
fn any_dims(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    truth(this, dim, keepdim, false)
}

#[op_impl(aten::all, CPU)]
fn all(this: &Tensor) -> Result<Tensor> {
    truth(this, None, false, true)
}

#[op_impl(aten::all_dim, CPU)]
fn all_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
    truth(this, Some(&[dim]), keepdim, true)
}

#[op_impl(aten::all_dims, CPU)]
fn all_dims(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    truth(this, dim, keepdim, true)
}
