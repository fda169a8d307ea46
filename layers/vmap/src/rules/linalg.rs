//! Batch rules of decompositions. They take any number of leading dimensions.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, MemoryFormat, Operator, Result, Tensor, Value};

use crate::batch::{Batch, Mapped};
use crate::call;
use crate::shape_words::align_rank;

/// Batches an operator of tensors with the same leading dimensions: the batch dimension is put in front. A result that is not requested has
/// no elements.
fn put_batch_in_front(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let mut values = arguments.to_vec();
    for tensor in values.iter_mut().flat_map(Value::tensors_mut) {
        let all = batch.expand_batch_first(&batch.unwrap_tensor(tensor))?;
        // Determinants decompose a contiguous matrix differently than others.
        let is_contiguous = tensor.geometry().is_contiguous();
        *tensor = if is_contiguous { aten::contiguous(&all, MemoryFormat::Contiguous)? } else { all };
    }
    call_on_batch(batch, operator, arguments, values)
}

/// Batches an operator of tensors whose leading dimensions broadcast. Matrices have two other dimensions, and pivots one.
fn put_batch_in_front_of_systems(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let mut values = arguments.to_vec();
    let own_rank = |tensor: &Tensor| if tensor.dtype() == DType::I32 { 1 } else { 2 };
    let tensors = || arguments.iter().flat_map(Value::tensors);
    let leading = tensors().map(|tensor| tensor.sizes().len().saturating_sub(own_rank(tensor))).max().unwrap_or(0);
    for tensor in values.iter_mut().flat_map(Value::tensors_mut) {
        let rank = leading + own_rank(tensor);
        let all = batch.expand_batch_first(&batch.unwrap_tensor(tensor))?;
        *tensor = align_rank(&Mapped::from_batch_first(all), rank)?;
    }
    call_on_batch(batch, operator, arguments, values)
}

/// Calls an operator with tensors whose batch dimension is in front.
fn call_on_batch(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    values: Vec<Value>,
) -> Result<Option<Vec<Value>>> {
    let results = operator.call(values)?.into_iter().map(|result| match result {
        Value::Tensor(tensor) if tensor.sizes() == [0] => {
            Ok(aten::expand(&aten::unsqueeze(&tensor, 0)?, &[batch.size(), 0], false)?.into())
        }
        other => Ok(other),
    });
    call::wrap_call_results(batch, operator, arguments, results.collect::<Result<_>>()?).map(Some)
}

value_rules! {
    |batch, operator, arguments| put_batch_in_front(batch, operator, arguments) =>
    _cholesky_solve_helper _linalg_det _linalg_eigh _linalg_eigvals _linalg_slogdet _linalg_svd cholesky_inverse geqrf
    linalg_cholesky_ex linalg_eig linalg_householder_product linalg_inv_ex linalg_ldl_factor_ex linalg_lu
    linalg_lu_factor_ex linalg_matrix_exp linalg_matrix_sqrth linalg_polar linalg_qr lu_unpack ormqr
}

value_rules! {
    |batch, operator, arguments| put_batch_in_front_of_systems(batch, operator, arguments) =>
    cholesky_solve linalg_ldl_solve linalg_lu_solve linalg_solve_triangular triangular_solve
}

/// Batches linear systems. If a matrix of a slice has several right-hand sides, or vectors broadcast, it is a loop.
#[op_vmap(aten::_linalg_solve_ex)]
#[expect(non_snake_case, reason = "the arguments have the names of the schema")]
fn _linalg_solve_ex(
    batch: &Batch,
    A: Mapped,
    B: Mapped,
    left: bool,
    check_errors: bool,
) -> Result<Option<(Mapped, Mapped, Mapped, Mapped)>> {
    let (rank, columns_rank) = (A.slice_rank(), B.slice_rank());
    let (matrices, columns) = (batch.expand_batch_first(&A)?, batch.expand_batch_first(&B)?);
    let is_vector = columns.sizes() == &matrices.sizes()[..matrices.sizes().len() - 1];
    if columns_rank > rank || columns_rank < 2 && !is_vector {
        return Ok(None);
    }
    let columns = if is_vector { columns } else { align_rank(&Mapped::from_batch_first(columns), rank)? };
    let (result, lu, pivots, info) = aten::_linalg_solve_ex(&matrices, &columns, left, check_errors)?;
    let [result, lu, pivots, info] = [result, lu, pivots, info].map(Mapped::from_batch_first);
    Ok(Some((result, lu, pivots, info)))
}

/// Batches pseudoinverses. The tolerances broadcast with the leading dimensions of the matrices.
#[op_vmap(aten::linalg_pinv_atol_rtol_tensor)]
fn linalg_pinv_atol_rtol_tensor(
    batch: &Batch,
    this: Mapped,
    atol: Option<Mapped>,
    rtol: Option<Mapped>,
    hermitian: bool,
) -> Result<Mapped> {
    let tolerance_rank = [&atol, &rtol].into_iter().flatten().map(Mapped::slice_rank).max().unwrap_or(0);
    let rank = tolerance_rank.max(this.slice_rank().saturating_sub(2));
    let align = |mapped: &Mapped, rank| {
        if mapped.is_mapped() { align_rank(mapped, rank) } else { Ok(mapped.tensor().clone()) }
    };
    let matrices = align_rank(&Mapped::from_batch_first(batch.expand_batch_first(&this)?), rank + 2)?;
    let [atol, rtol] = [&atol, &rtol].map(|given| given.as_ref().map(|given| align(given, rank)).transpose());
    let inverse = aten::linalg_pinv_atol_rtol_tensor(&matrices, atol?.as_ref(), rtol?.as_ref(), hermitian)?;
    Ok(Mapped::from_batch_first(inverse))
}

/// Batches linear combinations: the batch dimension is one more dimension of the slices.
#[op_vmap(aten::_compute_linear_combination)]
fn _compute_linear_combination(_: &Batch, input: Mapped, coefficients: Mapped) -> Result<Option<Mapped>> {
    if coefficients.is_mapped() {
        return Ok(None);
    }
    let slices = aten::movedim_int(&input.batch_first()?, 0, 1)?;
    let combined = aten::_compute_linear_combination(&slices, coefficients.tensor())?;
    Ok(Some(Mapped::from_batch_first(aten::movedim_int(&combined, 1, 0)?)))
}
