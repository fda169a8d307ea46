//! Elements put where positions, or a view, say.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Complex32, Complex64, Geometry, Spec};

use crate::compute::Compute;
use crate::convert::computed_in;
use crate::factory::{fill, number};
use crate::gather::{put, put_combined};
use crate::index::{Lists, Negative, inside, positions};
use crate::moves::{Axis, Step, along, combined, copy, copy_called, packed};
use crate::numbers::usized;

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
    const LEAST: Self;
    const GREATEST: Self;

    fn greater(self, other: Self) -> Self;
    fn lesser(self, other: Self) -> Self;
    fn shared(self, count: i64) -> Self;
}

macro_rules! reducible {
    ($($ty:ty: $least:expr, $greatest:expr, |$a:ident, $b:ident, $n:ident| $greater:expr, $lesser:expr, $shared:expr;)*) => {$(
        impl Reducible for $ty {
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;

            #[inline(always)]
            fn greater(self, $b: Self) -> Self {
                let $a = self;
                $greater
            }

            #[inline(always)]
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
    f32: Self::NEG_INFINITY, Self::INFINITY, |a, b, n| if a.is_nan() || a > b { a } else { b }, if a.is_nan() || a < b { a } else { b }, a / Self::from_scalar(n.into());
    f64: Self::NEG_INFINITY, Self::INFINITY, |a, b, n| if a.is_nan() || a > b { a } else { b }, if a.is_nan() || a < b { a } else { b }, a / Self::from_scalar(n.into());
    i64: Self::MIN, Self::MAX, |a, b, n| a.max(b), a.min(b), a.div_euclid(n);
    Complex32: Self::ZERO, Self::ZERO, |a, b, n| a.plus(b), a.plus(b), a / Self::from_scalar(n.into());
    Complex64: Self::ZERO, Self::ZERO, |a, b, n| a.plus(b), a.plus(b), a / Self::from_scalar(n.into());
}

/// Which elements are made one.
enum Way<'a> {
    /// Those along a walk.
    Along(&'a [Axis]),
    /// Those beside an index, and those that it picks along a dimension.
    Index(usize, &'a Tensor),
}

impl Way<'_> {
    fn combine<T: Compute>(&self, out: &mut Tensor, from: &Tensor, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        match self {
            Self::Along(axes) => combined(out, from, axes, f),
            Self::Index(at, index) => put_combined(out, *at, index, from, f),
        }
    }

    /// The same with one number for all that come.
    fn combine_one<T: Compute>(&self, out: &mut Tensor, number: T, f: impl Fn(T, T) -> T + Sync) -> Result<()> {
        let from = Tensor::from_slice(&[number]);
        match self {
            Self::Along(axes) => {
                let axes: Vec<Axis> = axes.iter().map(|axis| Axis { from: Step::Stride(0), ..axis.clone() }).collect();
                combined(out, &from, &axes, f)
            }
            Self::Index(at, index) => put_combined(out, *at, index, &repeated(&from, index)?, f),
        }
    }
}

/// The tensor, laid out as `spec` says, with elements of `from`, which is [`ready`], made one with its own.
fn reduced(this: &Tensor, from: &Tensor, way: &Way<'_>, how: Reduce, include: bool, spec: Spec) -> Result<Tensor> {
    if this.dtype().is_complex() && matches!(how, Reduce::Greatest | Reduce::Least) {
        return Err(BadArgument::dtype("self", this.dtype(), "real, as complex numbers have no order").into());
    }
    let computed = computed_in(this.dtype());
    let mut sum = copied(this, Spec { dtype: computed, geometry: spec.geometry.clone() })?;
    match computed {
        DType::F32 => reduce::<f32>(&mut sum, from, way, how, include)?,
        DType::F64 => reduce::<f64>(&mut sum, from, way, how, include)?,
        DType::C64 => reduce::<Complex32>(&mut sum, from, way, how, include)?,
        DType::C128 => reduce::<Complex64>(&mut sum, from, way, how, include)?,
        _ => reduce::<i64>(&mut sum, from, way, how, include)?,
    }
    if spec.dtype == computed { Ok(sum) } else { copied(&sum, spec) }
}

/// The tensor plus elements of `from`, which is [`ready`], along a walk.
pub(crate) fn summed(this: &Tensor, from: &Tensor, axes: &[Axis], spec: Spec) -> Result<Tensor> {
    reduced(this, from, &Way::Along(axes), Reduce::Sum, true, spec)
}

/// The tensor itself if it is of a type that loops compute in, or else a copy that is.
pub(crate) fn ready(tensor: &Tensor) -> Result<Tensor> {
    let computed = computed_in(tensor.dtype());
    if tensor.dtype() == computed { Ok(tensor.clone()) } else { packed(tensor, computed) }
}

fn reduce<T: Reducible>(out: &mut Tensor, from: &Tensor, way: &Way<'_>, how: Reduce, include: bool) -> Result<()> {
    if !include {
        let neutral = match how {
            Reduce::Sum | Reduce::Mean => T::ZERO,
            Reduce::Product => T::from_scalar(Scalar::Int(1)),
            Reduce::Greatest => T::LEAST,
            Reduce::Least => T::GREATEST,
        };
        way.combine_one(out, neutral, |_, neutral| neutral)?;
    }
    match how {
        Reduce::Sum | Reduce::Mean => way.combine(out, from, T::plus)?,
        Reduce::Product => way.combine(out, from, T::times)?,
        Reduce::Greatest => way.combine(out, from, T::greater)?,
        Reduce::Least => way.combine(out, from, T::lesser)?,
    }
    if how == Reduce::Mean {
        let mut counts = Spec { dtype: DType::I64, geometry: out.geometry().clone() }.on(out.device())?;
        fill(&mut counts, Scalar::Int(i64::from(include)))?;
        way.combine_one(&mut counts, 1_i64, i64::wrapping_add)?;
        // Both are laid out alike, without gaps.
        let row = Geometry::contiguous(&[out.geometry().count()]);
        let (mut out, counts) = (out.restride(row.clone())?, counts.restride(row)?);
        let (mut out, counts) = (out.write::<T>()?, counts.read::<i64>()?);
        let shared = out.iter_mut().zip(counts.iter()).filter(|(_, count)| **count > 1);
        shared.for_each(|(sum, &count)| *sum = sum.shared(count));
    }
    Ok(())
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
    let mut out = copied(this, spec)?;
    put(&mut out, at, index, src)?;
    Ok(out)
}

#[op_impl(aten::scatter_value, CPU)]
fn scatter_value(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, None)?;
    let mut out = copied(this, spec)?;
    put(&mut out, at, index, &repeated(&one(value, this.dtype())?, index)?)?;
    Ok(out)
}

/// One number beside every position of an index.
fn repeated(number: &Tensor, index: &Tensor) -> Result<Tensor> {
    corner(number, index.sizes(), &vec![0; index.sizes().len()])
}

fn scattered(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor, how: Reduce, include: bool) -> Result<Tensor> {
    let (spec, at) = aten::scatter_spec(this, dim, index, Some(src))?;
    let from = ready(src)?;
    let Some(line) = line_of(index, at)? else {
        return reduced(this, &from, &Way::Index(at, index), how, include, spec);
    };
    let list = list_of(this, at, &line, Negative::IsOutside)?;
    let from = corner(&from, index.sizes(), from.strides())?;
    let axes = rows(&from, at, &list, spec.geometry.strides());
    reduced(this, &from, &Way::Along(&axes), how, include, spec)
}

/// What an index says along a dimension, if it says so at several places beside it and never otherwise.
fn line_of(index: &Tensor, at: usize) -> Result<Option<Tensor>> {
    let (sizes, strides) = (index.sizes(), index.strides());
    let alike = (0..sizes.len()).all(|dim| dim == at || sizes[dim] == 1 || strides[dim] == 0);
    let wide = (0..sizes.len()).any(|dim| dim != at && sizes[dim] > 1);
    if alike && wide { corner(index, &sizes[at..=at], &strides[at..=at]).map(Some) } else { Ok(None) }
}

/// The first elements of a tensor, as many as sizes say.
fn corner(tensor: &Tensor, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
    match Geometry::strided(sizes, strides, tensor.geometry().offset()) {
        Some(geometry) => Ok(tensor.restride(geometry)?),
        None => Ok(tensor.clone()),
    }
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
    let number = ready(&one(value, this.dtype())?)?;
    reduced(this, &repeated(&number, index)?, &Way::Index(at, index), how, true, spec)
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
    let axes = aten::sizes_or_one(source).iter().enumerate().map(|(dim, &size)| {
        let from = Step::Stride(source.strides().get(dim).copied().unwrap_or(1));
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
    along(&mut out, source, &axes)?;
    Ok(out)
}

#[op_impl(aten::index_add, CPU)]
fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
    let (spec, at) = aten::index_from_spec(this, dim, index, source)?;
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
    let mut counts = vec![0_i64; usized(num_weights)];
    list.iter().for_each(|&row| counts[usized(row)] += 1);
    let width = usized(grads.sizes().last().copied().unwrap_or(0)).max(1);
    for (grads, &row) in grads.write::<T>()?.chunks_exact_mut(width).zip(list) {
        grads.iter_mut().for_each(|grad| *grad = grad.shared(counts[usized(row)]));
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

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: i64 = 3000;
    const WIDE: i64 = 64;
    const KEPT: i64 = 10;

    fn sized(tensor: &Tensor, sizes: &[i64]) -> Tensor {
        tensor.restride(Geometry::contiguous(sizes)).unwrap()
    }

    /// Numbers whose sum depends on the order.
    fn numbers() -> Vec<f32> {
        (0_u16..3000)
            .flat_map(|row| (0_u16..64).map(move |col| 1.0 / (1.0 + f32::from(row * 7 % 1013 + col))))
            .collect()
    }

    #[test]
    fn elements_that_meet_are_added_in_their_order() {
        let src = numbers();
        let target = |place: i64| (place / WIDE * 31 + place % WIDE) % KEPT;
        let index: Vec<i64> = (0..ROWS * WIDE).map(target).collect();
        let mut expected = vec![0.5_f32; usized(KEPT * WIDE)];
        for (place, src) in (0..).zip(&src) {
            expected[usized(target(place) * WIDE + place % WIDE)] += src;
        }
        let this = sized(&Tensor::from(vec![0.5_f32; usized(KEPT * WIDE)]), &[KEPT, WIDE]);
        let (src, index) = (Tensor::from_slice(&src), Tensor::from_slice(&index));
        let (src, index) = (sized(&src, &[ROWS, WIDE]), sized(&index, &[ROWS, WIDE]));
        let sum = aten::scatter_add(&this, 0, &index, &src).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
        // The same with the dimension innermost, laid out otherwise.
        let turn = |tensor: &Tensor| aten::t(tensor).unwrap();
        let sum = aten::scatter_add(&turn(&this), 1, &turn(&index), &turn(&src)).unwrap();
        assert_eq!(turn(&sum).to_vec::<f32>().unwrap(), expected);
    }

    #[test]
    fn an_index_that_says_the_same_beside_it_does_as_if_it_were_written_out() {
        let this = sized(&Tensor::from((0..40_u8).map(f32::from).collect::<Vec<f32>>()), &[8, 5]);
        let src = sized(&Tensor::from((0..30_u8).map(|x| 0.5 * f32::from(x)).collect::<Vec<f32>>()), &[6, 5]);
        let line = sized(&Tensor::from_slice(&[3_i64, 0, 3, 7]), &[4, 1]);
        let index = line.restride(Geometry::strided(&[4, 3], &[1, 0], 0).unwrap()).unwrap();
        let written = aten::clone(&index, Some(dispatch_runtime::MemoryFormat::Contiguous)).unwrap();
        for (reduce, include_self) in [("sum", true), ("sum", false), ("mean", true), ("amax", false), ("prod", true)] {
            let reduced = |index: &Tensor| {
                aten::scatter_reduce_two(&this, 0, index, &src, reduce, include_self).unwrap().to_vec::<f32>().unwrap()
            };
            assert_eq!(reduced(&index), reduced(&written), "{reduce}");
        }
        let outside = sized(&Tensor::from_slice(&[8_i64]), &[1, 1]);
        let outside = outside.restride(Geometry::strided(&[1, 3], &[1, 0], 0).unwrap()).unwrap();
        let error = aten::scatter_add(&this, 0, &outside, &src).unwrap_err().to_string();
        assert!(error.contains("`index`") && error.contains('8'), "{error}");
    }

    #[test]
    fn rows_that_meet_are_added_in_their_order() {
        let src = numbers();
        let list: Vec<i64> = (0..ROWS).map(|row| row * 31 % KEPT).collect();
        let mut expected = vec![0.0_f32; usized(KEPT * WIDE)];
        for (place, src) in src.iter().enumerate() {
            expected[usized(list[place / 64] * WIDE) + place % 64] += src;
        }
        let this = sized(&Tensor::from(vec![0.0_f32; usized(KEPT * WIDE)]), &[KEPT, WIDE]);
        let (src, list) = (sized(&Tensor::from_slice(&src), &[ROWS, WIDE]), Tensor::from_slice(&list));
        let sum = aten::index_add(&this, 0, &list, &src, 1.into()).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
        let sum = aten::index_put(&this, &[Some(list.clone())], &src, true).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
        let sum = aten::embedding_dense_backward(&src, &list, KEPT, -1, false).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), expected);
    }

    #[test]
    fn what_was_there_counts_where_nothing_comes() {
        let (this, index) = (Tensor::from_slice(&[9.0_f32, 9.0, 9.0]), Tensor::from_slice(&[2_i64, 0, 0]));
        let src = Tensor::from_slice(&[1.0_f32, -4.0, 2.0]);
        let reduced = |how: &str, include: bool| {
            aten::scatter_reduce_two(&this, 0, &index, &src, how, include).unwrap().to_vec::<f32>().unwrap()
        };
        assert_eq!(reduced("mean", false), [-1.0, 9.0, 1.0]);
        assert_eq!(reduced("mean", true), [7.0 / 3.0, 9.0, 5.0]);
        assert_eq!(reduced("amax", false), [2.0, 9.0, 1.0]);
        assert_eq!(reduced("prod", false), [-8.0, 9.0, 1.0]);
        let nothing = Tensor::from(Vec::<i64>::new());
        assert_eq!(aten::scatter_add(&this, 0, &nothing, &src).unwrap().to_vec::<f32>().unwrap(), [9.0; 3]);
    }
}
