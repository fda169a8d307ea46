//! Kernels of matrix and vector products, on views that [`gemm`](engine::gemm) multiplies in place.
#![expect(unsafe_code, reason = "views of entries without bounds checks")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    Complex32, Complex64, DType, ErrorKind, Operand, Operands, Operator, Spec, bf16, broadcast_strides, f16,
};

use engine::compute::ComputeType;
use engine::contiguous::{broadcast_to_vec, contiguous_elements, with_compute_type, write_contiguous};
use engine::data_movement::{copy_elements, strided_view};
use engine::gemm::{Batch, BatchMut, Entry, Matrix, MatrixMut, batched_gemm, gemm, gemm_with_summand};

const SCALAR_ONE: Scalar = Scalar::Int(1);
const SCALAR_ZERO: Scalar = Scalar::Int(0);

macro_rules! define_products {
    ($($name:ident: this as $first_vector:ident, $second:ident;)*) => {$(
        #[op_impl(aten::$name, CPU, strided)]
        fn $name(_plan: &(), out: &mut Tensor, this: &Tensor, $second: &Tensor) -> Result<()> {
            let operands = [("self", this), (stringify!($second), $second)];
            write_product(aten::$name::operator(), out, VectorOrientation::$first_vector, operands, SCALAR_ONE, SCALAR_ZERO)
        }
    )*};
}

define_products! {
    mm: this as Column, mat2;
    bmm: this as Column, mat2;
    mv: this as Column, vec;
    dot: this as Row, tensor;
}

#[op_impl(aten::vdot, CPU, strided)]
fn vdot(_plan: &(), out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
    let conjugate = if this.dtype().is_complex() { aten::conj_physical(this)? } else { this.clone() };
    write_product(
        aten::vdot::operator(),
        out,
        VectorOrientation::Row,
        [("self", &conjugate), ("other", other)],
        SCALAR_ONE,
        SCALAR_ZERO,
    )
}

macro_rules! define_products_with_summand {
    ($($name:ident: $first:ident $second:ident;)*) => {$(
        #[op_impl(aten::$name, CPU)]
        fn $name(
            _plan: &(),
            out: &mut Tensor,
            this: &Tensor,
            $first: &Tensor,
            $second: &Tensor,
            beta: Scalar,
            alpha: Scalar,
        ) -> Result<()> {
            let operands = [(stringify!($first), $first), (stringify!($second), $second)];
            write_product_with_summand(aten::$name::operator(), out, this, operands, alpha, beta)
        }
    )*};
}

define_products_with_summand! {
    addmm: mat1 mat2;
    baddbmm: batch1 batch2;
    addmv: mat vec;
}

#[op_impl(aten::addbmm, CPU)]
fn addbmm(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let operator = aten::addbmm::operator();
    let mut beta = copy_summand(out, this, beta)?;
    if batch1.geometry().count() == 0 || batch2.geometry().count() == 0 {
        // If there are no elements to multiply, the input is scaled once.
        let (rows, columns) = (matrix_with_empty_inner_dim(batch1, 0, 1)?, matrix_with_empty_inner_dim(batch2, 2, 1)?);
        return write_product(
            operator,
            out,
            VectorOrientation::Column,
            [("batch1", &rows), ("batch2", &columns)],
            alpha,
            beta,
        );
    }
    for item in 0..batch1.sizes()[0] {
        let (first, second) = (batch_matrix(batch1, item)?, batch_matrix(batch2, item)?);
        write_product(
            operator,
            out,
            VectorOrientation::Column,
            [("batch1", &first), ("batch2", &second)],
            alpha,
            beta,
        )?;
        beta = SCALAR_ONE;
    }
    Ok(())
}

/// Returns a view of one matrix of a batch.
fn batch_matrix(batch: &Tensor, item: i64) -> Result<Tensor> {
    let geometry = batch.geometry();
    let at = geometry.offset() + item * geometry.strides()[0];
    strided_view(batch, &geometry.sizes()[1..], &geometry.strides()[1..], at)
}

/// Returns a matrix with an empty inner dimension: the rows of the first operand, or the columns of the second.
fn matrix_with_empty_inner_dim(batch: &Tensor, inner: usize, kept: usize) -> Result<Tensor> {
    let sizes = if inner == 0 { [batch.sizes()[kept], 0] } else { [0, batch.sizes()[inner]] };
    Spec::contiguous(batch.dtype(), &sizes).on(batch.device())
}

#[op_impl(aten::addr, CPU)]
fn addr(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    if out.dtype() == DType::Bool {
        let truth = |factor: Scalar| factor.cast(DType::Bool);
        return write_outer_product::<i64>(out, this, [vec1, vec2], truth(beta), truth(alpha));
    }
    with_compute_type!(addr "self", out.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        write_outer_product::<T>(out, this, [vec1, vec2], beta, alpha)
    })
}

fn write_outer_product<T: ComputeType>(
    out: &mut Tensor,
    this: &Tensor,
    vectors: [&Tensor; 2],
    beta: Scalar,
    alpha: Scalar,
) -> Result<()> {
    let (down, across) = (contiguous_elements::<T>(vectors[0])?, contiguous_elements::<T>(vectors[1])?);
    let (beta, alpha) = (T::from_scalar(beta), T::from_scalar(alpha));
    let own = if beta == T::ZERO { Vec::new() } else { broadcast_to_vec::<T>(this, out.sizes())? };
    write_contiguous(out, |out: &mut [T]| {
        if across.is_empty() {
            return Ok(());
        }
        for (row, (line, &left)) in out.chunks_exact_mut(across.len()).zip(&*down).enumerate() {
            let own = own.get(row * across.len()..).unwrap_or(&[]);
            for (column, (out, &right)) in line.iter_mut().zip(&*across).enumerate() {
                let product = alpha.times(left).times(right);
                *out = own.get(column).map_or(product, |&own| beta.times(own).plus(product));
            }
        }
        Ok(())
    })
}

/// Computes `out = alpha * first second + beta * this`. A summand that counts for nothing is not read.
fn write_product_with_summand(
    operator: &Operator,
    out: &mut Tensor,
    this: &Tensor,
    factors: [(&'static str, &Tensor); 2],
    alpha: Scalar,
    beta: Scalar,
) -> Result<()> {
    let dtype = out.dtype();
    let is_block_by_block = matches!(dtype, DType::F32 | DType::F64)
        && out.geometry().rank() == 2
        && out.geometry().count() > 0
        && [this, factors[0].1, factors[1].1].iter().all(|operand| operand.dtype() == dtype);
    if !is_block_by_block || is_zero_factor(beta, dtype) {
        let beta = copy_summand(out, this, beta)?;
        return write_product(operator, out, VectorOrientation::Column, factors, alpha, beta);
    }
    let [first, second] = factors;
    let operands = Operands::borrow(&["out"], [out], &["self", first.0, second.0], [this, first.1, second.1])?;
    // SAFETY: all operands have this dtype, and plans ensure that none that is read is the written one.
    unsafe {
        match dtype {
            DType::F64 => multiply_and_add::<f64>(&operands, f64::scale_factor(alpha), f64::scale_factor(beta)),
            _ => multiply_and_add::<f32>(&operands, f32::scale_factor(alpha), f32::scale_factor(beta)),
        }
    }
    Ok(())
}

/// Copies the summand of a product to `out`, unless `beta` is zero, and returns the factor of `out`.
fn copy_summand(out: &mut Tensor, this: &Tensor, beta: Scalar) -> Result<Scalar> {
    if is_zero_factor(beta, out.dtype()) {
        return Ok(SCALAR_ZERO);
    }
    copy_elements(out, this)?;
    Ok(beta)
}

/// Returns whether a factor is zero in the computation of a product of this dtype.
fn is_zero_factor(factor: Scalar, dtype: DType) -> bool {
    match factor {
        Scalar::Complex(factor) => factor == Complex64::new(0.0, 0.0),
        factor if dtype.is_integral() => i64::from_scalar(factor) == 0,
        factor => factor.to_f64() == Some(0.0),
    }
}

/// The interpretation of a vector operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VectorOrientation {
    /// A vector is multiplied as a matrix of one column. Matrices and batches stay as they are.
    Column,
    /// A vector is multiplied as a matrix of one row.
    Row,
}

/// Computes `out = alpha * first second + beta * out`. The operands have the dtype of `out`, and neither is `out`; plans ensure both.
#[inline]
fn write_product(
    operator: &Operator,
    out: &mut Tensor,
    first_vector: VectorOrientation,
    [first, second]: [(&'static str, &Tensor); 2],
    alpha: Scalar,
    beta: Scalar,
) -> Result<()> {
    let dtype = out.dtype();
    let operands = Operands::borrow(&["out"], [out], &[first.0, second.0], [first.1, second.1])?;
    let is_read =
        |operand: &Operand<'_>| operand.dtype() == dtype && !operand.is_same_elements_as(&operands.written()[0]);
    assert!(
        operands.read().iter().all(is_read),
        "the operands of a product have the dtype of the result, and none of them is the result"
    );
    macro_rules! multiply_by_dtype {
        ($($variant:ident $ty:ty),+) => {
            match dtype {
                $(DType::$variant => {
                    // SAFETY: all operands have this dtype, and no operand that is read is the written one.
                    unsafe { multiply_operands::<$ty>(&operands, first_vector, <$ty>::scale_factor(alpha), <$ty>::scale_factor(beta)) };
                    Ok(())
                })+
                _ => Err(ErrorKind::UnsupportedDType {
                    operator: operator.name(),
                    argument: "self",
                    dtype,
                    supported: &[$(DType::$variant),+],
                }
                .into()),
            }
        };
    }
    multiply_by_dtype!(
        F32 f32, F64 f64, F16 f16, BF16 bf16, C64 Complex32, C128 Complex64,
        U8 u8, I8 i8, I16 i16, I32 i32, I64 i64
    )
}

/// Conversion of a scalar to a scale factor of a product.
trait ScaleFactor: Entry {
    fn scale_factor(value: Scalar) -> Self::Sum;
}

macro_rules! impl_scale_factor {
    ($($ty:ty: $way:ty),*) => {$(
        impl ScaleFactor for $ty {
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "some of the conversions are lossless")]
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, trivial_numeric_casts, reason = "integers wrap")]
            fn scale_factor(value: Scalar) -> Self::Sum {
                <$way>::from_scalar(value) as Self::Sum
            }
        }
    )*};
}

impl_scale_factor! { f32: f32, f64: f64, f16: f32, bf16: f32, Complex32: Complex32, Complex64: Complex64, u8: i64, i8: i64, i16: i64, i32: i64, i64: i64 }

/// # Safety
///
/// All operands have dtype `T`, and neither of those that are read is the written one.
#[inline]
unsafe fn multiply_operands<T: ScaleFactor>(
    operands: &Operands<'_, 1, 2>,
    first_vector: VectorOrientation,
    alpha: T::Sum,
    beta: T::Sum,
) {
    let ([out], [first, second]) = (operands.written(), operands.read());
    let (a_sizes, a_strides) = matrix_batch_geometry(first, first_vector);
    let (b_sizes, b_strides) = matrix_batch_geometry(second, VectorOrientation::Column);
    let (c_sizes, c_strides) = matrix_batch_geometry(out, VectorOrientation::Column);
    let starts = (first.start().cast::<T>(), second.start().cast::<T>(), out.start().cast::<T>());
    // SAFETY: geometries stay inside storages, which the operands hold; `borrow` refuses a written tensor that overlaps itself or partly
    // overlaps another operand; the caller guarantees the rest.
    unsafe {
        if let ([1, rows, inner], [_, _, columns]) = (a_sizes, b_sizes) {
            let a = Matrix::from_raw(starts.0, [rows, inner], [a_strides[1], a_strides[2]]);
            let b = Matrix::from_raw(starts.1, [inner, columns], [b_strides[1], b_strides[2]]);
            let c = MatrixMut::from_raw(starts.2, [rows, columns], [c_strides[1], c_strides[2]]);
            gemm(alpha, a, b, beta, c);
        } else {
            let (a, b) = (Batch::from_raw(starts.0, a_sizes, a_strides), Batch::from_raw(starts.1, b_sizes, b_strides));
            batched_gemm(alpha, a, b, beta, BatchMut::from_raw(starts.2, c_sizes, c_strides));
        }
    }
}

/// Multiplies matrices and adds a summand, which is broadcast. The operands that are read are the summand and the factors.
///
/// # Safety
///
/// All operands have dtype `T`, and none of those that are read is the written one. The result is a matrix.
unsafe fn multiply_and_add<T: ScaleFactor>(operands: &Operands<'_, 1, 3>, alpha: T::Sum, beta: T::Sum) {
    let ([out], [summand, first, second]) = (operands.written(), operands.read());
    let matrix = |operand: &Operand<'_>| {
        let ([_, rows, columns], [_, down, across]) = matrix_batch_geometry(operand, VectorOrientation::Column);
        ([rows, columns], [down, across])
    };
    let [(a_sizes, a_strides), (b_sizes, b_strides), (c_sizes, c_strides)] = [first, second, out].map(matrix);
    let strides = broadcast_strides(summand.geometry(), out.geometry().sizes());
    let [down, across] =
        [0, 1].map(|dim| strides.get(dim).and_then(|&stride| isize::try_from(stride).ok()).unwrap_or(0));
    // SAFETY: geometries stay inside storages, which the operands hold, and so do those of broadcast operands; `borrow` refuses a written
    // tensor that overlaps itself or partly overlaps another operand; the caller guarantees the rest.
    unsafe {
        gemm_with_summand(
            alpha,
            Matrix::from_raw(first.start().cast::<T>(), a_sizes, a_strides),
            Matrix::from_raw(second.start().cast::<T>(), b_sizes, b_strides),
            beta,
            Matrix::from_raw(summand.start().cast::<T>(), c_sizes, [down, across]),
            MatrixMut::from_raw(out.start().cast::<T>(), c_sizes, c_strides),
        );
    }
}

/// Returns the sizes and strides of an operand as a batch of matrices.
#[inline]
fn matrix_batch_geometry(operand: &Operand<'_>, orientation: VectorOrientation) -> ([usize; 3], [isize; 3]) {
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "sizes of operands are not negative and fit `usize`"
    )]
    let size = |size: i64| size as usize;
    #[expect(clippy::cast_possible_truncation, reason = "strides of operands fit `isize`")]
    let step = |stride: i64| stride as isize;
    let geometry = operand.geometry();
    match (geometry.sizes(), geometry.strides()) {
        (&[rows, columns], &[down, across]) => ([1, size(rows), size(columns)], [0, step(down), step(across)]),
        (&[count, rows, columns], &[next, down, across]) => {
            ([size(count), size(rows), size(columns)], [step(next), step(down), step(across)])
        }
        (&[length], &[stride]) if orientation == VectorOrientation::Row => ([1, 1, size(length)], [0, 0, step(stride)]),
        (&[length], &[stride]) => ([1, size(length), 1], [0, step(stride), 0]),
        _ => ([1, 1, 1], [0, 0, 0]),
    }
}
