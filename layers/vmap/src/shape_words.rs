//! Calls of operators whose shape words say how a batch goes through.
//!
//! Each gives the results with the batch in dimension 0, or nothing where the word does not help.

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{DType, Operator, Promotion, Result, Tensor, Value, result_dtype, wrap_dim};

use crate::batch::{Batch, Mapped};

/// Elements meet one by one, after broadcasting: the batch is one more dimension in front of all.
pub(crate) fn pointwise(
    batch: &Batch,
    operator: &Operator,
    operands: &[usize],
    promotion: Promotion,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let beside = |at: &usize| !operands.contains(at) || arguments[*at].as_tensor().is_none();
    if (0..arguments.len()).filter(beside).any(|at| batch.maps(&arguments[at])) {
        return Ok(None);
    }
    let seen: Vec<&Tensor> = operands.iter().filter_map(|&at| arguments.get(at)?.as_tensor()).collect();
    let rank = seen.iter().map(|tensor| tensor.sizes().len()).max().unwrap_or(0);
    let common = result_dtype(seen.iter().copied());
    let mixed = seen.iter().any(|tensor| tensor.dtype() != common);
    // Integers that are computed with as fractions are so as they are, and not rounded to the common dtype before.
    let met = if promotion == Promotion::Float { promotion.computes_in(&seen) } else { common };
    let mut values = arguments.to_vec();
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        let Value::Tensor(tensor) = value else { continue };
        let mapped = batch.mapped(tensor);
        if !mapped.is_mapped() {
            if mixed && tensor.sizes().is_empty() && tensor.dtype() == common && !tensor.is_number() {
                // It decided for slices without dimensions, and would not for a batch of them.
                *value = aten::unsqueeze(tensor, 0)?.into();
            }
            continue;
        }
        let aligned = aligned(&mapped, rank)?;
        let decides = mixed && !argument.is_written() && tensor.dtype() != DType::Bool;
        *value = if decides { promoted(&mapped, aligned, common, met)? } else { aligned }.into();
    }
    operator.call(values).map(Some)
}

/// What is there for all slices, in the dtype that a slice would have decided with others. Without dimensions it decided no more than
/// the kind of that; with the batch it would decide more. So it comes in the dtype in which all meet. As in PyTorch, this rounds factors
/// of halves too, which the CPU's kernels take as they are where they are one number.
pub(crate) fn promoted(slice: &Mapped, all: Tensor, common: DType, met: DType) -> Result<Tensor> {
    if slice.rank() > 0 || all.dtype() == common {
        return Ok(all);
    }
    aten::to_dtype(&all, met, false, false, None)
}

/// The batch in dimension 0, and behind it as many dimensions of size 1 as a slice has too few.
pub(crate) fn aligned(mapped: &Mapped, rank: usize) -> Result<Tensor> {
    let mut tensor = mapped.front()?;
    for _ in mapped.rank()..rank {
        tensor = aten::unsqueeze(&tensor, 1)?;
    }
    Ok(tensor)
}

/// Dimensions are one further back, and the batch is not among those that go.
pub(crate) fn reduce(
    batch: &Batch,
    operator: &Operator,
    dims: usize,
    keepdim: Option<usize>,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let alone = arguments.iter().skip(1).all(|value| !batch.maps(value));
    let Some(Value::Tensor(tensor)) = arguments.first().filter(|_| alone) else { return Ok(None) };
    let mut mapped = batch.mapped(tensor);
    let mut values = arguments.to_vec();
    if mapped.rank() == 0 {
        // One element is a line of one, of which a dimension is never kept.
        mapped = Mapped::in_front(aten::unsqueeze(&mapped.front()?, 1)?);
        if let Some(keepdim) = keepdim {
            values[keepdim] = Value::Bool(false);
        }
    }
    let rank = mapped.rank();
    let all = || (1..=i64::try_from(rank).unwrap_or(i64::MAX)).collect::<Vec<_>>();
    let listed = match &arguments[dims] {
        Value::Int(dim) => Value::Int(shift_dim(*dim, rank)?),
        Value::Ints(dims) if !dims.is_empty() => {
            dims.iter().map(|&dim| shift_dim(dim, rank)).collect::<Result<Vec<_>>>()?.into()
        }
        Value::Ints(_) => all().into(),
        Value::None if takes_several(operator, dims) => all().into(),
        Value::None => return in_a_row(operator, dims, keepdim, &mapped, &values),
        _ => return Ok(None),
    };
    values[0] = mapped.front()?.into();
    values[dims] = listed;
    operator.call(values).map(Some)
}

fn takes_several(operator: &Operator, argument: usize) -> bool {
    matches!(operator.schema().arguments[argument].ty.required().kind, TypeKind::List(..))
}

/// All dimensions of a slice as one, for an operator that takes one or all.
fn in_a_row(
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
    values[0] = aten::flatten_using_ints(&mapped.front()?, 1, -1)?.into();
    values[dims] = Value::Int(1);
    operator.call(values).map(Some)
}

/// A dimension of a slice as one of the tensor with the batch in front.
pub(crate) fn shift_dim(dim: i64, rank: usize) -> Result<i64> {
    let at = wrap_dim("dim", dim, rank)?;
    Ok(i64::try_from(at).unwrap_or(i64::MAX) + 1)
}

/// The batch goes into a letter that the result has too: one of the mapped arguments alone, or one that all arguments have.
pub(crate) fn product(
    batch: &Batch,
    operator: &Operator,
    letters: &str,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let Some((inputs, output)) = letters.split_once("->") else { return Ok(None) };
    let words: Vec<&str> = inputs.split(',').collect();
    let tensors: Option<Vec<Mapped>> =
        arguments.iter().take(words.len()).map(|value| value.as_tensor().map(|tensor| batch.mapped(tensor))).collect();
    let Some(tensors) = tensors else { return Ok(None) };
    if arguments.iter().skip(words.len()).any(|value| batch.maps(value))
        || words.iter().zip(&tensors).any(|(word, tensor)| word.len() != tensor.rank())
    {
        return Ok(None);
    }
    let is_of = |letter: char, everyone: bool| {
        words.iter().zip(&tensors).all(|(word, tensor)| word.contains(letter) == (everyone || tensor.is_mapped()))
    };
    let own = output.chars().find(|&letter| is_of(letter, false));
    let Some(letter) = own.or_else(|| output.chars().find(|&letter| is_of(letter, true))) else { return Ok(None) };
    let mut values = arguments.to_vec();
    let mut size = 1;
    for ((word, tensor), value) in words.iter().zip(&tensors).zip(&mut values) {
        if let Some(at) = word.find(letter) {
            size = batch.shown(tensor.clone())?.sizes()[at];
            *value = fold_batch(&batch.each(tensor)?, at)?.into();
        }
    }
    let at = output.find(letter).unwrap_or(0);
    let results = operator.call(values)?.into_iter().map(|result| match result {
        Value::Tensor(tensor) => Ok(unfold_batch(&tensor, at, batch.size, size)?.into()),
        other => Ok(other),
    });
    results.collect::<Result<_>>().map(Some)
}

/// The batch, in dimension 0, and a slice's dimension as one.
pub(crate) fn fold_batch(tensor: &Tensor, at: usize) -> Result<Tensor> {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let together = aten::movedim_int(tensor, 0, at)?;
    aten::flatten_using_ints(&together, at, at + 1)
}

/// The reverse.
pub(crate) fn unfold_batch(tensor: &Tensor, at: usize, batch: i64, size: i64) -> Result<Tensor> {
    let mut sizes = tensor.sizes().to_vec();
    sizes.splice(at..=at, [batch, size]);
    aten::movedim_int(&aten::reshape(tensor, &sizes)?, i64::try_from(at).unwrap_or(i64::MAX), 0)
}

/// A result whose dimension `at` has the batch folded in.
#[allow(dead_code, reason = "the families whose rules use it may be left out")]
pub(crate) fn unfold_batch_at(batch: &Batch, result: &Tensor, at: usize) -> Result<Mapped> {
    let size = result.sizes()[at] / batch.size;
    Ok(Mapped::in_front(unfold_batch(result, at, batch.size, size)?))
}
