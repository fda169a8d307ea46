//! Parts that are put into a whole, and the gradients of views, which are put into zeros.

use dispatch_macros::op_vmap;
use dispatch_runtime::{Operator, Result, Value};

use crate::batch::{Batch, Mapped};
use crate::call;
use crate::shape_words::{aligned, behind};

/// The dimensions are those of the whole: the sizes that are given, or the first tensor.
fn parts(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let rank = match (&arguments[0], &arguments[1]) {
        (_, Value::Ints(sizes)) => sizes.len(),
        (Value::Tensor(whole), _) => whole.sizes().len(),
        _ => 0,
    };
    if rank == 0 {
        return Ok(None);
    }
    let mut values = arguments.to_vec();
    for (value, argument) in values.iter_mut().zip(&operator.schema().arguments) {
        *value = match (&*value, argument.name.as_str()) {
            (Value::Tensor(tensor), _) => batch.each(&batch.mapped(tensor))?.into(),
            (Value::Ints(sizes), _) => [&[batch.size()], &sizes[..]].concat().into(),
            (Value::Int(dim), "dim" | "dim1" | "dim2") => behind(*dim, rank)?.into(),
            _ => continue,
        };
    }
    call::give(batch, operator, arguments, operator.call(values)?).map(Some)
}

by_values! {
    parts =>
    select_backward slice_backward diagonal_backward unfold_backward
    select_scatter slice_scatter diagonal_scatter
}

#[op_vmap(aten::copy)]
fn copy(batch: &Batch, this: Mapped, src: Mapped, non_blocking: bool) -> Result<Mapped> {
    let source = if src.is_mapped() { aligned(&src, this.rank())? } else { src.tensor().clone() };
    Ok(Mapped::in_front(aten::copy(&batch.each(&this)?, &source, non_blocking)?))
}
