//! `embedding` (rows of a table by index), its gradient, and `one_hot`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

use crate::{check_index_dtype, index_select, max_norm_factors, rename_error_argument};

/// The rows of `weight` at the indices `indices`.
#[op_def(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn embedding(_: ...) -> Result<Tensor> {
    if weight.sizes().len() != 2 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 2).into());
    }
    check_index_dtype("indices", indices)?;
    let rows = index_select(weight, 0, &crate::reshape(indices, &[-1])?)
        .map_err(|error| rename_error_argument(error, "indices"))?;
    let mut sizes = Dims::from_slice(indices.sizes());
    sizes.push(weight.sizes()[1]);
    crate::view(&rows, &sizes)
}

/// The gradient of [`embedding`] for its table: for each row, the sum of the gradients at its indices.
#[op_def(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    plan,
    out = "out"
)]
pub fn embedding_dense_backward(_: ...) -> Result<Tensor>;

#[op_plan(embedding_dense_backward)]
fn embedding_dense_backward_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_index_dtype("indices", indices)?;
    if !grad_output.dtype().is_floating() {
        return Err(BadArgument::dtype("grad_output", grad_output.dtype(), DTypes::Floating));
    }
    if num_weights < 0 {
        return Err(BadArgument::number("num_weights", num_weights, 0..));
    }
    match grad_output.sizes().split_last() {
        Some((&width, rows)) if rows == indices.sizes() => {
            Ok(Plan::new((), [Spec::contiguous(grad_output.dtype(), &[num_weights, width])]))
        }
        _ => Err(BadArgument::sizes(
            "grad_output",
            grad_output.sizes(),
            format!("the sizes {:?} and one more size", indices.sizes()),
        )),
    }
}

/// Converts each element of `self`, an index, to a row that is 1 at this index and 0 elsewhere.
#[op_def("one_hot(Tensor self, int num_classes=-1) -> Tensor", data_dependent, plan)]
pub fn one_hot(_: ...) -> Result<Tensor>;

#[op_plan(one_hot)]
fn one_hot_plan(this: &Tensor, num_classes: i64) -> Result<Plan<(), 0>, BadArgument> {
    if this.dtype() != DType::I64 {
        return Err(BadArgument::dtype("self", this.dtype(), DType::I64));
    }
    if num_classes < 1 && (num_classes != -1 || this.geometry().count() == 0) {
        let expected = "1 or more, or -1 if `self` has elements";
        return Err(BadArgument::value("num_classes", num_classes, expected));
    }
    Ok(Plan::without_outputs(()))
}

/// The gradient of [`embedding`](crate::embedding) for its table. A sparse gradient is refused.
#[op_def(
    "embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq, bool sparse) -> Tensor"
)]
pub fn embedding_backward(_: ...) -> Result<Tensor> {
    if sparse {
        return Err(BadArgument::number("sparse", true, false).because("sparse tensors are not supported").into());
    }
    embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
}

/// `self`, with the rows at `indices` scaled down to the norm `max_norm` if their norm is larger.
#[op_def(
    "embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
    inplace, out = "out", body = CompositeExplicitAutograd
)]
pub fn embedding_renorm(this: &Tensor, indices: &Tensor, max_norm: f64, norm_type: f64) -> Result<Tensor> {
    if this.sizes().len() != 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2).into());
    }
    check_index_dtype("indices", indices)?;
    let positions = crate::reshape(indices, &[-1])?;
    let rows = index_select(this, 0, &positions).map_err(|error| rename_error_argument(error, "indices"))?;
    let scaled = crate::mul(&rows, &max_norm_factors(&rows, norm_type, &[1], max_norm)?)?;
    crate::index_copy(this, 0, &positions, &scaled)
}
