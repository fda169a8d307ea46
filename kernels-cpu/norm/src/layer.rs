//! Kernels of layer normalisation: rows are the last dimensions, and every element of a row has a weight and a bias.

use aten::LayerNormPlan;
use dispatch_runtime::{Result, Tensor, op_impl, operands};

use std::ops::Range;

use super::{normalize_rows, parameter_or_default, round_to_compute_type, sum_over_slices, to_f64};
use engine::allocation::{filled_vec, to_usize};
use engine::compute::RealFloat;
use engine::contiguous::{contiguous_elements, convert_to_vec, write_f64_values};
use engine::math::vectorised;
use engine::reduce::{for_each_line, with_compute_type};
use engine::thread_pool::DisjointLines;

/// The number of rows whose gradients are added before the sum continues in double precision.
const ROWS_PER_SUM: usize = 64;

/// The most blocks of rows that have sums of their own.
const MAX_ROW_BLOCKS: usize = 64;

/// The most columns of a block.
const MAX_BLOCK_COLUMNS: usize = 256;

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 14;

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
    let (mean, rstd) = (convert_to_vec::<f64>(mean)?, convert_to_vec::<f64>(rstd)?);
    let inputs = [grad_out, input];
    with_compute_type!(aten::native_layer_norm_backward, input.dtype(), T: [f32, f64] => {
        if output_mask[0] {
            let weight = parameter_or_default::<T>(weight, plan.columns, 1.0)?;
            write_layer_input_gradient(inputs, input_grad, &dims, [&mean, &rstd], &weight)?;
        }
        let (mean, rstd) = (round_to_compute_type::<T>(&mean), round_to_compute_type::<T>(&rstd));
        write_layer_parameter_gradients(inputs, [weight_grad, bias_grad], to_usize(plan.columns), [&mean, &rstd])
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

/// Computes the requested gradients of weight and bias: the sums over the rows of the gradients times the normalised input, and of the
/// gradients.
///
/// Each block of rows and columns has sums of its own, which are added in the order of the rows. So the result does not depend on the number
/// of threads.
fn write_layer_parameter_gradients<T: RealFloat + Into<f64>>(
    both: [&Tensor; 2],
    [weight_grad, bias_grad]: [&mut Tensor; 2],
    columns: usize,
    statistics: [&[T]; 2],
) -> Result<()> {
    let is_requested = |tensor: &Tensor| tensor.geometry().count() > 0;
    if columns == 0 || !is_requested(weight_grad) && !is_requested(bias_grad) {
        return Ok(());
    }
    let (grads, inputs) = (contiguous_elements::<T>(both[0])?, contiguous_elements::<T>(both[1])?);
    let row_count = grads.len() / columns;
    let block_columns = columns.min(MAX_BLOCK_COLUMNS);
    let block_rows = ROWS_PER_SUM.max(row_count.div_ceil(MAX_ROW_BLOCKS));
    let (across, down) = (columns.div_ceil(block_columns), row_count.div_ceil(block_rows));
    let mut sums = filled_vec([0.0_f64; 2], across * down * block_columns)?;
    let grain = GRAIN_SIZE.div_ceil(block_rows * block_columns);
    DisjointLines::new(&mut sums, block_columns).for_each(grain, |block, sums| {
        let first = block % across * block_columns;
        let block_of_columns = first..columns.min(first + block_columns);
        let first_row = block / across * block_rows;
        let last_row = row_count.min(first_row + block_rows);
        for first_row in (first_row..last_row).step_by(ROWS_PER_SUM) {
            let rows = first_row..last_row.min(first_row + ROWS_PER_SUM);
            add_block_sums([&grads, &inputs], columns, [rows, block_of_columns.clone()], statistics, sums);
        }
    });
    let sum_of_column = |column: usize| {
        let blocks = sums.chunks_exact(block_columns).skip(column / block_columns).step_by(across);
        blocks.map(|sums| sums[column % block_columns]).fold([0.0; 2], |all, sums| [all[0] + sums[0], all[1] + sums[1]])
    };
    let [of_weight, of_bias] = [0, 1].map(|which| move |sums: [f64; 2]| sums[which]);
    if is_requested(weight_grad) {
        write_f64_values(weight_grad, &(0..columns).map(sum_of_column).map(of_weight).collect::<Vec<_>>())?;
    }
    if is_requested(bias_grad) {
        write_f64_values(bias_grad, &(0..columns).map(sum_of_column).map(of_bias).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Adds the sums of a block of at most `ROWS_PER_SUM` rows and `MAX_BLOCK_COLUMNS` columns to those of its columns.
fn add_block_sums<T: RealFloat + Into<f64>>(
    [grads, inputs]: [&[T]; 2],
    width: usize,
    [rows, columns]: [Range<usize>; 2],
    [mean, rstd]: [&[T]; 2],
    sums: &mut [[f64; 2]],
) {
    let count = columns.len();
    let (mut of_weight, mut of_bias) = ([T::ZERO; MAX_BLOCK_COLUMNS], [T::ZERO; MAX_BLOCK_COLUMNS]);
    let (of_weight, of_bias) = (&mut of_weight[..count], &mut of_bias[..count]);
    vectorised!(move {
        for row in rows {
            let part = row * width + columns.start..row * width + columns.end;
            let (grads, inputs, mean, rstd) = (&grads[part.clone()], &inputs[part], mean[row], rstd[row]);
            for (((of_weight, of_bias), &grad), &x) in of_weight.iter_mut().zip(&mut *of_bias).zip(grads).zip(inputs) {
                *of_weight = *of_weight + grad * (x - mean) * rstd;
                *of_bias = *of_bias + grad;
            }
        }
        for ((sums, &of_weight), &of_bias) in sums.iter_mut().zip(&*of_weight).zip(&*of_bias) {
            *sums = [sums[0] + of_weight.into(), sums[1] + of_bias.into()];
        }
    });
}
