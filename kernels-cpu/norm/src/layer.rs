//! Kernels of layer normalisation: rows are the last dimensions, and every element of a row has a weight and a bias.

use aten::LayerNormPlan;
use dispatch_runtime::{Result, Tensor, op_impl, operands};

use super::{new_row_statistics, normalize_rows, parameter_or_default, round_to_compute_type, sum_over_slices, to_f64};
use engine::allocation::to_usize;
use engine::compute::RealFloat;
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::math::vectorised;
use engine::reduce::{for_each_line, with_compute_type};

/// Returns a flag for each dimension that is normalised over.
fn normalized_dims_mask(plan: &LayerNormPlan, input: &Tensor) -> Vec<bool> {
    (0..input.sizes().len()).map(|dim| dim >= plan.leading_dims).collect()
}

#[op_impl(aten::native_layer_norm, CPU)]
fn layer_norm(plan: &LayerNormPlan, out: [&mut Tensor; 3], _: ...) -> Result<()> {
    let (dims, count) = (normalized_dims_mask(plan, input), plan.columns);
    let all = 0..to_usize(count);
    normalize_rows::<aten::native_layer_norm>(input, &dims, out, eps, [weight, bias], |_| all.clone(), count)
}

#[op_impl(aten::native_layer_norm_backward, CPU)]
fn layer_norm_backward(
    plan: &LayerNormPlan,
    [input_grad, weight_grad, bias_grad]: [&mut Tensor; 3],
    _: ...
) -> Result<()> {
    let dims = normalized_dims_mask(plan, input);
    let across: Vec<bool> = dims.iter().map(|dim| !dim).collect();
    let (mean, rstd) = (convert_to_vec::<f64>(mean)?, convert_to_vec::<f64>(rstd)?);
    let inputs = [grad_out, input];
    with_compute_type!(aten::native_layer_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter_or_default::<T>(weight, plan.columns, 1.0)?;
            write_layer_input_gradient(inputs, input_grad, &dims, [&mean, &rstd], &weight)?;
        }
        let (mean, rstd) = (round_to_compute_type::<T>(&mean), round_to_compute_type::<T>(&rstd));
        write_layer_parameter_gradients(inputs, [weight_grad, bias_grad], &across, [&mean, &rstd])
    })
}

/// Computes the gradient of the input, row by row.
fn write_layer_input_gradient<T: RealFloat + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    out: &mut Tensor,
    dims: &[bool],
    statistics: [&[f64]; 2],
    weight: &[T],
) -> Result<()> {
    let operands = operands!(write out; read grad_out, input)?;
    for_each_line(dims, &operands, |number, [grad, line]: [&[T]; 2], [out]: [&mut [T]; 1], []: [&mut [T]; 0]| {
        let (mean, rstd) = (statistics[0][number], statistics[1][number]);
        let rounded_mean = T::from_f64(mean);
        vectorised!({
            for ((out, &grad), &weight) in out.iter_mut().zip(grad).zip(weight) {
                *out = grad * weight;
            }
            let count = to_f64(line.len());
            let [sum, slope] = sum_over_slices([&*out, line], |[grad, x]| [grad, grad * (x - rounded_mean)]);
            let (sum, slope) = (T::from_f64(sum / count), T::from_f64(slope * rstd * rstd / count));
            let scale = T::from_f64(rstd);
            for (out, &x) in out.iter_mut().zip(line) {
                *out = (*out - sum - (x - rounded_mean) * slope) * scale;
            }
        });
    });
    Ok(())
}

/// Computes the requested gradients of weight and bias: the sums of the gradients times the normalised input, and of the gradients. `dims`
/// are the dimensions along which the parameters are broadcast.
fn write_layer_parameter_gradients<T: RealFloat + Into<f64>>(
    [grad_out, input]: [&Tensor; 2],
    out: [&mut Tensor; 2],
    dims: &[bool],
    [mean, rstd]: [&[T]; 2],
) -> Result<()> {
    let is_requested = |tensor: &Tensor| tensor.geometry().count() > 0;
    if !is_requested(out[0]) && !is_requested(out[1]) {
        return Ok(());
    }
    let [mut weight_grad, mut bias_grad] = new_row_statistics(input, dims)?;
    let operands = operands!(write weight_grad, bias_grad; read grad_out, input)?;
    for_each_line(dims, &operands, |_, [grad, line]: [&[T]; 2], [weight]: [&mut [f64]; 1], [bias]: [&mut [f64]; 1]| {
        [weight[0], bias[0]] = vectorised!(sum_over_slices([grad, line, mean, rstd], |[grad, x, mean, rstd]| [
            grad * (x - mean) * rstd,
            grad
        ]));
    });
    drop(operands);
    for (out, sums) in out.into_iter().zip([weight_grad, bias_grad]) {
        if is_requested(out) {
            write_f64_values(out, &sums.to_vec()?)?;
        }
    }
    Ok(())
}
