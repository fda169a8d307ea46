//! CUDA kernels of matrix and vector products. [`gemm`](crate::engine::gemm) multiplies the strided operands.

use crate::engine::gemm::{MatrixView, Operand, ProductTask, multiply};
use crate::engine::number::is_cpu_scalar;
use crate::engine::transfer::contiguous_copy;
use crate::prelude::*;

const ONE: Scalar = Scalar::Int(1);

macro_rules! product_operators {
    ($($name:ident $other:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA, strided)]
        fn $name(_plan: &(), out: &mut Tensor, this: &Tensor, $other: &Tensor) -> Result<()> {
            product(aten::$name::operator(), out, this, $other)
        }
    )*};
}

product_operators! {
    mm mat2;
    bmm mat2;
    mv vec;
    dot tensor;
    vdot other;
}

macro_rules! multiply_add_operators {
    ($($name:ident $first:ident $second:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(
            _plan: &(),
            out: &mut Tensor,
            this: &Tensor,
            $first: &Tensor,
            $second: &Tensor,
            beta: Scalar,
            alpha: Scalar,
        ) -> Result<()> {
            multiply_add(aten::$name::operator(), out, this, $first, $second, beta, alpha)
        }
    )*};
}

multiply_add_operators! {
    addmm mat1 mat2;
    baddbmm batch1 batch2;
    addmv mat vec;
}

#[op_impl(aten::addbmm, CUDA)]
fn addbmm(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let operator = aten::addbmm::operator();
    let items = batch1.sizes()[0];
    if items == 0 {
        // A product over zero items only scales `this` by `beta`.
        let nothing = |rows: i64, columns: i64| Spec::contiguous(out.dtype(), &[rows, columns]).on(batch1.device());
        let (rows, columns) = (nothing(batch1.sizes()[1], 0)?, nothing(0, batch2.sizes()[2])?);
        return multiply_add(operator, out, this, &rows, &columns, beta, alpha);
    }
    multiply_add(operator, out, this, &batch_item(batch1, 0)?, &batch_item(batch2, 0)?, beta, alpha)?;
    for at in 1..items {
        let so_far = contiguous_copy(out, out.dtype())?;
        multiply_add(operator, out, &so_far, &batch_item(batch1, at)?, &batch_item(batch2, at)?, ONE, alpha)?;
    }
    Ok(())
}

/// Returns item `at` of a batch, as a view.
fn batch_item(batch: &Tensor, at: i64) -> Result<Tensor> {
    let geometry = batch.geometry();
    let offset = geometry.offset() + at * geometry.strides()[0];
    let item = Geometry::strided(&geometry.sizes()[1..], &geometry.strides()[1..], offset);
    Ok(batch.restride(item.unwrap_or_else(|| geometry.clone()))?)
}

#[op_impl(aten::addr, CUDA)]
fn addr(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    if out.dtype() == DType::Bool {
        // Booleans count as zeros and ones, and a sum that is not zero is true.
        let mut counted = Spec::contiguous(DType::U8, out.sizes()).on(out.device())?;
        let truth = |factor: Scalar| factor.cast(DType::Bool);
        outer_product(&mut counted, this, [vec1, vec2], truth(beta), truth(alpha))?;
        return copy_into(out, &counted);
    }
    outer_product(out, this, [vec1, vec2], beta, alpha)
}

fn outer_product(out: &mut Tensor, this: &Tensor, vectors: [&Tensor; 2], beta: Scalar, alpha: Scalar) -> Result<()> {
    let dtype = out.dtype();
    let wide = |tensor: &Tensor| if tensor.dtype() == dtype { Ok(tensor.clone()) } else { contiguous(tensor, dtype) };
    let column = aten::unsqueeze(&wide(vectors[0])?, 1)?;
    let row = aten::unsqueeze(&wide(vectors[1])?, 0)?;
    multiply_add(aten::addr::operator(), out, &wide(&on_device_of(this, vectors[0])?)?, &column, &row, beta, alpha)
}

/// Returns the left operand of a product. A vector is a row if the right operand is a vector, too.
fn left_operand<'a>(this: &'a Tensor, other: &Tensor) -> Operand<'a> {
    let operand = Operand::of(this);
    if this.sizes().len() == 1 && other.sizes().len() == 1 { operand.transposed() } else { operand }
}

fn product(operator: &Operator, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    check_dtype(operator, "self", out.dtype(), &NUMERIC_DTYPES)?;
    let (left, right) = (left_operand(this, other), Operand::of(other));
    multiply(&ProductTask { out: Operand::of(out), left, right, alpha: ONE, added: None })
}

/// Returns `this`, moved to the device of `other` if it is a CPU scalar.
fn on_device_of(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    if is_cpu_scalar(this) { to_device(this, other.device()) } else { Ok(this.clone()) }
}

/// Whether `beta` is not zero in a dtype, so that the operand which it scales is read.
fn is_nonzero(beta: Scalar, dtype: DType) -> bool {
    match beta {
        Scalar::Complex(beta) => beta.re != 0.0 || beta.im != 0.0,
        Scalar::Float(beta) if dtype.is_integral() => beta.trunc() != 0.0,
        beta => beta.to_f64() != Some(0.0),
    }
}

/// Computes `beta * this + alpha * first second`.
fn multiply_add(
    operator: &Operator,
    out: &mut Tensor,
    this: &Tensor,
    first: &Tensor,
    second: &Tensor,
    beta: Scalar,
    alpha: Scalar,
) -> Result<()> {
    check_dtype(operator, "self", out.dtype(), &NUMERIC_DTYPES)?;
    let this = on_device_of(this, first)?;
    let added = Operand { tensor: &this, view: MatrixView::broadcast(&this, out.sizes()) };
    multiply(&ProductTask {
        out: Operand::of(out),
        left: Operand::of(first),
        right: Operand::of(second),
        alpha,
        added: is_nonzero(beta, out.dtype()).then_some((added, beta)),
    })
}
