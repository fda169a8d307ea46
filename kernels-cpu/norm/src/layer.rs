//! Kernels of layer normalisation: rows are the last dimensions, and every element of a row has a weight and a bias.

use aten::LayerNormPlan;
use dispatch_runtime::{Result, Tensor, op_impl, operands};

use super::{float, forward, pair, parameter, rounded, totals};
use engine::allocation::usized;
use engine::compute::Fraction;
use engine::contiguous::{elements, write};
use engine::math::vectorised;
use engine::reduce::{computed, lines};

/// Returns a flag for each dimension that is normalised over.
fn inner(plan: &LayerNormPlan, input: &Tensor) -> Vec<bool> {
    (0..input.sizes().len()).map(|dim| dim >= plan.leading_dims).collect()
}

#[op_impl(aten::native_layer_norm, CPU)]
fn layer_norm(plan: &LayerNormPlan, out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (dims, count) = (inner(plan, input), plan.columns);
    let all = 0..usized(count);
    forward::<aten::native_layer_norm>(input, &dims, out, eps, [weight, bias], |_| all.clone(), count)
}

#[op_impl(aten::native_layer_norm_backward, CPU)]
fn layer_norm_backward(plan: &LayerNormPlan, [of_input, of_weight, of_bias]: [&mut Tensor; 3], _: ...) -> Result<()> {
    let dims = inner(plan, input);
    let across: Vec<bool> = dims.iter().map(|dim| !dim).collect();
    let (mean, rstd) = (elements::<f64>(mean)?, elements::<f64>(rstd)?);
    let both = [grad_out, input];
    computed!(aten::native_layer_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter::<T>(weight, plan.columns, 1.0)?;
            input_backward(both, of_input, &dims, [&mean, &rstd], &weight)?;
        }
        let (mean, rstd) = (rounded::<T>(&mean), rounded::<T>(&rstd));
        parameters_backward(both, [of_weight, of_bias], &across, [&mean, &rstd])
    })
}

/// Computes the gradient of the input, row by row.
fn input_backward<T: Fraction + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    out: &mut Tensor,
    dims: &[bool],
    statistics: [&[f64]; 2],
    weight: &[T],
) -> Result<()> {
    let taken = operands!(write out; read grad_out, input)?;
    lines(dims, &taken, |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let (mean, rstd) = (statistics[0][number], statistics[1][number]);
        let near = T::near(mean);
        vectorised!({
            for ((out, &grad), &weight) in out.iter_mut().zip(grad).zip(weight) {
                *out = grad * weight;
            }
            let count = float(line.len());
            let [sum, slope] = totals([&*out, line], |[grad, x]| [grad, grad * (x - near)]);
            let (sum, slope) = (T::near(sum / count), T::near(slope * rstd * rstd / count));
            let scale = T::near(rstd);
            for (out, &x) in out.iter_mut().zip(line) {
                *out = (*out - sum - (x - near) * slope) * scale;
            }
        });
    });
    Ok(())
}

/// Computes the requested gradients of weight and bias: the sums of the gradients times the normalised input, and of the gradients. `dims`
/// are the dimensions along which the parameters are broadcast.
fn parameters_backward<T: Fraction + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    out: [&mut Tensor; 2],
    dims: &[bool],
    [mean, rstd]: [&[T]; 2],
) -> Result<()> {
    let wanted = |tensor: &Tensor| tensor.geometry().count() > 0;
    if !wanted(out[0]) && !wanted(out[1]) {
        return Ok(());
    }
    let [mut of_weight, mut of_bias] = pair(input, dims)?;
    let taken = operands!(write of_weight, of_bias; read grad_out, input)?;
    lines(dims, &taken, |_, [grad, line]: [&[T]; 2], [weight]: [&mut [f64]; 1], [bias]: [&mut [f64]; 1]| {
        [weight[0], bias[0]] =
            vectorised!(totals([grad, line, mean, rstd], |[grad, x, mean, rstd]| [grad * (x - mean) * rstd, grad]));
    });
    drop(taken);
    for (out, sums) in out.into_iter().zip([of_weight, of_bias]) {
        if wanted(out) {
            write(out, &sums.to_vec()?)?;
        }
    }
    Ok(())
}
