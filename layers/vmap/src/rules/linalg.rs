//! Batch rules of decompositions. They take any number of leading dimensions.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Operator, Result, Value};

use crate::batch::{Batch, Mapped};
use crate::call;
use crate::shape_words::align_rank;

/// Batches an operator of one tensor: the batch dimension is put in front. A result that is not requested has no elements.
fn put_batch_in_front(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let mut values = arguments.to_vec();
    for tensor in values.iter_mut().flat_map(Value::tensors_mut) {
        *tensor = batch.unwrap_tensor(tensor).batch_first()?;
    }
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
    _linalg_eigh _linalg_eigvals _linalg_svd linalg_eig linalg_matrix_exp linalg_matrix_sqrth linalg_polar
}

/// Batches pseudoinverses. The tolerances broadcast with the leading dimensions of the matrices.
#[op_vmap(aten::linalg_pinv_atol_rtol_tensor)]
fn linalg_pinv_atol_rtol_tensor(
    _: &Batch,
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
    let [atol, rtol] = [&atol, &rtol].map(|given| given.as_ref().map(|given| align(given, rank)).transpose());
    let inverse =
        aten::linalg_pinv_atol_rtol_tensor(&align(&this, rank + 2)?, atol?.as_ref(), rtol?.as_ref(), hermitian)?;
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
