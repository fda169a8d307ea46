//! Sums, means, products and counts.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Operation, Result, Spec, Tensor, op_impl, reduced_dims};

use crate::launch::Launch;
use crate::reduce::{Fold, fold, folded, kept_sizes};

fold!(unsafe {
    // SAFETY: the expressions compute values from what they know.
    SUM "sum" [F32 F64 I64] ordered false, "C": "0", "total + x", "a + b" => "total / given[0]", "0";
    SUM_OF_NUMBERS "nansum" [F32 F64] ordered false, "C": "0", "is_nan(x) ? total : total + x", "a + b" => "total", "0";
    PRODUCT "prod" [F32 F64 I64] ordered false, "C": "1", "total * x", "a * b" => "total", "0";
    COUNT "count_nonzero" [F32 F64 I64] ordered false, "i64": "0", "total + (x != C(0))", "a + b" => "total", "0";
});

/// The dimensions that go; all where none is listed.
fn gone(this: &Tensor, dim: Option<&[i64]>) -> Result<Vec<bool>> {
    Ok(reduced_dims(this.sizes().len(), dim.unwrap_or(&[]), "dim")?)
}

fn one<O: Operation>(
    fold: &'static Fold,
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: DType,
    given: f64,
) -> Result<Tensor> {
    let gone = gone(this, dim)?;
    let spec = Spec::contiguous(dtype, &kept_sizes(this.sizes(), &gone, keepdim));
    let out = spec.on(this.device())?;
    folded::<O>(fold, this, &gone, dtype, [given, 0.0], &[&out])?;
    Ok(out)
}

/// Sums all elements into a single one, divided by a number.
pub(crate) fn sum_into(out: &Tensor, this: &Tensor, count: f64) -> Result<()> {
    let _writing = Launch::on(out)?.writing(out)?;
    folded::<aten::sum>(&SUM, this, &vec![true; this.sizes().len()], this.dtype(), [count, 0.0], &[out])
}

#[op_impl(aten::sum, CUDA)]
fn sum(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    sum_dim(this, None, false, dtype)
}

#[op_impl(aten::sum_dim_intlist, CUDA)]
fn sum_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    one::<aten::sum>(&SUM, this, dim, keepdim, aten::sum_dtype(this, dtype), 1.0)
}

#[op_impl(aten::nansum, CUDA)]
fn nansum(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = aten::sum_dtype(this, dtype);
    if dtype.is_integral() {
        return one::<aten::nansum>(&SUM, this, dim, keepdim, dtype, 1.0);
    }
    one::<aten::nansum>(&SUM_OF_NUMBERS, this, dim, keepdim, dtype, 1.0)
}

#[op_impl(aten::mean, CUDA)]
fn mean(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    mean_dim(this, None, false, dtype)
}

#[op_impl(aten::mean_dim, CUDA)]
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn mean_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let dtype = aten::mean_spec(this, dim, keepdim, dtype)?.dtype;
    let gone = gone(this, dim)?;
    let count = this.sizes().iter().zip(&gone).filter(|(_, gone)| **gone).map(|(&size, _)| size as f64).product();
    one::<aten::sum>(&SUM, this, dim, keepdim, dtype, count)
}

#[op_impl(aten::prod, CUDA)]
fn prod(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    one::<aten::prod>(&PRODUCT, this, None, false, aten::sum_dtype(this, dtype), 1.0)
}

#[op_impl(aten::prod_dim_int, CUDA)]
fn prod_dim(this: &Tensor, dim: i64, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    one::<aten::prod>(&PRODUCT, this, Some(&[dim]), keepdim, aten::sum_dtype(this, dtype), 1.0)
}

fn counted<O: Operation>(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
    let gone = gone(this, Some(dim))?;
    let spec = Spec::contiguous(DType::I64, &kept_sizes(this.sizes(), &gone, false));
    let out = spec.on(this.device())?;
    folded::<O>(&COUNT, this, &gone, this.dtype(), [0.0; 2], &[&out])?;
    Ok(out)
}

#[op_impl(aten::count_nonzero, CUDA)]
fn count_nonzero(this: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    counted::<aten::count_nonzero>(this, dim.as_slice())
}

#[op_impl(aten::count_nonzero_dim_intlist, CUDA)]
fn count_nonzero_dims(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
    counted::<aten::count_nonzero_dim_intlist>(this, dim)
}
