//! The largest and the smallest, where they are, and what is true.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, op_impl, reduced_dims};

use crate::reduce::{Fold, fold, folded};

fold!(unsafe {
    // SAFETY: the expressions compute values from what they know.
    LARGEST "amax" [F32 F64 I64] ordered false, "C": "Bounds<C>::least()", "larger(x, total)", "larger(a, b)" => "total", "0";
    SMALLEST "amin" [F32 F64 I64] ordered false, "C": "Bounds<C>::most()", "smaller(x, total)", "smaller(a, b)" => "total", "0";
    RANGE "aminmax" [F32 F64 I64] ordered false, "Range<C>":
    "Range<C>{Bounds<C>::most(), Bounds<C>::least()}", "Range<C>{smaller(x, total.least), larger(x, total.most)}",
    "Range<C>{smaller(a.least, b.least), larger(a.most, b.most)}" => "total.least", "total.most";
    FIRST_LARGEST "max_dim" [F32 F64 I64] ordered true, "Placed<C>":
    "Placed<C>{Bounds<C>::least(), Bounds<i64>::most()}", "highest(total, Placed<C>{x, at})", "highest(a, b)" => "total.value", "total.at";
    FIRST_SMALLEST "min_dim" [F32 F64 I64] ordered true, "Placed<C>":
    "Placed<C>{Bounds<C>::most(), Bounds<i64>::most()}", "lowest(total, Placed<C>{x, at})", "lowest(a, b)" => "total.value", "total.at";
    ANY "any" [F32 F64 I64] ordered false, "i32": "0", "total | (x != C(0))", "a | b" => "total", "0";
    ALL "all" [F32 F64 I64] ordered false, "i32": "1", "total & (x != C(0))", "a & b" => "total", "0";
});

fn extreme<O: Operation>(fold: &'static Fold, this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    let spec = aten::extreme_spec(this, dim, keepdim)?;
    let gone = reduced_dims(this.sizes().len(), dim, "dim")?;
    let out = spec.on(this.device())?;
    folded::<O>(fold, this, &gone, this.dtype(), [0.0; 2], &[&out])?;
    Ok(out)
}

/// Two results: of this dtype the second.
fn both<O: Operation>(
    fold: &'static Fold,
    this: &Tensor,
    dim: &[i64],
    keepdim: bool,
    dtype: DType,
) -> Result<(Tensor, Tensor)> {
    let spec = aten::extreme_spec(this, dim, keepdim)?;
    let gone = reduced_dims(this.sizes().len(), dim, "dim")?;
    let second = Spec { dtype, ..spec.clone() }.on(this.device())?;
    let first = spec.on(this.device())?;
    folded::<O>(fold, this, &gone, this.dtype(), [0.0; 2], &[&first, &second])?;
    Ok((first, second))
}

#[op_impl(aten::amax, CUDA)]
fn amax(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme::<aten::amax>(&LARGEST, this, dim, keepdim)
}

#[op_impl(aten::amin, CUDA)]
fn amin(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme::<aten::amin>(&SMALLEST, this, dim, keepdim)
}

#[op_impl(aten::aminmax, CUDA)]
fn aminmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    both::<aten::aminmax>(&RANGE, this, dim.as_slice(), keepdim, this.dtype())
}

#[op_impl(aten::max, CUDA)]
fn max(this: &Tensor) -> Result<Tensor> {
    extreme::<aten::max>(&LARGEST, this, &[], false)
}

#[op_impl(aten::min, CUDA)]
fn min(this: &Tensor) -> Result<Tensor> {
    extreme::<aten::min>(&SMALLEST, this, &[], false)
}

#[op_impl(aten::max_dim, CUDA)]
fn max_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    both::<aten::max_dim>(&FIRST_LARGEST, this, &[dim], keepdim, DType::I64)
}

#[op_impl(aten::min_dim, CUDA)]
fn min_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    both::<aten::min_dim>(&FIRST_SMALLEST, this, &[dim], keepdim, DType::I64)
}

#[op_impl(aten::argmax, CUDA)]
fn argmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    Ok(both::<aten::argmax>(&FIRST_LARGEST, this, dim.as_slice(), keepdim, DType::I64)?.1)
}

#[op_impl(aten::argmin, CUDA)]
fn argmin(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    Ok(both::<aten::argmin>(&FIRST_SMALLEST, this, dim.as_slice(), keepdim, DType::I64)?.1)
}

fn truth<O: Operation>(fold: &'static Fold, this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    let (gone, spec) = aten::truth_spec(this, dim, keepdim)?;
    let out = spec.on(this.device())?;
    folded::<O>(fold, this, &gone, this.dtype(), [0.0; 2], &[&out])?;
    Ok(out)
}

#[op_impl(aten::any, CUDA)]
fn any(this: &Tensor) -> Result<Tensor> {
    truth::<aten::any>(&ANY, this, None, false)
}

#[op_impl(aten::any_dim, CUDA)]
fn any_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
    truth::<aten::any_dim>(&ANY, this, Some(&[dim]), keepdim)
}

#[op_impl(aten::any_dims, CUDA)]
fn any_dims(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    truth::<aten::any_dims>(&ANY, this, dim, keepdim)
}

#[op_impl(aten::all, CUDA)]
fn all(this: &Tensor) -> Result<Tensor> {
    truth::<aten::all>(&ALL, this, None, false)
}

#[op_impl(aten::all_dim, CUDA)]
fn all_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
    truth::<aten::all_dim>(&ALL, this, Some(&[dim]), keepdim)
}

#[op_impl(aten::all_dims, CUDA)]
fn all_dims(this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
    truth::<aten::all_dims>(&ALL, this, dim, keepdim)
}
