//! Numbers of normal distributions whose mean and deviation are tensors.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec, broadcast};

use crate::{empty_memory_format, normal_};

/// Numbers of the normal distribution in the sizes of `self`, into a tensor.
#[op_def(
    "normal.out(Tensor self, float mean=0., float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)]
pub fn normal_out(this: &Tensor, mean: f64, std: f64, generator: Option<&Generator>, out: &mut Tensor) -> Result<()> {
    Spec::contiguous(out.dtype(), this.sizes()).fit("out", out)?;
    normal_(out, mean, std, generator)
}

/// A number of the normal distribution around each mean.
#[op_def(
    "normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    out = "Tensor_float_out", body = CompositeExplicitAutograd
)]
pub fn normal_tensor_float(mean: &Tensor, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = empty_memory_format(mean.sizes(), Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    normal_(&mut made, 0.0, std, generator).map_err(|error| called(error, "mean"))?;
    crate::add_(&mut made, mean, 1.into())?;
    Ok(made)
}

/// A number of the normal distribution with each deviation.
#[op_def(
    "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out = "float_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn normal_float_tensor(mean: f64, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let mut made = empty_memory_format(std.sizes(), Some(std.dtype()), None, Some(std.device()), None, None)?;
    spread(&mut made, std, generator)?;
    crate::add__scalar(&mut made, mean.into(), 1.into())?;
    Ok(made)
}

/// A number of the normal distribution with each mean and deviation.
#[op_def(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    out = "Tensor_Tensor_out", body = CompositeExplicitAutograd
)]
pub fn normal_tensor_tensor(mean: &Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    let sizes = broadcast([mean.sizes(), std.sizes()]).map_err(|error| BadArgument::new("std", error.problem))?;
    let mut made = empty_memory_format(&sizes, Some(mean.dtype()), None, Some(mean.device()), None, None)?;
    spread(&mut made, std, generator)?;
    crate::add_(&mut made, mean, 1.into())?;
    Ok(made)
}

/// Fills a tensor around zero.
fn spread(made: &mut Tensor, std: &Tensor, generator: Option<&Generator>) -> Result<()> {
    if std.dtype().is_complex() {
        return Err(BadArgument::dtype("std", std.dtype(), DTypes::Real).into());
    }
    normal_(made, 0.0, 1.0, generator).map_err(|error| called(error, "std"))?;
    crate::mul_(made, std)
}

/// What went wrong in filling a tensor that is as this argument has it.
fn called(error: Error, argument: &'static str) -> Error {
    let bad = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BadArgument>());
    match bad {
        Some(bad) if bad.argument == "self" => BadArgument { argument: argument.into(), ..bad.clone() }.into(),
        _ => error,
    }
}

/// Numbers of the normal distribution.
#[op_def(
    "normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    body = CompositeExplicitAutograd
)]
pub fn normal_float_float(_: ...) -> Result<Tensor> {
    let mut made = empty_memory_format(size, dtype, layout, device, pin_memory, None)?;
    normal_(&mut made, mean, std, generator)?;
    Ok(made)
}

/// The same into a tensor.
#[op_def(
    "normal.float_float_out(float mean, float std, SymInt[] size, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)]
pub fn normal_float_float_out(_: ...) -> Result<()> {
    Spec::contiguous(out.dtype(), size).fit("out", out)?;
    normal_(out, mean, std, generator)
}
