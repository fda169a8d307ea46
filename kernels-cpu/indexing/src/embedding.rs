//! Kernels of `one_hot` and of the gradient of `embedding`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem, Spec};

use crate::combine::{Reducible, ready, summed};
use crate::index::{Negative, inside, positions};
use crate::scatter::one;
use engine::allocation::{times, usized};
use engine::convert::computed_in;
use engine::data_movement::{Axis, Step, packed};

#[op_impl(aten::one_hot, CPU)]
fn one_hot(_plan: &(), this: &Tensor, num_classes: i64) -> Result<Tensor> {
    let classes = positions(this)?;
    let largest = classes.iter().copied().max().unwrap_or(0);
    let count = if num_classes == -1 { largest.saturating_add(1) } else { num_classes };
    if let Some(&index) = classes.iter().find(|class| !(0..count).contains(*class)) {
        return Err(BadArgument::new("self", Problem::Index { index, size: count }).into());
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
    let mut list = positions(indices)?;
    inside("indices", &mut list, num_weights, Negative::IsOutside)?;
    let width = grad_output.sizes().last().copied().unwrap_or(0);
    let computed = computed_in(grad_output.dtype());
    let mut grads = if grad_output.geometry().is_contiguous() && !scale_grad_by_freq {
        ready(grad_output)?
    } else {
        packed(grad_output, computed)?
    };
    if scale_grad_by_freq {
        match computed {
            DType::F64 => weigh::<f64>(&mut grads, &list, num_weights)?,
            _ => weigh::<f32>(&mut grads, &list, num_weights)?,
        }
    }
    // Padding has no gradient.
    let known = (0..).zip(&list).filter(|(_, row)| **row != padding_idx);
    let (from, to): (Vec<i64>, Vec<i64>) = known.map(|(i, row): (i64, _)| (i * width, row * width)).unzip();
    let size = i64::try_from(to.len()).unwrap_or(i64::MAX);
    let rows = Axis { size, to: Step::Table(to), from: Step::Table(from) };
    let columns = Axis::strided(width, 1, 1);
    summed(out, &one(Scalar::Int(0), computed)?, &grads, &[rows, columns])
}

/// Divides each gradient by the number of positions that have the same row.
fn weigh<T: Reducible>(grads: &mut Tensor, list: &[i64], num_weights: i64) -> Result<()> {
    if grads.geometry().count() == 0 {
        return Ok(());
    }
    let mut counts = times(0_i64, usized(num_weights))?;
    list.iter().for_each(|&row| counts[usized(row)] += 1);
    let width = usized(grads.sizes().last().copied().unwrap_or(0)).max(1);
    for (grads, &row) in grads.write::<T>()?.chunks_exact_mut(width).zip(list) {
        grads.iter_mut().for_each(|grad| *grad = grad.shared(counts[usized(row)]));
    }
    Ok(())
}
