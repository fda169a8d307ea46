//! CUDA kernels of matrix and vector products. [`gemm`](crate::engine::gemm) multiplies the strided operands.

use crate::engine::gemm::{MatrixOperand, MatrixView, ProductTask, multiply};
use crate::engine::scalars::is_cpu_scalar;
use crate::engine::transfer::contiguous_copy;
use crate::prelude::*;

const SCALAR_ONE: Scalar = Scalar::Int(1);

macro_rules! define_products {
    ($($name:ident $other:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA, strided)]
        fn $name(_plan: &(), out: &mut Tensor, this: &Tensor, $other: &Tensor) -> Result<()> {
            write_product(aten::$name::operator(), out, this, $other)
        }
    )*};
}

define_products! {
    mm mat2;
    bmm mat2;
    mv vec;
    dot tensor;
    vdot other;
}

macro_rules! define_multiply_adds {
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

define_multiply_adds! {
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
        multiply_add(operator, out, &so_far, &batch_item(batch1, at)?, &batch_item(batch2, at)?, SCALAR_ONE, alpha)?;
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
        add_outer_product(&mut counted, this, [vec1, vec2], truth(beta), truth(alpha))?;
        return copy_into(out, &counted);
    }
    add_outer_product(out, this, [vec1, vec2], beta, alpha)
}

fn add_outer_product(
    out: &mut Tensor,
    this: &Tensor,
    vectors: [&Tensor; 2],
    beta: Scalar,
    alpha: Scalar,
) -> Result<()> {
    let dtype = out.dtype();
    let wide = |tensor: &Tensor| if tensor.dtype() == dtype { Ok(tensor.clone()) } else { contiguous(tensor, dtype) };
    let column = aten::unsqueeze(&wide(vectors[0])?, 1)?;
    let row = aten::unsqueeze(&wide(vectors[1])?, 0)?;
    multiply_add(
        aten::addr::operator(),
        out,
        &wide(&move_cpu_scalar_to_device_of(this, vectors[0])?)?,
        &column,
        &row,
        beta,
        alpha,
    )
}

/// Returns the left operand of a product. A vector is a row if the right operand is a vector, too.
fn left_operand<'a>(this: &'a Tensor, other: &Tensor) -> MatrixOperand<'a> {
    let operand = MatrixOperand::from_tensor(this);
    if this.sizes().len() == 1 && other.sizes().len() == 1 { operand.transposed() } else { operand }
}

fn write_product(operator: &Operator, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    check_dtype(operator, "self", out.dtype(), &NUMERIC_DTYPES)?;
    let (left, right) = (left_operand(this, other), MatrixOperand::from_tensor(other));
    multiply(&ProductTask { out: MatrixOperand::from_tensor(out), left, right, alpha: SCALAR_ONE, added: None })
}

/// Returns `this`, moved to the device of `other` if it is a CPU scalar.
fn move_cpu_scalar_to_device_of(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    if is_cpu_scalar(this) { to_device(this, other.device()) } else { Ok(this.clone()) }
}

/// Whether `beta` is not zero in a dtype, so that the operand which it scales is read.
fn is_nonzero_factor(beta: Scalar, dtype: DType) -> bool {
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
    let this = move_cpu_scalar_to_device_of(this, first)?;
    let added = MatrixOperand { tensor: &this, view: MatrixView::from_broadcast_tensor(&this, out.sizes()) };
    multiply(&ProductTask {
        out: MatrixOperand::from_tensor(out),
        left: MatrixOperand::from_tensor(first),
        right: MatrixOperand::from_tensor(second),
        alpha,
        added: is_nonzero_factor(beta, out.dtype()).then_some((added, beta)),
    })
}
