//! Variances and standard deviations.

use aten::Moments;
use dispatch_runtime::{Complex32, Complex64, Element, Operation, Result, Spec, Tensor, op_impl, operands};

use crate::math::vectorised;
use crate::reduce::{computed, kept, lines};

/// A number whose distance from a mean is measured in double precision.
pub(crate) trait Spread: Element {
    /// What means are rounded to.
    type Real: Element;

    /// The parts, of which a real number has one.
    fn parts(self) -> [f64; 2];

    /// The number with these parts.
    fn of(parts: [f64; 2]) -> Self;

    /// The nearest real number.
    fn real(value: f64) -> Self::Real;
}

macro_rules! spread {
    ($($ty:ty as $real:ty: |$x:ident| $parts:expr, |$of:ident| $from:expr;)*) => {$(
        #[expect(clippy::allow_attributes, reason = "some of the types lose nothing")]
        #[allow(clippy::cast_possible_truncation, trivial_numeric_casts, reason = "rounding is what is asked for")]
        impl Spread for $ty {
            type Real = $real;

            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                let $x = self;
                $parts
            }

            #[inline(always)]
            fn of($of: [f64; 2]) -> Self {
                $from
            }

            #[inline(always)]
            fn real(value: f64) -> $real {
                value as $real
            }
        }
    )*};
}
spread! {
    f32 as f32: |x| [x.into(), 0.0], |of| of[0] as Self;
    f64 as f64: |x| [x, 0.0], |of| of[0];
    Complex32 as f32: |x| [x.re.into(), x.im.into()], |of| Self::new(of[0] as f32, of[1] as f32);
    Complex64 as f64: |x| [x.re, x.im], |of| Self::new(of[0], of[1]);
}

/// The mean of a line, and the sum of the squared distances from it.
pub(crate) fn spread<T: Spread>(line: &[T]) -> ([f64; 2], f64) {
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    let count = line.len() as f64;
    let mean = each(line, [0.0; 2], |[re, im]| [re, im]).map(|sum| sum / count);
    let [squares, _] = each(line, mean, |[re, im]| [re * re + im * im, 0.0]);
    (mean, squares)
}

/// Adds up what `f` makes of the distances from a point, in lanes.
#[inline(always)]
fn each<T: Spread>(line: &[T], from: [f64; 2], f: impl Fn([f64; 2]) -> [f64; 2]) -> [f64; 2] {
    vectorised(
        #[inline(always)]
        || {
            let mut lanes = [[0.0; 2]; 16];
            for values in line.chunks(16) {
                for (lane, value) in lanes.iter_mut().zip(values) {
                    let [re, im] = value.parts();
                    let [a, b] = f([re - from[0], im - from[1]]);
                    *lane = [lane[0] + a, lane[1] + b];
                }
            }
            lanes.into_iter().fold([0.0; 2], |[re, im], [a, b]| [re + a, im + b])
        },
    )
}

fn variances<O: Operation>(plan: &Moments, [var, mean]: [&mut Tensor; 2], this: &Tensor, root: bool) -> Result<()> {
    let (mut var, mut mean) = (kept(var, this, &plan.gone)?, kept(mean, this, &plan.gone)?);
    let operands = operands!(write var, mean; read this)?;
    computed!(O, this.dtype(), T: [f32, f64, Complex32, Complex64] => {
        lines(&plan.gone, &operands, |_, [line]: [&[T]; 1], [var]: [&mut [<T as Spread>::Real]; 1], [mean]: [&mut [T]; 1]| {
            let (center, squares) = spread(line);
            #[expect(clippy::cast_precision_loss, reason = "a variance is rounded")]
            let value = squares / (line.len() as f64 - plan.correction).max(0.0);
            let value = if line.is_empty() { f64::NAN } else { value };
            var[0] = T::real(if root { value.sqrt() } else { value });
            mean[0] = T::of(center);
        });
        Ok(())
    })
}

#[op_impl(aten::var_correction, CPU)]
fn var(plan: &Moments, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    variances::<aten::var_correction>(plan, [out, &mut mean], this, false)
}

#[op_impl(aten::std_correction, CPU)]
fn std(plan: &Moments, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    variances::<aten::std_correction>(plan, [out, &mut mean], this, true)
}

#[op_impl(aten::var_mean_correction, CPU)]
fn var_mean(plan: &Moments, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    variances::<aten::var_mean_correction>(plan, out, this, false)
}

#[op_impl(aten::std_mean_correction, CPU)]
fn std_mean(plan: &Moments, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    variances::<aten::std_mean_correction>(plan, out, this, true)
}
