//! Tensors of random integers and random permutations, of given sizes or like another tensor.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

use crate::{check_layout_and_pinning, empty_like, empty_memory_format, random__from};

/// Creates a tensor of random integers from zero up to below `high`.
#[op_def(
    "randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randint(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype.or(Some(DType::I64)), layout, device, pin_memory, None)?;
    random__from(&mut result, 0, Some(high), None)?;
    Ok(result)
}

/// Creates a tensor of random integers from zero up to below `high`, drawn from `generator`.
#[op_def(
    "randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randint_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype.or(Some(DType::I64)), layout, device, pin_memory, None)?;
    random__from(&mut result, 0, Some(high), generator)?;
    Ok(result)
}

/// Creates a tensor of random integers from `low` up to below `high`.
#[op_def(
    "randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randint_low(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype.or(Some(DType::I64)), layout, device, pin_memory, None)?;
    random__from(&mut result, low, Some(high), None)?;
    Ok(result)
}

/// Creates a tensor of random integers from `low` up to below `high`, drawn from `generator`.
#[op_def(
    "randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randint_low_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_memory_format(size, dtype.or(Some(DType::I64)), layout, device, pin_memory, None)?;
    random__from(&mut result, low, Some(high), generator)?;
    Ok(result)
}

/// Fills `out`, resized to `size`, with random integers from zero up to below `high`.
#[op_def("randint.out(SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn randint_out(high: i64, size: &[i64], out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    random__from(out, 0, Some(high), None)
}

/// Fills `out`, resized to `size`, with random integers from zero up to below `high`, drawn from `generator`.
#[op_def("randint.generator_out(SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)")]
pub fn randint_generator_out(high: i64, size: &[i64], generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    random__from(out, 0, Some(high), generator)
}

/// Fills `out`, resized to `size`, with random integers from `low` up to below `high`.
#[op_def("randint.low_out(SymInt low, SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn randint_low_out(low: i64, high: i64, size: &[i64], out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    random__from(out, low, Some(high), None)
}

/// Fills `out`, resized to `size`, with random integers from `low` up to below `high`, drawn from `generator`.
#[op_def(
    "randint.low_generator_out(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)"
)]
pub fn randint_low_generator_out(_: ...) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit_output("out", out)?;
    random__from(out, low, Some(high), generator)
}

/// Creates a tensor of random integers from zero up to below `high`, with the sizes and layout of `self`.
#[op_def(
    "randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn randint_like(_: ...) -> Result<Tensor> {
    let mut result = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    random__from(&mut result, 0, Some(high), None)?;
    Ok(result)
}

/// Creates a tensor of random integers from zero up to below `high`, drawn from `generator`, with the sizes and layout of `self`.
#[op_def(
    "randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "generator_out", body = CompositeExplicitAutograd
)]
pub fn randint_like_generator(_: ...) -> Result<Tensor> {
    let mut result = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    random__from(&mut result, 0, Some(high), generator)?;
    Ok(result)
}

/// Creates a tensor of random integers from `low` up to below `high`, with the sizes and layout of `self`.
#[op_def(
    "randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "low_dtype_out", body = CompositeExplicitAutograd
)]
pub fn randint_like_low_dtype(_: ...) -> Result<Tensor> {
    let mut result = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    random__from(&mut result, low, Some(high), None)?;
    Ok(result)
}

/// Creates a tensor of random integers from `low` up to below `high`, drawn from `generator`, with the sizes and layout of `self`.
#[op_def(
    "randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "low_generator_dtype_out", body = CompositeExplicitAutograd
)]
pub fn randint_like_low_generator_dtype(_: ...) -> Result<Tensor> {
    let mut result = empty_like(this, dtype, layout, device, pin_memory, memory_format)?;
    random__from(&mut result, low, Some(high), generator)?;
    Ok(result)
}

/// Creates a tensor of random integers from zero up to below the element of `high`, with the sizes and layout of `self`.
#[op_def(
    "randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "Tensor_out", body = CompositeExplicitAutograd
)]
pub fn randint_like_tensor(_: ...) -> Result<Tensor> {
    randint_like(this, integer_bound(high)?, dtype, layout, device, pin_memory, memory_format)
}

/// Creates a tensor of random integers from zero up to below the element of `high`, drawn from `generator`.
#[op_def(
    "randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    out = "Tensor_generator_out", body = CompositeExplicitAutograd
)]
pub fn randint_like_tensor_generator(_: ...) -> Result<Tensor> {
    let high = integer_bound(high)?;
    randint_like_generator(this, high, generator, dtype, layout, device, pin_memory, memory_format)
}

/// Returns the element of a bound without dimensions as an integer, rounded towards zero.
#[expect(clippy::cast_possible_truncation, reason = "a bound beyond all integers becomes the nearest integer")]
fn integer_bound(high: &Tensor) -> Result<i64> {
    if !high.sizes().is_empty() {
        return Err(BadArgument::rank("high", high.sizes().len(), 0).into());
    }
    Ok(match crate::item(high)? {
        Scalar::Bool(high) => high.into(),
        Scalar::Int(high) => high,
        Scalar::Float(high) => high as i64,
        Scalar::Complex(_) => return Err(BadArgument::dtype("high", high.dtype(), DTypes::Real).into()),
    })
}

/// Creates a random permutation of the integers from zero up to below `n`.
#[op_def(
    "randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn randperm(_: ...) -> Result<Tensor> {
    randperm_generator(n, None, dtype, layout, device, pin_memory)
}

/// Creates a random permutation of the integers from zero up to below `n`, drawn from `generator`.
#[op_def(
    "randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    plan,
    out = "generator_out"
)]
pub fn randperm_generator(_: ...) -> Result<Tensor>;

#[op_plan(randperm_generator)]
fn randperm_generator_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_layout_and_pinning(layout, pin_memory)?;
    if n < 0 {
        return Err(BadArgument::number("n", n, 0..));
    }
    let dtype = dtype.unwrap_or(DType::I64);
    // The dtype must represent every integer below `n`.
    let max = match dtype {
        DType::U8 => 1 << 8,
        DType::I8 => 1 << 7,
        DType::I16 => 1 << 15,
        DType::I32 => 1 << 31,
        DType::F16 => (1 << 11) + 1,
        DType::BF16 => (1 << 8) + 1,
        DType::F32 => (1 << 24) + 1,
        DType::F64 => (1 << 53) + 1,
        DType::I64 => i64::MAX,
        other => return Err(BadArgument::dtype("dtype", other, DTypes::FloatingOrIntegral)),
    };
    if n > max {
        return Err(
            BadArgument::number("n", n, ..=max).because(format!("{dtype} represents no more consecutive integers"))
        );
    }
    Ok(Plan::new((), [Spec::contiguous(dtype, &[n])]))
}

/// Fills `out`, resized to `n`, with a random permutation of the integers from zero up to below `n`.
#[op_def("randperm.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)")]
pub fn randperm_out(n: i64, out: &mut Tensor) -> Result<()> {
    randperm_generator_out(n, None, out)
}
