//! Batch rules of operators with dimension arguments, which are shifted by the batch dimension in front.

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{Operator, Result, Tensor, Value};

use super::reduction::flatten_slices;
use crate::batch::Batch;
use crate::call;
use crate::shape_words::shift_dim;

/// The meaning of an operator's dimension arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DimArgumentKind {
    Existing,
    New,
    /// Dimensions of the first tensor that are reduced; an empty list means all dimensions.
    Reduced,
    /// Dimensions of the first tensor that are reduced; an empty list means no dimensions.
    ReducedIfListed,
    /// A dimension of the first tensor, with one index tensor for all slices.
    Indexed,
}

fn call_with_shifted_dims(
    batch: &Batch,
    operator: &Operator,
    arguments: &[Value],
    kind: DimArgumentKind,
) -> Result<Option<Vec<Value>>> {
    let dim = operator.schema().argument("dim").map(|(at, argument)| (at, argument.ty.without_optional().kind.clone()));
    if let (DimArgumentKind::Reduced, Some((at, TypeKind::Int | TypeKind::SymInt))) = (kind, dim)
        && matches!(arguments[at], Value::None)
    {
        return reduce_slices_as_rows(batch, operator, arguments, at).map(Some);
    }
    let Some((values, rank)) = shift_dim_arguments(batch, operator, kind, arguments)? else { return Ok(None) };
    let mut results = operator.call(values)?;
    if rank == 0 && kind != DimArgumentKind::New {
        // A slice without dimensions was computed as a row of one element. The row is removed, if the result has one element too.
        for result in &mut results {
            match result {
                Value::Tensor(tensor) if tensor.geometry().count() == batch.size() => {
                    *result = aten::reshape(tensor, &[batch.size()])?.into();
                }
                _ => return Ok(None),
            }
        }
    }
    call::wrap_call_results(batch, operator, arguments, results).map(Some)
}

/// Reduces all elements of each slice as one row, for an operator that reduces one dimension or all.
fn reduce_slices_as_rows(batch: &Batch, operator: &Operator, arguments: &[Value], dim: usize) -> Result<Vec<Value>> {
    let Some(tensor) = arguments[0].as_tensor() else { return Err(crate::rule::rule_arguments_error()) };
    let mapped = batch.unwrap_tensor(tensor);
    let mut values = arguments.to_vec();
    values[0] = flatten_slices(batch, &mapped)?.into();
    values[dim] = Value::Int(1);
    let keepdim =
        operator.schema().argument("keepdim").map(|(at, _)| std::mem::replace(&mut values[at], Value::Bool(false)));
    let mut sizes = vec![batch.size()];
    if let Some(Value::Bool(true)) = keepdim {
        sizes.resize(mapped.slice_rank() + 1, 1);
    }
    let results = operator.call(values)?.into_iter().map(|result| match result {
        Value::Tensor(tensor) => Ok(aten::reshape(&tensor, &sizes)?.into()),
        other => Ok(other),
    });
    call::wrap_call_results(batch, operator, arguments, results.collect::<Result<_>>()?)
}

/// Returns the arguments with the batch in front of every tensor, and the number of dimensions of a slice. `None` if the slices differ in
/// that number. A slice without dimensions becomes a row of one element.
fn shift_dim_arguments(
    batch: &Batch,
    operator: &Operator,
    kind: DimArgumentKind,
    arguments: &[Value],
) -> Result<Option<(Vec<Value>, usize)>> {
    let mut rank = None;
    let mut values = Vec::new();
    for (value, argument) in arguments.iter().zip(&operator.schema().arguments) {
        let mut batch_first = |tensor: &Tensor| {
            let mapped = batch.unwrap_tensor(tensor);
            if *rank.get_or_insert_with(|| mapped.slice_rank()) != mapped.slice_rank() {
                return Ok(None);
            }
            let each = batch.expand_batch_first(&mapped)?;
            Ok(Some(if mapped.slice_rank() == 0 && kind != DimArgumentKind::New {
                aten::unsqueeze(&each, 1)?
            } else {
                each
            }))
        };
        let value = match value {
            // An index tensor for all slices is passed unchanged.
            Value::Tensor(tensor) if kind == DimArgumentKind::Indexed && argument.name == "index" => {
                (!batch.has_batched_tensor(value)).then(|| tensor.into())
            }
            Value::Tensor(tensor) => batch_first(tensor)?.map(Value::from),
            Value::Tensors(tensors) => {
                let each: Option<Vec<Tensor>> = tensors.iter().map(batch_first).collect::<Result<_>>()?;
                each.map(Value::from)
            }
            other => Some(other.clone()),
        };
        let Some(value) = value else { return Ok(None) };
        values.push(value);
    }
    let Some(rank) = rank.filter(|&rank| rank > 0 || kind != DimArgumentKind::Indexed) else { return Ok(None) };
    let last = if kind == DimArgumentKind::New { rank + 1 } else { rank.max(1) };
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        if !matches!(argument.name.as_str(), "dim" | "dims") {
            continue;
        }
        *value = match &*value {
            Value::Int(dim) => Value::Int(shift_dim(*dim, last)?),
            Value::Ints(dims) if !dims.is_empty() => {
                dims.iter().map(|&dim| shift_dim(dim, last)).collect::<Result<Vec<_>>>()?.into()
            }
            Value::Ints(_) if kind == DimArgumentKind::ReducedIfListed => continue,
            Value::None | Value::Ints(_)
                if matches!(kind, DimArgumentKind::Reduced | DimArgumentKind::ReducedIfListed)
                    && matches!(argument.ty.without_optional().kind, TypeKind::List(..)) =>
            {
                (0..last)
                    .map(|dim| shift_dim(i64::try_from(dim).unwrap_or(i64::MAX), last))
                    .collect::<Result<Vec<_>>>()?
                    .into()
            }
            _ => return Ok(None),
        };
    }
    Ok(Some((values, rank)))
}

value_rules! {
    |batch, operator, arguments| call_with_shifted_dims(batch, operator, arguments, DimArgumentKind::Existing) =>
    cumsum cumprod logcumsumexp cummax cummin glu glu_backward glu_jvp max_dim min_dim
    flip roll cat unsafe_split unsafe_split_with_sizes
    gather scatter_src scatter_value scatter_add scatter_reduce scatter_value_reduce scatter_reduce_two;
    #[cfg(feature = "fft")]
    _fft_c2c _fft_r2c _fft_c2r;
    #[cfg(feature = "norm")]
    _softmax _log_softmax _softmax_backward_data _log_softmax_backward_data _safe_softmax;
    #[cfg(feature = "sort")]
    sort sort_stable topk kthvalue mode median_dim nanmedian_dim
}

value_rules! { |batch, operator, arguments| call_with_shifted_dims(batch, operator, arguments, DimArgumentKind::New) => stack }

value_rules! {
    |batch, operator, arguments| call_with_shifted_dims(batch, operator, arguments, DimArgumentKind::Reduced) =>
    amax amin argmax argmin aminmax mean_dim var_correction std_correction var_mean_correction std_mean_correction
    any_dim all_dim linalg_vector_norm
}

value_rules! { |batch, operator, arguments| call_with_shifted_dims(batch, operator, arguments, DimArgumentKind::ReducedIfListed) => any_dims all_dims }

value_rules! { |batch, operator, arguments| call_with_shifted_dims(batch, operator, arguments, DimArgumentKind::Indexed) => index_reduce }
