//! Factories of uninitialised tensors and of constant tensors: `empty`, `full`, `zeros`, `ones` and their `_like` and `new_` forms.
//!
//! A factory has no tensor operand, so its `device` selects the backend; the default is the CPU. Backends supply kernels of
//! [`empty_memory_format`], [`empty_strided`] and [`full`]; the other operators call these.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Geometry, Layout, MemoryFormat, Spec};

/// Refuses sparse layouts and pinned memory, which factories do not support.
pub(crate) fn check_layout_and_pinning(layout: Option<Layout>, pin_memory: Option<bool>) -> Result<(), BadArgument> {
    if let Some(layout @ (Layout::Sparse | Layout::SparseCsr)) = layout {
        return Err(BadArgument::keyword("layout", &layout.to_string(), &["torch.strided"]));
    }
    match pin_memory {
        Some(true) => {
            Err(BadArgument::number("pin_memory", true, false).because("factories do not allocate pinned memory"))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_no_negative_entry(argument: &'static str, size: &[i64]) -> Result<(), BadArgument> {
    if size.iter().all(|&size| size >= 0) {
        Ok(())
    } else {
        Err(BadArgument::sizes(argument, size, "no negative size"))
    }
}

/// A tensor with arbitrary elements: the previous content of its memory.
#[op_def(
    "empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    plan,
    float8,
    out = "out"
)]
pub fn empty_memory_format(_: ...) -> Result<Tensor>;

#[op_plan(empty_memory_format)]
fn empty_plan(_: ...) -> Result<Plan<()>> {
    check_layout_and_pinning(layout, pin_memory)?;
    let dtype = dtype.unwrap_or(DType::F32);
    match memory_format {
        None => Ok(Plan::new((), [Spec::contiguous(dtype, size)])),
        Some(format) => Ok(Plan::new((), [spec_in_memory_format(size, dtype, format)?])),
    }
}

fn spec_in_memory_format(size: &[i64], dtype: DType, format: MemoryFormat) -> Result<Spec, BadArgument> {
    check_no_negative_entry("size", size)?;
    let geometry = Geometry::in_format(size, format).filter(|_| format != MemoryFormat::Preserve).ok_or_else(|| {
        BadArgument::value("memory_format", format, format!("a format for {} dimensions", size.len()))
    })?;
    Ok(Spec { dtype, geometry })
}

/// A tensor with these sizes and strides and arbitrary elements.
#[op_def(
    "empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    float8,
    out = "out"
)]
pub fn empty_strided(_: ...) -> Result<Tensor>;

#[op_plan(empty_strided)]
fn empty_strided_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_layout_and_pinning(layout, pin_memory)?;
    check_no_negative_entry("size", size)?;
    check_no_negative_entry("stride", stride)?;
    let expected = || BadArgument::length("stride", stride.len(), size.len()).like("size");
    let geometry = Geometry::strided(size, stride, 0).ok_or_else(expected)?;
    Ok(Plan::new((), [Spec { dtype: dtype.unwrap_or(DType::F32), geometry }]))
}

/// A tensor with arbitrary elements, and with its dimensions in memory in the order `physical_layout`, outermost first.
#[op_def(
    "empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn empty_permuted(_: ...) -> Result<Tensor> {
    check_no_negative_entry("size", size)?;
    let rank = size.len();
    if physical_layout.len() != rank {
        return Err(BadArgument::length("physical_layout", physical_layout.len(), rank).like("size").into());
    }
    let inner_to_outer = physical_layout.iter().rev().map(|dim| usize::try_from(*dim).unwrap_or(rank));
    let geometry = Geometry::dense(size, inner_to_outer).ok_or_else(|| {
        let expected = format!("a list with each number below {rank} once");
        BadArgument::value("physical_layout", format!("{physical_layout:?}"), expected)
    })?;
    empty_strided(size, geometry.strides(), dtype, layout, device, pin_memory)
}

/// A tensor with `fill_value` in each element.
#[op_def(
    "full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    float8,
    out = "out"
)]
pub fn full(_: ...) -> Result<Tensor>;

#[op_plan(full)]
fn full_plan(_: ...) -> Result<Plan<()>> {
    check_layout_and_pinning(layout, pin_memory)?;
    check_no_negative_entry("size", size)?;
    let default_dtype = match fill_value {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::I64,
        Scalar::Float(_) => DType::F32,
        Scalar::Complex(_) => DType::C64,
    };
    let spec = Spec::contiguous(dtype.unwrap_or(default_dtype), size);
    crate::check_fill_value("fill_value", fill_value, spec.dtype, spec.geometry.count())?;
    Ok(Plan::new((), [spec]))
}

/// A tensor without dimensions, with the scalar `s` as its element.
#[op_def(
    "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn scalar_tensor(_: ...) -> Result<Tensor> {
    full(&[], s, Some(dtype.unwrap_or(DType::F32)), layout, device, pin_memory)
}

/// A tensor of zeros.
#[op_def(
    "zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn zeros(_: ...) -> Result<Tensor> {
    full(size, Scalar::Int(0), Some(dtype.unwrap_or(DType::F32)), layout, device, pin_memory)
}

/// A tensor of zeros, for derivatives that are zero. In PyTorch it has no memory; here it is a tensor as any other.
#[op_def(
    "_efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _efficientzerotensor(_: ...) -> Result<Tensor> {
    zeros(size, dtype, layout, device, pin_memory)
}

/// A tensor of ones.
#[op_def(
    "ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn ones(_: ...) -> Result<Tensor> {
    full(size, Scalar::Int(1), Some(dtype.unwrap_or(DType::F32)), layout, device, pin_memory)
}

/// Returns the spec of a dense tensor with the sizes of `this`, in the memory format `format`, or with the strides of `this` without one.
fn spec_like(
    this: &Tensor,
    dtype: Option<DType>,
    layout: Option<Layout>,
    pin_memory: Option<bool>,
    format: Option<MemoryFormat>,
) -> Result<Spec> {
    check_layout_and_pinning(layout, pin_memory)?;
    let dtype = dtype.unwrap_or_else(|| this.dtype());
    match format {
        None | Some(MemoryFormat::Preserve) => {
            let own = this.geometry();
            if own.is_dense() {
                let same = Geometry::strided(own.sizes(), own.strides(), 0);
                return Ok(Spec { dtype, geometry: same.unwrap_or_else(|| Geometry::contiguous(own.sizes())) });
            }
            Ok(Spec::like(this, dtype))
        }
        Some(format) => Ok(spec_in_memory_format(this.sizes(), dtype, format)?),
    }
}

fn full_with_spec(spec: &Spec, value: Scalar, device: Device) -> Result<Tensor> {
    let run = full(&[spec.geometry.count()], value, Some(spec.dtype), None, Some(device), None)?;
    Ok(run.restride(spec.geometry.clone())?)
}

/// A tensor with the sizes, dtype and device of `self` and arbitrary elements.
#[op_def(
    "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn empty_like(_: ...) -> Result<Tensor> {
    let Spec { dtype, geometry } = spec_like(this, dtype, layout, pin_memory, memory_format)?;
    empty_strided(
        geometry.sizes(),
        geometry.strides(),
        Some(dtype),
        None,
        Some(device.unwrap_or_else(|| this.device())),
        None,
    )
}

/// A tensor with the sizes, dtype and device of `self`, with `fill_value` in each element.
#[op_def(
    "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn full_like(_: ...) -> Result<Tensor> {
    full_with_spec(
        &spec_like(this, dtype, layout, pin_memory, memory_format)?,
        fill_value,
        device.unwrap_or_else(|| this.device()),
    )
}

/// A tensor of zeros with the sizes, dtype and device of `self`.
#[op_def(
    "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn zeros_like(_: ...) -> Result<Tensor> {
    full_with_spec(
        &spec_like(this, dtype, layout, pin_memory, memory_format)?,
        Scalar::Int(0),
        device.unwrap_or_else(|| this.device()),
    )
}

/// A tensor of ones with the sizes, dtype and device of `self`.
#[op_def(
    "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn ones_like(_: ...) -> Result<Tensor> {
    full_with_spec(
        &spec_like(this, dtype, layout, pin_memory, memory_format)?,
        Scalar::Int(1),
        device.unwrap_or_else(|| this.device()),
    )
}

/// A tensor of size `size` with the dtype and device of `self` and arbitrary elements.
#[op_def(
    "new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn new_empty(_: ...) -> Result<Tensor> {
    let (dtype, device) = (dtype.unwrap_or_else(|| this.dtype()), device.unwrap_or_else(|| this.device()));
    empty_memory_format(size, Some(dtype), layout, Some(device), pin_memory, None)
}

/// A tensor with these sizes and strides, with the dtype and device of `self` and arbitrary elements.
#[op_def(
    "new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn new_empty_strided(_: ...) -> Result<Tensor> {
    let (dtype, device) = (dtype.unwrap_or_else(|| this.dtype()), device.unwrap_or_else(|| this.device()));
    empty_strided(size, stride, Some(dtype), layout, Some(device), pin_memory)
}

/// A tensor of size `size` with the dtype and device of `self`, with `fill_value` in each element.
#[op_def(
    "new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn new_full(_: ...) -> Result<Tensor> {
    let (dtype, device) = (dtype.unwrap_or_else(|| this.dtype()), device.unwrap_or_else(|| this.device()));
    full(size, fill_value, Some(dtype), layout, Some(device), pin_memory)
}

/// A tensor of zeros of size `size` with the dtype and device of `self`.
#[op_def(
    "new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn new_zeros(_: ...) -> Result<Tensor> {
    new_full(this, size, Scalar::Int(0), dtype, layout, device, pin_memory)
}

/// A tensor of ones of size `size` with the dtype and device of `self`.
#[op_def(
    "new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn new_ones(_: ...) -> Result<Tensor> {
    new_full(this, size, Scalar::Int(1), dtype, layout, device, pin_memory)
}

/// Returns zeros with the geometry of `other`, after the first `self_num_batch_dims` dimensions of `self`.
#[op_def(
    "_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> Tensor",
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn _new_zeros_with_same_feature_meta(_: ...) -> Result<Tensor> {
    let rank = this.sizes().len();
    let Some(batch) = usize::try_from(self_num_batch_dims).ok().and_then(|count| this.sizes().get(..count)) else {
        let most = i64::try_from(rank).unwrap_or(i64::MAX);
        return Err(BadArgument::number("self_num_batch_dims", self_num_batch_dims, 0..=most).into());
    };
    crate::check_same_device([("self", this), ("other", other)])?;
    let slice = if other.device() == Device::META {
        other.geometry().end().unwrap_or(0)
    } else {
        i64::try_from(other.storage().size() / other.dtype().size()).unwrap_or(i64::MAX)
    };
    let mut strides: Vec<i64> = Vec::new();
    let mut count = slice;
    for &size in batch.iter().rev() {
        strides.push(count);
        count = count.saturating_mul(size);
    }
    strides.reverse();
    let zeros = zeros(&[count], Some(other.dtype()), None, Some(other.device()), None)?;
    let (sizes, strides) = ([batch, other.sizes()].concat(), [&strides[..], other.strides()].concat());
    crate::as_strided(&zeros, &sizes, &strides, Some(other.geometry().offset()))
}
