//! Complex numbers and their parts.
//!
//! A complex number lies in memory as its real and its imaginary part, so both are views.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Geometry};

use crate::{add_scalar, atan2, broadcast_tensors, cos, mul, select_int, sin, stack};

/// The complex conjugate; a real tensor is its own.
#[op_def("conj(Tensor(a) self) -> Tensor(a)")]
pub fn conj(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() { conj_physical(this) } else { Ok(this.clone()) }
}

/// The complex conjugate, in memory of its own
#[op_def("conj_physical(Tensor self) -> Tensor", shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn conj_physical(_: ...) -> Result<Tensor>;

/// The numbers themselves, of which none waits to be conjugated.
#[op_def("resolve_conj(Tensor(a) self) -> Tensor(a)")]
pub fn resolve_conj(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// The numbers themselves, of which none waits to be negated.
#[op_def("resolve_neg(Tensor(a) self) -> Tensor(a)")]
pub fn resolve_neg(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

/// Where a number has no imaginary part.
#[op_def("isreal(Tensor self) -> Tensor")]
pub fn isreal(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() {
        return crate::eq_scalar(&imag(this)?, Scalar::Int(0));
    }
    crate::ones_like(this, Some(DType::Bool), None, None, None, None)
}

/// The real part; a real tensor is its own.
#[op_def("real(Tensor(a) self) -> Tensor(a)")]
pub fn real(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() { select_int(&view_as_real(this)?, -1, 0) } else { Ok(this.clone()) }
}

/// The imaginary part of a complex tensor.
#[op_def("imag(Tensor(a) self) -> Tensor(a)")]
pub fn imag(this: &Tensor) -> Result<Tensor> {
    select_int(&view_as_real(this)?, -1, 1)
}

/// Complex numbers as pairs of real ones: a last dimension more, of two elements.
#[op_def("view_as_real(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view_as_real(this: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Complex).into());
    }
    let geometry = this.geometry();
    let mut sizes = Dims::from_slice(geometry.sizes());
    let mut strides: Dims = geometry.strides().iter().map(|stride| stride.saturating_mul(2)).collect();
    sizes.push(2);
    strides.push(1);
    shown_as(this, this.dtype().to_real(), &sizes, &strides, geometry.offset().saturating_mul(2))
}

/// Pairs of real numbers, in the last dimension, as complex ones.
#[op_def("view_as_complex(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view_as_complex(this: &Tensor) -> Result<Tensor> {
    let whole = match this.dtype() {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        other => return Err(BadArgument::dtype("self", other, &[DType::F32, DType::F64]).into()),
    };
    let geometry = this.geometry();
    let (Some((&2, sizes)), Some((&1, strides))) = (geometry.sizes().split_last(), geometry.strides().split_last())
    else {
        let expected = "2 in the last dimension, whose elements lie side by side";
        return Err(BadArgument::sizes("self", geometry.sizes(), expected).into());
    };
    if strides.iter().copied().chain([geometry.offset()]).any(|place| place % 2 != 0) {
        let expected = "an even offset, and even strides in all dimensions but the last";
        return Err(BadArgument::value("self", format!("{strides:?} from {}", geometry.offset()), expected).into());
    }
    let strides: Dims = strides.iter().map(|stride| stride / 2).collect();
    shown_as(this, whole, sizes, &strides, geometry.offset() / 2)
}

/// The angle of a number in the complex plane: for real ones, 0 or half a turn
#[op_def("angle(Tensor self) -> Tensor", out = "out")]
pub fn angle(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() {
        return atan2(&imag(this)?, &real(this)?);
    }
    // A sum with zero is no negative zero.
    atan2(&Tensor::number(0.into()), &add_scalar(this, 0.into(), 1.into())?)
}

/// Complex numbers of these parts
#[op_def("complex(Tensor real, Tensor imag) -> Tensor", out = "out", check = crate::check_broadcast([("real", real), ("imag", imag)]))]
pub fn complex(real: &Tensor, imag: &Tensor) -> Result<Tensor> {
    check_parts(("real", real), ("imag", imag))?;
    view_as_complex(&stack(&broadcast_tensors(&[real.clone(), imag.clone()])?, -1)?)
}

/// Complex numbers of these magnitudes and angles
#[op_def("polar(Tensor abs, Tensor angle) -> Tensor", out = "out", check = crate::check_broadcast([("abs", abs), ("angle", angle)]))]
pub fn polar(abs: &Tensor, angle: &Tensor) -> Result<Tensor> {
    check_parts(("abs", abs), ("angle", angle))?;
    complex(&mul(abs, &cos(angle)?)?, &mul(abs, &sin(angle)?)?)
}

/// Complex numbers are made of two real ones of the same type.
fn check_parts(one: (&'static str, &Tensor), other: (&'static str, &Tensor)) -> Result<(), BadArgument> {
    let dtype = one.1.dtype();
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(BadArgument::dtype(one.0, dtype, &[DType::F32, DType::F64]));
    }
    if other.1.dtype() != dtype {
        return Err(BadArgument::dtype(other.0, other.1.dtype(), dtype).like(one.0));
    }
    Ok(())
}

/// The same bytes as elements of another type.
fn shown_as(this: &Tensor, dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    let geometry = Geometry::strided(sizes, strides, offset)
        .ok_or_else(|| BadArgument::sizes("self", sizes, "sizes and strides that are small enough"))?;
    Ok(Tensor::new(this.storage().clone(), dtype, geometry)?.with_keys(this.keys()))
}
