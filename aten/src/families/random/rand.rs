//! Random tensors of the uniform and normal distributions, of given sizes or like another tensor.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

use crate::{empty_like, empty_memory_format, normal_, uniform_};

/// Creates a tensor of uniform numbers between zero and one.
#[op_def(
    "rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn rand(_: ...) -> Result<Tensor> {
    rand_generator(size, None, dtype, layout, device, pin_memory)
}

/// Creates a tensor of uniform numbers between zero and one, drawn from `generator`.
#[op_def(
    "rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn rand_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype, layout, device, pin_memory, None)?;
    uniform_(&mut result, 0.0, 1.0, generator)?;
    Ok(result)
}

/// Fills `out`, resized to `size`, with uniform numbers between zero and one.
#[op_def("rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn rand_out(size: &[i64], out: &mut Tensor) -> Result<()> {
    rand_generator_out(size, None, out)
}

/// Fills `out`, resized to `size`, with uniform numbers between zero and one, drawn from `generator`.
#[op_def("rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)")]
pub fn rand_generator_out(size: &[i64], generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    uniform_(out, 0.0, 1.0, generator)
}

/// Creates a tensor of uniform numbers between zero and one, with the sizes and layout of `self`.
#[op_def(
    "rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn rand_like(_: ...) -> Result<Tensor> {
    rand_like_generator(this, None, dtype, layout, device, pin_memory, memory_format)
}

/// Creates a tensor of uniform numbers between zero and one, drawn from `generator`, with the sizes and layout of `self`.
#[op_def(
    "rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "generator_out", body = CompositeExplicitAutograd
)]
pub fn rand_like_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    uniform_(&mut result, 0.0, 1.0, generator)?;
    Ok(result)
}

/// Creates a tensor of standard normal numbers.
#[op_def(
    "randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randn(_: ...) -> Result<Tensor> {
    randn_generator(size, None, dtype, layout, device, pin_memory)
}

/// Creates a tensor of standard normal numbers, drawn from `generator`.
#[op_def(
    "randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randn_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype, layout, device, pin_memory, None)?;
    normal_(&mut result, 0.0, 1.0, generator)?;
    Ok(result)
}

/// Fills `out`, resized to `size`, with standard normal numbers.
#[op_def("randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn randn_out(size: &[i64], out: &mut Tensor) -> Result<()> {
    randn_generator_out(size, None, out)
}

/// Fills `out`, resized to `size`, with standard normal numbers, drawn from `generator`.
#[op_def("randn.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)")]
pub fn randn_generator_out(size: &[i64], generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    normal_(out, 0.0, 1.0, generator)
}

/// Creates a tensor of standard normal numbers, with the sizes and layout of `self`.
#[op_def(
    "randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn randn_like(_: ...) -> Result<Tensor> {
    randn_like_generator(this, None, dtype, layout, device, pin_memory, memory_format)
}

/// Creates a tensor of standard normal numbers, drawn from `generator`, with the sizes and layout of `self`.
#[op_def(
    "randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "generator_out", body = CompositeExplicitAutograd
)]
pub fn randn_like_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    normal_(&mut result, 0.0, 1.0, generator)?;
    Ok(result)
}

/// Creates a tensor of normal numbers with the given mean and standard deviation.
#[op_def(
    "normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn normal_float_float(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype, layout, device, pin_memory, None)?;
    normal_(&mut result, mean, std, generator)?;
    Ok(result)
}

/// Fills `out`, resized to `size`, with normal numbers of the given mean and standard deviation.
#[op_def(
    "normal.float_float_out(float mean, float std, SymInt[] size, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)]
pub fn normal_float_float_out(_: ...) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    normal_(out, mean, std, generator)
}
