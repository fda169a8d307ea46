//! Kernels of `one_hot` and of the gradient of `embedding`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem, Spec};

use crate::index::{NegativeIndex, check_indices, index_to_vec};
use crate::index_reduction::{ReducibleElement, add_along_axes, to_compute_dtype};
use crate::scatter::scalar_tensor;
use engine::allocation::{filled_vec, to_usize};
use engine::convert::compute_dtype;
use engine::data_movement::{AxisOffsets, CopyAxis, to_contiguous};

#[op_impl(aten::one_hot, CPU)]
fn one_hot(_plan: &(), this: &Tensor, num_classes: i64) -> Result<Tensor> {
    let classes = index_to_vec(this)?;
    let largest = classes.iter().copied().max().unwrap_or(0);
    let count = if num_classes == -1 { largest.saturating_add(1) } else { num_classes };
    if let Some(&index) = classes.iter().find(|class| !(0..count).contains(*class)) {
        return Err(BadArgument::new("self", Problem::Index { index, size: count, dim: None }).into());
    }
    let mut sizes = Dims::from_slice(this.sizes());
    sizes.push(count);
    let mut out = Spec::contiguous(DType::I64, &sizes).on(this.device())?;
    {
        let mut rows = out.write::<i64>()?;
        rows.fill(0);
        let width = usize::try_from(count).unwrap_or(usize::MAX);
        for (row, class) in rows.chunks_exact_mut(width.max(1)).zip(&classes) {
            row[usize::try_from(*class).unwrap_or(0)] = 1;
        }
    }
    Ok(out)
}

#[op_impl(aten::embedding_dense_backward, CPU)]
fn embedding_dense_backward(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let mut list = index_to_vec(indices)?;
    check_indices("indices", &mut list, num_weights, NegativeIndex::Reject)?;
    let width = grad_output.sizes().last().copied().unwrap_or(0);
    let computed = compute_dtype(grad_output.dtype());
    let mut grads = if grad_output.geometry().is_contiguous() && !scale_grad_by_freq {
        to_compute_dtype(grad_output)?
    } else {
        to_contiguous(grad_output, computed)?
    };
    if scale_grad_by_freq {
        match computed {
            DType::F64 => divide_by_frequency::<f64>(&mut grads, &list, num_weights)?,
            _ => divide_by_frequency::<f32>(&mut grads, &list, num_weights)?,
        }
    }
    // Padding has no gradient.
    let known = (0..).zip(&list).filter(|(_, row)| **row != padding_idx);
    let (from, to): (Vec<i64>, Vec<i64>) = known.map(|(i, row): (i64, _)| (i * width, row * width)).unzip();
    let size = i64::try_from(to.len()).unwrap_or(i64::MAX);
    let rows = CopyAxis { size, to: AxisOffsets::Table(to), from: AxisOffsets::Table(from) };
    let columns = CopyAxis::strided(width, 1, 1);
    add_along_axes(out, &scalar_tensor(Scalar::Int(0), computed)?, &grads, &[rows, columns])
}

/// Divides each gradient by the number of positions that have the same row.
fn divide_by_frequency<T: ReducibleElement>(grads: &mut Tensor, list: &[i64], num_weights: i64) -> Result<()> {
    if grads.geometry().count() == 0 {
        return Ok(());
    }
    let mut counts = filled_vec(0_i64, to_usize(num_weights))?;
    list.iter().for_each(|&row| counts[to_usize(row)] += 1);
    let width = to_usize(grads.sizes().last().copied().unwrap_or(0)).max(1);
    for (grads, &row) in grads.write::<T>()?.chunks_exact_mut(width).zip(list) {
        grads.iter_mut().for_each(|grad| *grad = grad.divided_by_count(counts[to_usize(row)]));
    }
    Ok(())
}
