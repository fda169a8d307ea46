//! Elements put where positions, or a view, say.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex32, Complex64, Geometry, Spec};

use crate::compute::Compute;
use crate::convert::computed_in;
use crate::factory::{fill, number};
use crate::index::{Lists, Negative, inside, places, positions};
use crate::moves::{Axis, Step, Walk, along, copy, copy_called, packed};

/// How an element that is there and one that comes are made one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduce {
    Sum,
    Product,
    Mean,
    Greatest,
    Least,
}

impl Reduce {
    fn parse(word: &str) -> Result<Self, BadArgument> {
        Ok(match word {
            "sum" | "add" => Self::Sum,
            "prod" | "multiply" => Self::Product,
            "mean" => Self::Mean,
            "amax" => Self::Greatest,
            "amin" => Self::Least,
            _ => return Err(BadArgument::value("reduce", word, "`sum`, `prod`, `mean`, `amax` or `amin`")),
        })
    }
}

/// What reductions do besides arithmetic.
trait Reducible: Compute {
    fn greater(self, other: Self) -> Self;
    fn lesser(self, other: Self) -> Self;
    fn shared(self, count: i64) -> Self;
}

macro_rules! reducible {
    ($($ty:ty: |$a:ident, $b:ident, $n:ident| $greater:expr, $lesser:expr, $shared:expr;)*) => {$(
        impl Reducible for $ty {
            fn greater(self, $b: Self) -> Self {
                let $a = self;
                $greater
            }
            fn lesser(self, $b: Self) -> Self {
                let $a = self;
                $lesser
            }
            fn shared(self, $n: i64) -> Self {
                let $a = self;
                $shared
            }
        }
    )*};
}

reducible! {
    f32: |a, b, n| if a.is_nan() || a > b { a } else { b }, if a.is_nan() || a < b { a } else { b }, a / Self::from_scalar(n.into());
    f64: |a, b, n| if a.is_nan() || a > b { a } else { b }, if a.is_nan() || a < b { a } else { b }, a / Self::from_scalar(n.into());
    i64: |a, b, n| a.max(b), a.min(b), a.div_euclid(n);
    Complex32: |a, b, n| a.plus(b), a.plus(b), a / Self::from_scalar(n.into());
    Complex64: |a, b, n| a.plus(b), a.plus(b), a / Self::from_scalar(n.into());
}

/// The tensor with elements of `from` reduced into it along a walk; both sides of the walk are packed.
fn reduced(this: &Tensor, from: &Tensor, axes: &[Axis], how: Reduce, include: bool, spec: Spec) -> Result<Tensor> {
    if this.dtype().is_complex() && matches!(how, Reduce::Greatest | Reduce::Least) {
        return Err(BadArgument::dtype("self", this.dtype(), "real, as complex numbers have no order").into());
    }
    let computed = computed_in(this.dtype());
    let (mut acc, from) = (packed(this, computed)?, packed(from, computed)?);
    match computed {
        DType::F32 => reduce::<f32>(&mut acc, &from, axes, how, include)?,
        DType::F64 => reduce::<f64>(&mut acc, &from, axes, how, include)?,
        DType::C64 => reduce::<Complex32>(&mut acc, &from, axes, how, include)?,
        DType::C128 => reduce::<Complex64>(&mut acc, &from, axes, how, include)?,
        _ => reduce::<i64>(&mut acc, &from, axes, how, include)?,
    }
    let mut out = spec.on(this.device())?;
    copy(&mut out, &acc)?;
    Ok(out)
}

/// The tensor plus elements of `from` along a walk; both sides of the walk are packed.
pub(crate) fn summed(this: &Tensor, from: &Tensor, axes: &[Axis], spec: Spec) -> Result<Tensor> {
    reduced(this, from, axes, Reduce::Sum, true, spec)
}

fn reduce<T: Reducible>(acc: &mut Tensor, from: &Tensor, axes: &[Axis], how: Reduce, include: bool) -> Result<()> {
    let (mut acc, from) = (acc.write::<T>()?, from.read::<T>()?);
    let tracks = !include || how == Reduce::Mean;
    let mut counts = vec![i64::from(include); if tracks { acc.len() } else { 0 }];
    Walk::new(axes).pairs(|to, from_place| {
        let (to, from_place) = (to.cast_unsigned(), from_place.cast_unsigned());
        let (Some(there), Some(&comes)) = (acc.get_mut(to), from.get(from_place)) else { return };
        let count = counts.get_mut(to);
        let first = count.as_ref().is_some_and(|count| **count == 0);
        *there = match how {
            _ if first => comes,
            Reduce::Sum | Reduce::Mean => there.plus(comes),
            Reduce::Product => there.times(comes),
            Reduce::Greatest => there.greater(comes),
            Reduce::Least => there.lesser(comes),
        };
        if let Some(count) = count {
            *count += 1;
        }
    });
    if how == Reduce::Mean {
        acc.iter_mut()
            .zip(counts)
            .filter(|(_, count)| *count > 1)
            .for_each(|(there, count)| *there = there.shared(count));
    }
    Ok(())
}

/// Where `index` says along a dimension, in a tensor with these strides.
fn targets(this: &Tensor, at: usize, index: &Tensor, strides: &[i64]) -> Result<Step> {
    let mut positions = positions(index)?;
    inside("index", &mut positions, this.sizes().get(at).copied().unwrap_or(1), Negative::IsOutside)?;
    Ok(Step::Table(places(&positions, index.sizes(), strides, at)))
}

/// The part of `src` that an index of these sizes speaks of, packed.
fn corner(src: &Tensor, index: &Tensor) -> Result<Tensor> {
    let strides =
        if src.sizes().len() == index.sizes().len() { src.strides().to_vec() } else { vec![1; index.sizes().len()] };
    match Geometry::strided(index.sizes(), &strides, src.geometry().offset()) {
        Some(geometry) => packed(&src.restride(geometry)?, src.dtype()),
        None => packed(src, src.dtype()),
    }
}

/// One number of a dtype, to be read again and again.
fn one(value: Scalar, dtype: DType) -> Result<Tensor> {
    let mut out = Spec::contiguous(dtype, &[]).on(Device::CPU)?;
    fill(&mut out, value)?;
    Ok(out)
}

/// A copy of `this` as `spec` says.
fn copied(this: &Tensor, spec: Spec) -> Result<Tensor> {
    let mut out = spec.on(this.device())?;
    copy(&mut out, this)?;
    Ok(out)
}

#[op_impl(aten::scatter_src, CPU)]
fn scatter_src(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, Some(src))?;
    let to = targets(this, at, index, spec.geometry.strides())?;
    let mut out = copied(this, spec)?;
    let axis = Axis { size: index.geometry().count(), to, from: Step::Stride(1) };
    along(&mut out, &corner(src, index)?, &[axis])?;
    Ok(out)
}

#[op_impl(aten::scatter_value, CPU)]
fn scatter_value(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, None)?;
    let to = targets(this, at, index, spec.geometry.strides())?;
    let mut out = copied(this, spec)?;
    let axis = Axis { size: index.geometry().count(), to, from: Step::Stride(0) };
    along(&mut out, &one(value, this.dtype())?, &[axis])?;
    Ok(out)
}

/// Strides of the tensor's elements side by side.
fn packed_strides(this: &Tensor) -> Vec<i64> {
    Geometry::contiguous(this.sizes()).strides().to_vec()
}

fn scattered(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, how: Reduce, include: bool) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, Some(src))?;
    let to = targets(this, at, index, &packed_strides(this))?;
    let axis = Axis { size: index.geometry().count(), to, from: Step::Stride(1) };
    reduced(this, &corner(src, index)?, &[axis], how, include, spec)
}

/// Refuses all but the two words of [`aten::scatter_reduce`].
fn add_or_multiply(word: &str) -> Result<Reduce, BadArgument> {
    match word {
        "add" | "multiply" => Reduce::parse(word),
        _ => Err(BadArgument::value("reduce", word, "`add` or `multiply`")),
    }
}

#[op_impl(aten::scatter_reduce, CPU)]
fn scatter_reduce(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, reduce: &str) -> Result<Tensor> {
    scattered(this, dim, index, src, add_or_multiply(reduce)?, true)
}

#[op_impl(aten::scatter_value_reduce, CPU)]
fn scatter_value_reduce(this: &Tensor, dim: i64, index: &Tensor, value: Scalar, reduce: &str) -> Result<Tensor> {
    let how = add_or_multiply(reduce)?;
    let (spec, at) = aten::scatter_spec(this, dim, index, None)?;
    let to = targets(this, at, index, &packed_strides(this))?;
    let axis = Axis { size: index.geometry().count(), to, from: Step::Stride(0) };
    reduced(this, &one(value, this.dtype())?, &[axis], how, true, spec)
}

#[op_impl(aten::scatter_add, CPU)]
fn scatter_add(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
    scattered(this, dim, index, src, Reduce::Sum, true)
}

#[op_impl(aten::scatter_reduce_two, CPU)]
fn scatter_reduce_two(
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    src: &Tensor,
    reduce: &str,
    include_self: bool,
) -> Result<Tensor> {
    scattered(this, dim, index, src, Reduce::parse(reduce)?, include_self)
}

/// The dimensions of `source`, with a table on the side that is written, whose strides these are.
fn rows(source: &Tensor, at: usize, list: &[i64], strides: &[i64]) -> Vec<Axis> {
    let sizes = aten::sizes_or_one(source);
    let packed = crate::join::packed_steps(sizes);
    let axes = sizes.iter().zip(packed).enumerate().map(|(dim, (&size, from))| {
        let stride = strides.get(dim).copied().unwrap_or(1);
        let to = if dim == at {
            Step::Table(list.iter().map(|position| position * stride).collect())
        } else {
            Step::Stride(stride)
        };
        Axis { size, to, from }
    });
    axes.collect()
}

fn list_of(this: &Tensor, at: usize, index: &Tensor, negative: Negative) -> Result<Vec<i64>> {
    let mut list = positions(index)?;
    inside("index", &mut list, this.sizes().get(at).copied().unwrap_or(1), negative)?;
    Ok(list)
}

#[op_impl(aten::index_copy, CPU)]
fn index_copy(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let list = list_of(this, at, index, Negative::IsOutside)?;
    let mut out = copied(this, spec)?;
    let axes = rows(source, at, &list, out.strides());
    along(&mut out, &packed(source, source.dtype())?, &axes)?;
    Ok(out)
}

#[op_impl(aten::index_add, CPU)]
fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let list = list_of(this, at, index, Negative::IsOutside)?;
    let axes = rows(source, at, &list, &packed_strides(this));
    let computed = computed_in(this.dtype());
    let mut scaled = packed(source, computed)?;
    match computed {
        DType::F32 => scale::<f32>(&mut scaled, alpha)?,
        DType::F64 => scale::<f64>(&mut scaled, alpha)?,
        DType::C64 => scale::<Complex32>(&mut scaled, alpha)?,
        DType::C128 => scale::<Complex64>(&mut scaled, alpha)?,
        _ => scale::<i64>(&mut scaled, alpha)?,
    }
    reduced(this, &scaled, &axes, Reduce::Sum, true, spec)
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
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
    let how = Reduce::parse(reduce)?;
    let list = list_of(this, at, index, Negative::IsOutside)?;
    let axes = rows(source, at, &list, &packed_strides(this));
    reduced(this, source, &axes, how, include_self, spec)
}

fn filled(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_fill_spec(this, dim, index)?;
    if matches!(value, Scalar::Complex(_)) && !this.dtype().is_complex() {
        return Err(BadArgument::value("value", value, format!("real, as `self` is of {}", this.dtype())).into());
    }
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
    filled(this, dim, index, number(value)?)
}

#[op_impl(aten::index_put, CPU)]
fn index_put(this: &Tensor, indices: &[Option<Tensor>], values: &Tensor, accumulate: bool) -> Result<Tensor> {
    aten::check_values(this, values)?;
    let lists = Lists::of(this, indices)?;
    aten::check_broadcasts("values", values, &lists.indexed.sizes)?;
    let mut wide = Spec::contiguous(this.dtype(), &lists.indexed.sizes).on(this.device())?;
    copy_called("values", &mut wide, values)?;
    let spec = Spec::pointwise(&[this], this.dtype())?;
    let strides = if accumulate { packed_strides(this) } else { spec.geometry.strides().to_vec() };
    let steps = lists.steps(this.sizes(), &strides).into_iter().zip(lists.packed_steps());
    let axes: Vec<Axis> = steps.map(|((size, to), from)| Axis { size, to, from }).collect();
    if accumulate {
        return reduced(this, &wide, &axes, Reduce::Sum, true, spec);
    }
    let mut out = copied(this, spec)?;
    along(&mut out, &wide, &axes)?;
    Ok(out)
}

#[op_impl(aten::put, CPU)]
fn put(this: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
    let spec = aten::put_spec(this, index, source)?;
    let mut list = positions(index)?;
    inside("index", &mut list, this.geometry().count(), Negative::Wraps)?;
    let axes = [Axis { size: index.geometry().count(), to: Step::Table(list), from: Step::Stride(1) }];
    let source = packed(source, source.dtype())?;
    if accumulate {
        return reduced(this, &source, &axes, Reduce::Sum, true, spec);
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
    let mut grads = packed(grad_output, computed)?;
    let mut counts = vec![0_i64; usize::try_from(num_weights).unwrap_or(0)];
    list.iter().for_each(|&row| counts[usize::try_from(row).unwrap_or(0)] += 1);
    match computed {
        DType::F64 => weigh::<f64>(&mut grads, &list, &counts, padding_idx, scale_grad_by_freq)?,
        DType::F32 => weigh::<f32>(&mut grads, &list, &counts, padding_idx, scale_grad_by_freq)?,
        other => return Err(BadArgument::dtype("grad_output", other, "floating").into()),
    }
    let mut zeros = Spec::contiguous(computed, &[num_weights, width]).on(grad_output.device())?;
    fill(&mut zeros, Scalar::Int(0))?;
    let size = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let rows = Axis { size, to: Step::Table(list.iter().map(|row| row * width).collect()), from: Step::Stride(width) };
    let columns = Axis { size: width, to: Step::Stride(1), from: Step::Stride(1) };
    let sum = reduced(
        &zeros,
        &grads,
        &[rows, columns],
        Reduce::Sum,
        true,
        Spec::contiguous(computed, &[num_weights, width]),
    )?;
    copied(&sum, spec)
}

/// Makes the gradients of padding zero, and shares the others among the positions that have the same row.
fn weigh<T: Reducible>(
    grads: &mut Tensor,
    list: &[i64],
    counts: &[i64],
    padding: i64,
    by_frequency: bool,
) -> Result<()> {
    let width = usize::try_from(grads.sizes().last().copied().unwrap_or(0)).unwrap_or(0).max(1);
    let zero = T::from_scalar(Scalar::Int(0));
    for (grads, &row) in grads.write::<T>()?.chunks_exact_mut(width).zip(list) {
        let count = counts[usize::try_from(row).unwrap_or(0)];
        if row == padding {
            grads.fill(zero);
        } else if by_frequency {
            grads.iter_mut().for_each(|grad| *grad = grad.shared(count));
        }
    }
    Ok(())
}

/// A copy of `this` with `src` in place of what `view` shows of it.
fn replaced(this: &Tensor, src: &Tensor, view: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let out = copied(this, aten::scattered_spec(this, &view(this)?, src)?)?;
    copy_called("src", &mut view(&out)?, src)?;
    Ok(out)
}

#[op_impl(aten::select_scatter, CPU)]
fn select_scatter(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    replaced(this, src, |tensor| aten::select_int(tensor, dim, index))
}

#[op_impl(aten::slice_scatter, CPU)]
fn slice_scatter(
    this: &Tensor,
    src: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    replaced(this, src, |tensor| aten::slice(tensor, dim, start, end, step))
}

#[op_impl(aten::diagonal_scatter, CPU)]
fn diagonal_scatter(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    replaced(this, src, |tensor| aten::diagonal(tensor, offset, dim1, dim2))
}

#[op_impl(aten::as_strided_scatter, CPU)]
fn as_strided_scatter(
    this: &Tensor,
    src: &Tensor,
    size: &[i64],
    stride: &[i64],
    storage_offset: Option<i64>,
) -> Result<Tensor> {
    let part = aten::as_strided(this, size, stride, storage_offset)?;
    let spec = aten::scattered_spec(this, &part, src)?;
    let bytes = i64::try_from(this.storage().size()).unwrap_or(i64::MAX);
    let all = Geometry::contiguous(&[bytes / i64::try_from(this.dtype().size()).unwrap_or(1)]);
    // The view may show what `this` does not, so all of the memory is copied.
    let memory = packed(&this.restride(all)?, this.dtype())?;
    copy_called("src", &mut memory.restride(part.geometry().clone())?, src)?;
    if spec.geometry.strides() == this.strides() {
        return Ok(memory.restride(this.geometry().clone())?);
    }
    copied(&memory.restride(this.geometry().clone())?, spec)
}
