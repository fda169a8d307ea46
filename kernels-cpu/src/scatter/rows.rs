//! Elements put where a list, or several, say along dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex32, Complex64, Spec};

use super::reduce::{Reduce, Reducible, Way, ready, reduced, summed};
use super::{copied, list_of, one, rows};
use crate::compute::Compute;
use crate::convert::computed_in;
use crate::factory::fill;
use crate::index::{Lists, Negative, inside, positions};
use crate::moves::{Axis, Step, along, copy_called, packed};
use crate::numbers::{times, usized};

#[op_impl(aten::index_copy, CPU)]
fn index_copy(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let list = list_of(this, at, index, Negative::IsOutside)?;
    let mut out = copied(this, spec)?;
    let axes = rows(source, at, &list, out.strides());
    along(&mut out, source, &axes)?;
    Ok(out)
}

#[op_impl(aten::index_add, CPU)]
fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    alpha.check_fits("alpha", this.dtype())?;
    let alpha = aten::number_in(this.dtype(), alpha);
    let list = list_of(this, at, index, Negative::IsOutside)?;
    let computed = computed_in(this.dtype());
    let scaled = if alpha == Scalar::Int(1) {
        ready(source)?
    } else {
        let mut scaled = packed(source, computed)?;
        match computed {
            DType::F32 => scale::<f32>(&mut scaled, alpha)?,
            DType::F64 => scale::<f64>(&mut scaled, alpha)?,
            DType::C64 => scale::<Complex32>(&mut scaled, alpha)?,
            DType::C128 => scale::<Complex64>(&mut scaled, alpha)?,
            _ => scale::<i64>(&mut scaled, alpha)?,
        }
        scaled
    };
    summed(this, &scaled, &rows(&scaled, at, &list, spec.geometry.strides()), spec.clone())
}

fn scale<T: Compute>(tensor: &mut Tensor, by: Scalar) -> Result<()> {
    let by = T::from_scalar(by);
    tensor.write::<T>()?.iter_mut().for_each(|element| *element = element.times(by));
    Ok(())
}

#[op_impl(aten::index_reduce, CPU)]
fn index_reduce(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    aten::check_index_reduce(reduce)?;
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let how = Reduce::parse(reduce)?;
    let list = list_of(this, at, index, Negative::IsOutside)?;
    let source = ready(source)?;
    let axes = rows(&source, at, &list, spec.geometry.strides());
    reduced(this, &source, &Way::Along(&axes), how, include_self, spec)
}

fn filled(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_fill_spec(this, dim, index)?;
    aten::check_index_fill(this, value)?;
    let list = list_of(this, at, index, Negative::Wraps)?;
    let mut out = copied(this, spec)?;
    let axes = aten::sizes_or_one(this).iter().enumerate().map(|(dim, &size)| {
        let stride = out.strides().get(dim).copied().unwrap_or(1);
        let (size, to) = if dim == at {
            let count = i64::try_from(list.len()).unwrap_or(i64::MAX);
            (count, Step::Table(list.iter().map(|position| position * stride).collect()))
        } else {
            (size, Step::Stride(stride))
        };
        Axis { size, to, from: Step::Stride(0) }
    });
    let axes: Vec<Axis> = axes.collect();
    along(&mut out, &one(value, this.dtype())?, &axes)?;
    Ok(out)
}

#[op_impl(aten::index_fill_int_scalar, CPU)]
fn index_fill_int_scalar(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    filled(this, dim, index, value)
}

#[op_impl(aten::index_fill_int_tensor, CPU)]
fn index_fill_int_tensor(this: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
    aten::one("value", value)?;
    filled(this, dim, index, aten::number_of(value)?)
}

#[op_impl(aten::index_put, CPU)]
fn index_put(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    aten::check_values(this, values)?;
    let lists = Lists::of(this, indices)?;
    aten::check_broadcasts("values", values, &lists.indexed.sizes)?;
    let spread = *values.sizes() != *lists.indexed.sizes || !values.geometry().is_contiguous();
    let values = if spread {
        let mut wide = Spec::contiguous(this.dtype(), &lists.indexed.sizes).on(this.device())?;
        copy_called("values", &mut wide, values)?;
        wide
    } else {
        values.clone()
    };
    let spec = Spec::pointwise(&[this], this.dtype())?;
    let steps = lists.steps(0..lists.count(), this.sizes(), spec.geometry.strides())?;
    let axes: Vec<Axis> = steps.into_iter().map(|(size, to, from)| Axis { size, to, from }).collect();
    if accumulate {
        return summed(this, &ready(&values)?, &axes, spec);
    }
    let mut out = copied(this, spec)?;
    along(&mut out, &values, &axes)?;
    Ok(out)
}

#[op_impl(aten::put, CPU)]
fn put_flat(this: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
    let spec = aten::put_spec(this, index, source)?;
    let mut list = positions(index)?;
    inside("index", &mut list, this.geometry().count(), Negative::Wraps)?;
    let axes = [Axis { size: index.geometry().count(), to: Step::Table(list), from: Step::Stride(1) }];
    let source = packed(source, source.dtype())?;
    if accumulate {
        let row = summed(this, &ready(&source)?, &axes, Spec::contiguous(this.dtype(), this.sizes()))?;
        return if row.strides() == spec.geometry.strides() { Ok(row) } else { copied(&row, spec) };
    }
    let mut row = packed(this, this.dtype())?;
    along(&mut row, &source, &axes)?;
    copied(&row, spec)
}

#[op_impl(aten::embedding_dense_backward, CPU)]
fn embedding_dense_backward(
    grad_output: &Tensor,
    indices: &Tensor,
    num_weights: i64,
    padding_idx: i64,
    scale_grad_by_freq: bool,
) -> Result<Tensor> {
    let spec = aten::embedding_backward_spec(grad_output, indices, num_weights)?;
    let mut list = positions(indices)?;
    inside("indices", &mut list, num_weights, Negative::IsOutside)?;
    let width = grad_output.sizes().last().copied().unwrap_or(0);
    let computed = computed_in(grad_output.dtype());
    let mut grads = if grad_output.geometry().is_contiguous() && !scale_grad_by_freq {
        ready(grad_output)?
    } else {
        packed(grad_output, computed)?
    };
    match computed {
        DType::F64 | DType::F32 if !scale_grad_by_freq => {}
        DType::F64 => weigh::<f64>(&mut grads, &list, num_weights)?,
        DType::F32 => weigh::<f32>(&mut grads, &list, num_weights)?,
        other => return Err(BadArgument::dtype("grad_output", other, "floating").into()),
    }
    let mut zeros = Spec::contiguous(grad_output.dtype(), &[num_weights, width]).on(grad_output.device())?;
    fill(&mut zeros, Scalar::Int(0))?;
    // Padding has no gradient.
    let known = (0..).zip(&list).filter(|(_, row)| **row != padding_idx);
    let (from, to): (Vec<i64>, Vec<i64>) = known.map(|(i, row): (i64, _)| (i * width, row * width)).unzip();
    let size = i64::try_from(to.len()).unwrap_or(i64::MAX);
    let rows = Axis { size, to: Step::Table(to), from: Step::Table(from) };
    let columns = Axis { size: width, to: Step::Stride(1), from: Step::Stride(1) };
    summed(&zeros, &grads, &[rows, columns], spec)
}

/// Shares gradients among the positions that have the same row.
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
