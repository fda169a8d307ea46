//! Operators that work along dimensions, which the batch in front only counts on.

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{Operation, Operator, Result, Tensor, Value};

use crate::batch::Batch;
use crate::call;
use crate::rule::{BatchRule, rule};
use crate::words::behind;

/// Which dimensions there are to name: those of the first tensor, or one more, which is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Had,
    Made,
    /// Those of the first tensor, which are gone; all, where none is listed.
    Gone,
    /// Those of the first tensor, at places that one index for all slices lists.
    ByOneIndex,
}

macro_rules! along {
    ($named:ident: $($operator:ident)*) => {$(
        rule!(aten::$operator, BatchRule::new(|batch, arguments| {
            along(batch, <aten::$operator as Operation>::operator(), Named::$named, arguments)
        }));
    )*};
}

fn along(batch: &Batch, operator: &Operator, named: Named, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let results = match behind_the_batch(batch, operator, named, arguments)? {
        Some(values) => operator.call(values)?,
        None => return Ok(None),
    };
    call::give(batch, operator, arguments, results).map(Some)
}

/// The arguments with the batch in front of every tensor; none where slices have no dimension, or not the same number of them.
fn behind_the_batch(
    batch: &Batch,
    operator: &Operator,
    named: Named,
    arguments: &[Value],
) -> Result<Option<Vec<Value>>> {
    let mut rank = None;
    let mut values = Vec::new();
    for (value, argument) in arguments.iter().zip(&operator.schema().arguments) {
        let mut in_front = |tensor: &Tensor| {
            let mapped = batch.mapped(tensor);
            let fits = mapped.rank() > 0 && *rank.get_or_insert_with(|| mapped.rank()) == mapped.rank();
            fits.then(|| batch.each(&mapped)).transpose()
        };
        let value = match value {
            // One index for all slices is one for the batch.
            Value::Tensor(tensor) if named == Named::ByOneIndex && argument.name == "index" => {
                (!batch.maps(value)).then(|| tensor.into())
            }
            Value::Tensor(tensor) => in_front(tensor)?.map(Value::from),
            Value::Tensors(tensors) => {
                let each: Option<Vec<Tensor>> = tensors.iter().map(in_front).collect::<Result<_>>()?;
                each.map(Value::from)
            }
            other => Some(other.clone()),
        };
        let Some(value) = value else { return Ok(None) };
        values.push(value);
    }
    let Some(rank) = rank.filter(|_| !values.is_empty()) else { return Ok(None) };
    let last = if named == Named::Made { rank + 1 } else { rank };
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        if !matches!(argument.name.as_str(), "dim" | "dims") {
            continue;
        }
        *value = match &*value {
            Value::Int(dim) => Value::Int(behind(*dim, last)?),
            Value::Ints(dims) if !dims.is_empty() => {
                dims.iter().map(|&dim| behind(dim, last)).collect::<Result<Vec<_>>>()?.into()
            }
            Value::None | Value::Ints(_)
                if named == Named::Gone && matches!(argument.ty.required().kind, TypeKind::List(..)) =>
            {
                (0..last)
                    .map(|dim| behind(i64::try_from(dim).unwrap_or(i64::MAX), last))
                    .collect::<Result<Vec<_>>>()?
                    .into()
            }
            _ => return Ok(None),
        };
    }
    Ok(Some(values))
}

along! {
    Had:
    cumsum cumprod logcumsumexp cummax cummin
    _softmax _log_softmax _softmax_backward_data _log_softmax_backward_data
    sort sort_stable topk kthvalue mode median_dim nanmedian_dim max_dim min_dim
    flip roll cat
    gather scatter_src scatter_value scatter_add
}

along! { Made: stack }

along! { Gone: amax amin argmax argmin mean_dim var_correction std_correction any_dim all_dim linalg_vector_norm }

along! { ByOneIndex: index_select index_add index_copy }
