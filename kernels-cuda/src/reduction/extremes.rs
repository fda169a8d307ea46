//! The largest and the smallest, where they are, and what is true.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::Reduced;

use crate::prelude::*;
use crate::reduce::{fold, folded};

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

#[op_impl(aten::amax, CUDA)]
fn amax(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::amax>(&LARGEST, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::amin, CUDA)]
fn amin(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::amin>(&SMALLEST, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::aminmax, CUDA)]
fn aminmax(plan: &Reduced, [first, second]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    folded::<aten::aminmax>(&RANGE, this, &plan.gone, this.dtype(), [0.0; 2], &[first, second])
}

#[op_impl(aten::max, CUDA)]
fn max(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::max>(&LARGEST, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::min, CUDA)]
fn min(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::min>(&SMALLEST, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::max_dim, CUDA)]
fn max_dim(plan: &Reduced, [first, second]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    folded::<aten::max_dim>(&FIRST_LARGEST, this, &plan.gone, this.dtype(), [0.0; 2], &[first, second])
}

#[op_impl(aten::min_dim, CUDA)]
fn min_dim(plan: &Reduced, [first, second]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
    folded::<aten::min_dim>(&FIRST_SMALLEST, this, &plan.gone, this.dtype(), [0.0; 2], &[first, second])
}

#[op_impl(aten::argmax, CUDA)]
fn argmax(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let values = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    folded::<aten::argmax>(&FIRST_LARGEST, this, &plan.gone, this.dtype(), [0.0; 2], &[&values, out])
}

#[op_impl(aten::argmin, CUDA)]
fn argmin(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let values = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
    folded::<aten::argmin>(&FIRST_SMALLEST, this, &plan.gone, this.dtype(), [0.0; 2], &[&values, out])
}

#[op_impl(aten::any, CUDA)]
fn any(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::any>(&ANY, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::any_dim, CUDA)]
fn any_dim(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::any_dim>(&ANY, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::any_dims, CUDA)]
fn any_dims(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::any_dims>(&ANY, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::all, CUDA)]
fn all(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::all>(&ALL, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::all_dim, CUDA)]
fn all_dim(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::all_dim>(&ALL, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}

#[op_impl(aten::all_dims, CUDA)]
fn all_dims(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
    folded::<aten::all_dims>(&ALL, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
}
