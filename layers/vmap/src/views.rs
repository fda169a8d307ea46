//! Views, all by one rule: what becomes of one slice's geometry becomes of every slice's, as they differ in where they begin alone.

use dispatch_runtime::{Geometry, KeySet, Operator, Result, Tensor, Value, guard, keys};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;

pub(crate) fn gives_views(operator: &Operator) -> bool {
    !operator.schema().views().is_empty()
}

/// The views that an operator gives of a batched argument.
pub(crate) fn call(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    let schema = operator.schema();
    let viewed: Vec<usize> = schema.views().iter().map(|view| view.argument).collect();
    let refuse = || VmapError::View { operator: operator.to_string() };
    let mapped: Vec<usize> = (0..arguments.len()).filter(|&at| batch.maps(&arguments[at])).collect();
    let (&[at], true) = (&mapped[..], schema.views().len() == schema.returns.len()) else {
        return Err(refuse().into());
    };
    let (Value::Tensor(seen), true) = (&arguments[at], viewed.iter().all(|&viewed| viewed == at)) else {
        return Err(refuse().into());
    };
    let mut values = arguments.to_vec();
    values[at] = outline(seen).into();
    let results = {
        // No level and no layer has a say in what is geometry alone.
        let _plain = guard::force(KeySet::EMPTY, KeySet::EMPTY);
        operator.call(values)?
    };
    let source = batch.mapped(seen);
    let show = |view: &Tensor| batch.shown(of_all(batch, &source, view)?);
    results
        .into_iter()
        .map(|result| match result {
            Value::Tensor(view) => Ok(show(&view)?.into()),
            Value::Tensors(views) => Ok(views.iter().map(show).collect::<Result<Vec<_>>>()?.into()),
            _ => Err(refuse().into()),
        })
        .collect()
}

/// One slice as a plain tensor whose elements nobody can look at.
fn outline(tensor: &Tensor) -> Tensor {
    tensor.out_of_reach(tensor.keys().below(keys::BackendSelect))
}

/// A view of one slice, for all: the batch is its last dimension, with the stride that it has in the source.
fn of_all(batch: &Batch, source: &Mapped, view: &Tensor) -> Result<Mapped> {
    let stride = source.dim.map_or(0, |dim| source.tensor.strides()[dim]);
    let geometry: &Geometry = view.geometry();
    let (mut sizes, mut strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
    sizes.push(batch.size);
    strides.push(stride);
    let dim = Some(geometry.rank());
    if view.dtype() == source.tensor.dtype() {
        let tensor = aten::as_strided(&source.tensor, &sizes, &strides, Some(geometry.offset()))?;
        return Ok(Mapped { tensor, dim });
    }
    Err(VmapError::View { operator: format!("a view of {} as {}", source.tensor.dtype(), view.dtype()) }.into())
}
