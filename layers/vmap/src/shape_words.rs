//! Batching by shape words: operators whose shape word determines where the batch dimension goes.
//!
//! Each function returns results whose batch dimension is 0, or `None` if the shape word does not cover the call.

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{DType, Operator, Promotion, Result, Tensor, Value, result_dtype, wrap_dim};

use crate::batch::{Batch, Mapped};

/// Batches an elementwise operator: the batch is one more dimension in front of all broadcast dimensions.
pub(crate) fn call_pointwise(
    batch: &Batch,
    operator: &Operator,
    operands: &[usize],
    promotion: Promotion,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let is_other = |at: &usize| !operands.contains(at) || arguments[*at].as_tensor().is_none();
    if (0..arguments.len()).filter(is_other).any(|at| batch.has_batched_tensor(&arguments[at])) {
        return Ok(None);
    }
    let seen: Vec<&Tensor> = operands.iter().filter_map(|&at| arguments.get(at)?.as_tensor()).collect();
    let rank = seen.iter().map(|tensor| tensor.sizes().len()).max().unwrap_or(0);
    let common = result_dtype(seen.iter().copied());
    let mixed = seen.iter().any(|tensor| tensor.dtype() != common);
    // If integers are computed as floats, they are converted directly, without rounding to the common dtype first.
    let compute_dtype = if promotion == Promotion::Float { promotion.computation_dtype(&seen) } else { common };
    let mut values = arguments.to_vec();
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        let Value::Tensor(tensor) = value else { continue };
        let mapped = batch.unwrap_tensor(tensor);
        if !mapped.is_mapped() {
            if mixed && tensor.sizes().is_empty() && tensor.dtype() == common && !tensor.is_number() {
                // A zero-dimensional operand took part in a slice's promotion only by its category. One more dimension keeps it deciding as
                // before.
                *value = aten::unsqueeze(tensor, 0)?.into();
            }
            continue;
        }
        let aligned = align_rank(&mapped, rank)?;
        let decides = mixed && !argument.is_written() && tensor.dtype() != DType::Bool;
        *value =
            if decides { cast_to_promoted_dtype(&mapped, aligned, common, compute_dtype)? } else { aligned }.into();
    }
    operator.call(values).map(Some)
}

/// Casts a batched zero-dimensional operand to the dtype that promotion gives a slice. Without dimensions it decides only the category of
/// the result's dtype. With the batch dimension it would decide the dtype itself. As in PyTorch, this also rounds factors of half-precision
/// tensors, which the CPU kernels do not round if they are scalars.
pub(crate) fn cast_to_promoted_dtype(
    slice: &Mapped,
    all: Tensor,
    common: DType,
    compute_dtype: DType,
) -> Result<Tensor> {
    if slice.slice_rank() > 0 || all.dtype() == common {
        return Ok(all);
    }
    aten::to_dtype(&all, compute_dtype, false, false, None)
}

/// Moves the batch dimension to 0 and inserts dimensions of size 1 behind it until a slice has `rank` dimensions.
pub(crate) fn align_rank(mapped: &Mapped, rank: usize) -> Result<Tensor> {
    let mut tensor = mapped.batch_first()?;
    for _ in mapped.slice_rank()..rank {
        tensor = aten::unsqueeze(&tensor, 1)?;
    }
    Ok(tensor)
}

/// Batches a reduction: each reduced dimension is shifted by one, and the batch dimension is never reduced.
pub(crate) fn call_reduction(
    batch: &Batch,
    operator: &Operator,
    dims: usize,
    keepdim: Option<usize>,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let only_first_batched = arguments.iter().skip(1).all(|value| !batch.has_batched_tensor(value));
    let Some(Value::Tensor(tensor)) = arguments.first().filter(|_| only_first_batched) else { return Ok(None) };
    let mut mapped = batch.unwrap_tensor(tensor);
    let mut values = arguments.to_vec();
    if mapped.slice_rank() == 0 {
        // A slice without dimensions becomes a row of one element, whose dimension is not kept.
        mapped = Mapped::from_batch_first(aten::unsqueeze(&mapped.batch_first()?, 1)?);
        if let Some(keepdim) = keepdim {
            values[keepdim] = Value::Bool(false);
        }
    }
    let rank = mapped.slice_rank();
    let all = || (1..=i64::try_from(rank).unwrap_or(i64::MAX)).collect::<Vec<_>>();
    let listed = match &arguments[dims] {
        Value::Int(dim) => Value::Int(shift_dim(*dim, rank)?),
        Value::Ints(dims) if !dims.is_empty() => {
            dims.iter().map(|&dim| shift_dim(dim, rank)).collect::<Result<Vec<_>>>()?.into()
        }
        Value::Ints(_) => all().into(),
        Value::None if accepts_dim_list(operator, dims) => all().into(),
        Value::None => return reduce_slices_as_rows(operator, dims, keepdim, &mapped, &values),
        _ => return Ok(None),
    };
    values[0] = mapped.batch_first()?.into();
    values[dims] = listed;
    operator.call(values).map(Some)
}

fn accepts_dim_list(operator: &Operator, argument: usize) -> bool {
    matches!(operator.schema().arguments[argument].ty.without_optional().kind, TypeKind::List(..))
}

/// Flattens all dimensions of a slice to one, for an operator that reduces one dimension or all.
fn reduce_slices_as_rows(
    operator: &Operator,
    dims: usize,
    keepdim: Option<usize>,
    mapped: &Mapped,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    if keepdim.is_some_and(|at| matches!(arguments[at], Value::Bool(true))) {
        return Ok(None);
    }
    let mut values = arguments.to_vec();
    values[0] = aten::flatten_using_ints(&mapped.batch_first()?, 1, -1)?.into();
    values[dims] = Value::Int(1);
    operator.call(values).map(Some)
}

/// Converts a dimension of a slice to the dimension of a tensor whose batch dimension is 0.
pub(crate) fn shift_dim(dim: i64, rank: usize) -> Result<i64> {
    let at = wrap_dim("dim", dim, rank)?;
    Ok(i64::try_from(at).unwrap_or(i64::MAX) + 1)
}

/// Batches a matrix product by folding the batch into a dimension of the result. It is a dimension of exactly the batched arguments, or one
/// that all arguments have.
pub(crate) fn call_product(
    batch: &Batch,
    operator: &Operator,
    letters: &str,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let Some((inputs, output)) = letters.split_once("->") else { return Ok(None) };
    let words: Vec<&str> = inputs.split(',').collect();
    let tensors: Option<Vec<Mapped>> = arguments
        .iter()
        .take(words.len())
        .map(|value| value.as_tensor().map(|tensor| batch.unwrap_tensor(tensor)))
        .collect();
    let Some(tensors) = tensors else { return Ok(None) };
    if arguments.iter().skip(words.len()).any(|value| batch.has_batched_tensor(value))
        || words.iter().zip(&tensors).any(|(word, tensor)| word.len() != tensor.slice_rank())
    {
        return Ok(None);
    }
    let appears_in = |letter: char, in_all: bool| {
        words.iter().zip(&tensors).all(|(word, tensor)| word.contains(letter) == (in_all || tensor.is_mapped()))
    };
    let own = output.chars().find(|&letter| appears_in(letter, false));
    let Some(letter) = own.or_else(|| output.chars().find(|&letter| appears_in(letter, true))) else { return Ok(None) };
    let mut values = arguments.to_vec();
    let mut size = 1;
    for ((word, tensor), value) in words.iter().zip(&tensors).zip(&mut values) {
        if let Some(at) = word.find(letter) {
            size = batch.wrap_tensor(tensor.clone())?.sizes()[at];
            *value = fold_batch_into_dim(&batch.expand_batch_first(tensor)?, at)?.into();
        }
    }
    let at = output.find(letter).unwrap_or(0);
    let results = operator.call(values)?.into_iter().map(|result| match result {
        Value::Tensor(tensor) => Ok(unfold_batch_from_dim(&tensor, at, batch.size, size)?.into()),
        other => Ok(other),
    });
    results.collect::<Result<_>>().map(Some)
}

/// Merges the batch dimension 0 with dimension `at` of a slice.
pub(crate) fn fold_batch_into_dim(tensor: &Tensor, at: usize) -> Result<Tensor> {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let adjacent = aten::movedim_int(tensor, 0, at)?;
    aten::flatten_using_ints(&adjacent, at, at + 1)
}

/// Splits dimension `at` into batch and slice dimension, and moves the batch dimension to 0.
pub(crate) fn unfold_batch_from_dim(tensor: &Tensor, at: usize, batch: i64, size: i64) -> Result<Tensor> {
    let mut sizes = tensor.sizes().to_vec();
    sizes.splice(at..=at, [batch, size]);
    aten::movedim_int(&aten::reshape(tensor, &sizes)?, i64::try_from(at).unwrap_or(i64::MAX), 0)
}

/// Splits the batch off dimension `at` of a result.
#[allow(dead_code, reason = "the families whose rules use it may be left out")]
pub(crate) fn unfold_mapped_result(batch: &Batch, result: &Tensor, at: usize) -> Result<Mapped> {
    let size = result.sizes()[at] / batch.size;
    Ok(Mapped::from_batch_first(unfold_batch_from_dim(result, at, batch.size, size)?))
}
