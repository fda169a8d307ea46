//! Operators on complex numbers: conjugate, real and imaginary part, angle, and construction.
//!
//! In memory, a complex number is its real part, then its imaginary part. So the parts are views of the complex tensor. The conjugate is a
//! lazy view (`math_bits.rs`).

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Geometry};

use crate::math_bits::{check_not_lazy, toggle_math_bit};
use crate::{add_scalar, atan2, broadcast_tensors, check_negation, cos, mul, select_int, sin, stack};

/// The complex conjugate as a lazy view, or the tensor itself if it is real.
#[op_def("conj(Tensor(a) self) -> Tensor(a)")]
pub fn conj(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() { _conj(this) } else { Ok(this.clone()) }
}

/// A lazy view of a complex tensor as its conjugate: the elements are computed when an operator reads them.
#[op_def("_conj(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn _conj(this: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Complex).into());
    }
    Ok(toggle_math_bit(this, keys::Conjugate))
}

/// A lazy view of a tensor as its negative: the elements are computed when an operator reads them.
#[op_def("_neg_view(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn _neg_view(this: &Tensor) -> Result<Tensor> {
    check_negation(this)?;
    Ok(toggle_math_bit(this, keys::Negative))
}

/// The complex conjugate, as a new tensor
#[op_def("conj_physical(Tensor self) -> Tensor", shape = pointwise, dtypes(all), inplace, out = "out")]
pub fn conj_physical(_: ...) -> Result<Tensor>;

/// The complex conjugate, as a new tensor
#[op_def("_conj_physical(Tensor self) -> Tensor", out = "out", calls = conj_physical)]
pub fn _conj_physical(_: ...) -> Result<Tensor>;

/// Whether the tensor is a lazy conjugate.
#[op_def("is_conj(Tensor self) -> bool")]
pub fn is_conj(this: &Tensor) -> Result<bool> {
    Ok(this.keys().has(keys::Conjugate))
}

/// Whether the tensor is a lazy negative.
#[op_def("is_neg(Tensor self) -> bool")]
pub fn is_neg(this: &Tensor) -> Result<bool> {
    Ok(this.keys().has(keys::Negative))
}

/// Returns the tensor itself, or a copy with its elements in memory if it is a lazy conjugate.
#[op_def("resolve_conj(Tensor(a) self) -> Tensor(a)")]
pub fn resolve_conj(this: &Tensor) -> Result<Tensor> {
    if is_conj(this)? { crate::clone(this, None) } else { Ok(this.clone()) }
}

/// Returns the tensor itself, or a copy with its elements in memory if it is a lazy negative.
#[op_def("resolve_neg(Tensor(a) self) -> Tensor(a)")]
pub fn resolve_neg(this: &Tensor) -> Result<Tensor> {
    if is_neg(this)? { crate::clone(this, None) } else { Ok(this.clone()) }
}

/// Whether the imaginary part of each element is zero.
#[op_def("isreal(Tensor self) -> Tensor")]
pub fn isreal(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() {
        return crate::eq_scalar(&imag(this)?, Scalar::Int(0));
    }
    crate::ones_like(this, Some(DType::Bool), None, None, None, None)
}

/// The real part of a complex tensor, as a view, or the tensor itself if it is real.
#[op_def("real(Tensor(a) self) -> Tensor(a)")]
pub fn real(this: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return Ok(this.clone());
    }
    if is_conj(this)? { real(&_conj(this)?) } else { select_int(&view_as_real(this)?, -1, 0) }
}

/// The imaginary part of a complex tensor, as a view. That of a lazy conjugate is a lazy negative.
#[op_def("imag(Tensor(a) self) -> Tensor(a)")]
pub fn imag(this: &Tensor) -> Result<Tensor> {
    if is_conj(this)? { _neg_view(&imag(&_conj(this)?)?) } else { select_int(&view_as_real(this)?, -1, 1) }
}

/// A view of a complex tensor as a real tensor with one more dimension, of size 2, at the end.
#[op_def("view_as_real(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view_as_real(this: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Complex).into());
    }
    check_not_lazy(this, keys::Conjugate)?;
    let geometry = this.geometry();
    let mut sizes = Dims::from_slice(geometry.sizes());
    let mut strides: Dims = geometry.strides().iter().map(|stride| stride.saturating_mul(2)).collect();
    sizes.push(2);
    strides.push(1);
    view_with_dtype_and_geometry(this, this.dtype().to_real(), &sizes, &strides, geometry.offset().saturating_mul(2))
}

/// A view of a real tensor as a complex tensor. The last dimension, of size 2, has the real and the imaginary part.
#[op_def("view_as_complex(Tensor(a) self) -> Tensor(a)", body = CompositeExplicitAutograd)]
pub fn view_as_complex(this: &Tensor) -> Result<Tensor> {
    let complex_dtype = match this.dtype() {
        DType::F32 => DType::C64,
        DType::F64 => DType::C128,
        other => return Err(BadArgument::dtype("self", other, &[DType::F32, DType::F64]).into()),
    };
    let geometry = this.geometry();
    let (Some((&2, sizes)), Some((&1, strides))) = (geometry.sizes().split_last(), geometry.strides().split_last())
    else {
        let expected = "size 2 and stride 1 in the last dimension";
        return Err(BadArgument::sizes("self", geometry.sizes(), expected).into());
    };
    if strides.iter().copied().chain([geometry.offset()]).any(|stride_or_offset| stride_or_offset % 2 != 0) {
        let expected = "an even offset, and even strides in all dimensions but the last";
        return Err(BadArgument::value("self", format!("{strides:?} from {}", geometry.offset()), expected).into());
    }
    let strides: Dims = strides.iter().map(|stride| stride / 2).collect();
    view_with_dtype_and_geometry(this, complex_dtype, sizes, &strides, geometry.offset() / 2)
}

/// The angle of each element in the complex plane, in radians: 0 or pi for real numbers
#[op_def("angle(Tensor self) -> Tensor", out = "out")]
pub fn angle(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_complex() {
        return atan2(&imag(this)?, &real(this)?);
    }
    // Adding 0 converts negative zero to zero, so that its angle is 0.
    atan2(&Tensor::number(0.into()), &add_scalar(this, 0.into(), 1.into())?)
}

/// Complex numbers with these real and imaginary parts
#[op_def("complex(Tensor real, Tensor imag) -> Tensor", out = "out", check = crate::check_broadcast([("real", real), ("imag", imag)]))]
pub fn complex(real: &Tensor, imag: &Tensor) -> Result<Tensor> {
    check_real_and_imag_dtypes(("real", real), ("imag", imag))?;
    view_as_complex(&stack(&broadcast_tensors(&[real.clone(), imag.clone()])?, -1)?)
}

/// Complex numbers with these magnitudes and angles
#[op_def("polar(Tensor abs, Tensor angle) -> Tensor", out = "out", check = crate::check_broadcast([("abs", abs), ("angle", angle)]))]
pub fn polar(abs: &Tensor, angle: &Tensor) -> Result<Tensor> {
    check_real_and_imag_dtypes(("abs", abs), ("angle", angle))?;
    complex(&mul(abs, &cos(angle)?)?, &mul(abs, &sin(angle)?)?)
}

/// Checks that both parts are `f32`, or both `f64`.
fn check_real_and_imag_dtypes(one: (&'static str, &Tensor), other: (&'static str, &Tensor)) -> Result<(), BadArgument> {
    let dtype = one.1.dtype();
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(BadArgument::dtype(one.0, dtype, &[DType::F32, DType::F64]));
    }
    if other.1.dtype() != dtype {
        return Err(BadArgument::dtype(other.0, other.1.dtype(), dtype).like(one.0));
    }
    Ok(())
}

/// Returns a view of the storage of `this` with another dtype and geometry.
fn view_with_dtype_and_geometry(
    this: &Tensor,
    dtype: DType,
    sizes: &[i64],
    strides: &[i64],
    offset: i64,
) -> Result<Tensor> {
    let geometry = Geometry::strided(sizes, strides, offset)
        .ok_or_else(|| BadArgument::sizes("self", sizes, "sizes and strides that are small enough"))?;
    let view = Tensor::new(this.storage().clone(), dtype, geometry)?.with_keys(this.keys());
    let bits = this.math_bits();
    Ok(if bits.is_empty() { view } else { view.with_math_bits(bits) })
}
