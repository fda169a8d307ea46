//! Kernels of variances and standard deviations.

use aten::VariancePlan;
use dispatch_runtime::{Complex32, Complex64, Element, Floating, Operation, Result, Spec, Tensor, op_impl, operands};

use engine::inlined::inlined;
use engine::math::vectorised;
use engine::reduce::{for_each_line, keepdim_view, with_compute_type};

/// An element type whose deviations from a mean are computed in double precision.
pub(crate) trait VarianceElement: Element {
    /// The type of the variances.
    type Real: Floating + Element;

    /// Returns the real and the imaginary part; the latter is zero for a real number.
    fn real_and_imaginary(self) -> [f64; 2];

    /// Returns the number with these real and imaginary parts.
    fn from_parts(parts: [f64; 2]) -> Self;
}

inlined! {
    impl VarianceElement for f32, f64 {
        type Real = Self;
        #[allow(clippy::useless_conversion, reason = "one of the types is as wide")]
        fn real_and_imaginary(self) -> [f64; 2] = [self.into(), 0.0];
        fn from_parts(parts: [f64; 2]) -> Self = Self::from_f64(parts[0]);
    }

    impl VarianceElement for Complex32 {
        type Real = f32;
        fn real_and_imaginary(self) -> [f64; 2] = [self.re.into(), self.im.into()];
        fn from_parts(parts: [f64; 2]) -> Self = Self::new(f32::from_f64(parts[0]), f32::from_f64(parts[1]));
    }

    impl VarianceElement for Complex64 {
        type Real = f64;
        fn real_and_imaginary(self) -> [f64; 2] = [self.re, self.im];
        fn from_parts(parts: [f64; 2]) -> Self = Self::new(parts[0], parts[1]);
    }
}

/// Returns the mean of a row, and the sum of the squared deviations from it.
pub(crate) fn mean_and_squared_deviations<T: VarianceElement>(line: &[T]) -> ([f64; 2], f64) {
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    let count = line.len() as f64;
    let mean = sum_of_differences(line, [0.0; 2], |[re, im]| [re, im]).map(|sum| sum / count);
    let [squares, _] = sum_of_differences(line, mean, |[re, im]| [re * re + im * im, 0.0]);
    (mean, squares)
}

/// Sums `f` of the differences between the elements and `from`, in several lanes.
#[inline(always)]
fn sum_of_differences<T: VarianceElement>(line: &[T], from: [f64; 2], f: impl Fn([f64; 2]) -> [f64; 2]) -> [f64; 2] {
    vectorised!({
        let mut lanes = [[0.0; 2]; 16];
        for values in line.chunks(16) {
            for (lane, value) in lanes.iter_mut().zip(values) {
                let [re, im] = value.real_and_imaginary();
                let [a, b] = f([re - from[0], im - from[1]]);
                *lane = [lane[0] + a, lane[1] + b];
            }
        }
        lanes.into_iter().fold([0.0; 2], |[re, im], [a, b]| [re + a, im + b])
    })
}

fn write_variances<O: Operation>(
    plan: &VariancePlan,
    [var, mean]: [&mut Tensor; 2],
    this: &Tensor,
    root: bool,
) -> Result<()> {
    let (mut var, mut mean) =
        (keepdim_view(var, this, &plan.reduced_dims)?, keepdim_view(mean, this, &plan.reduced_dims)?);
    let operands = operands!(write var, mean; read this)?;
    with_compute_type!(O, this.dtype(), T: [f32, f64, Complex32, Complex64] => {
        for_each_line(&plan.reduced_dims, &operands, |_, [line]: [&[T]; 1], [var]: [&mut [<T as VarianceElement>::Real]; 1], [mean]: [&mut [T]; 1]| {
            let (center, squares) = mean_and_squared_deviations(line);
            #[expect(clippy::cast_precision_loss, reason = "a variance is rounded")]
            let value = squares / (line.len() as f64 - plan.correction).max(0.0);
            let value = if line.is_empty() { f64::NAN } else { value };
            var[0] = <T as VarianceElement>::Real::from_f64(if root { value.sqrt() } else { value });
            mean[0] = T::from_parts(center);
        });
        Ok(())
    })
}

#[op_impl(aten::var_correction, CPU)]
fn var(plan: &VariancePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    write_variances::<aten::var_correction>(plan, [out, &mut mean], this, false)
}

#[op_impl(aten::std_correction, CPU)]
fn std(plan: &VariancePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut mean = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    write_variances::<aten::std_correction>(plan, [out, &mut mean], this, true)
}

#[op_impl(aten::var_mean_correction, CPU)]
fn var_mean(plan: &VariancePlan, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    write_variances::<aten::var_mean_correction>(plan, out, this, false)
}

#[op_impl(aten::std_mean_correction, CPU)]
fn std_mean(plan: &VariancePlan, out: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    write_variances::<aten::std_mean_correction>(plan, out, this, true)
}
