//! Batching of views by one rule: slices differ only in their offset, so one geometry change is valid for all.

use dispatch_runtime::{DType, Geometry, KeySet, Operator, Result, Tensor, Value, guard, keys};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;

pub(crate) fn returns_views_of_arguments(operator: &Operator) -> bool {
    !operator.schema().views().is_empty()
}

/// Returns the views that an operator makes of a batched argument.
pub(crate) fn call_view(batch: &Batch, operator: &Operator, arguments: &[Value]) -> Result<Vec<Value>> {
    let schema = operator.schema();
    let viewed: Vec<usize> = schema.views().iter().map(|view| view.argument).collect();
    let refuse = || VmapError::ViewWithoutRule { operator: operator.to_string() };
    let mapped: Vec<usize> = (0..arguments.len()).filter(|&at| batch.has_batched_tensor(&arguments[at])).collect();
    let (&[at], true) = (&mapped[..], schema.views().len() == schema.returns.len()) else {
        return Err(refuse().into());
    };
    let (Value::Tensor(seen), true) = (&arguments[at], viewed.iter().all(|&viewed| viewed == at)) else {
        return Err(refuse().into());
    };
    let mut values = arguments.to_vec();
    values[at] = slice_without_elements(seen).into();
    let results = {
        // Only the geometry is computed, so no level and no layer takes part.
        let _plain = guard::force_key_sets(KeySet::EMPTY, KeySet::EMPTY);
        operator.call(values)?
    };
    let source = batch.unwrap_tensor(seen);
    let show = |view: &Tensor| batch.wrap_tensor(extend_view_to_batch(batch, &source, view)?);
    results
        .into_iter()
        .map(|result| match result {
            Value::Tensor(view) => Ok(show(&view)?.into()),
            Value::Tensors(views) => Ok(views.iter().map(show).collect::<Result<Vec<_>>>()?.into()),
            _ => Err(refuse().into()),
        })
        .collect()
}

/// Returns one slice as a plain tensor whose elements cannot be accessed.
fn slice_without_elements(tensor: &Tensor) -> Tensor {
    tensor.opaque_with_keys(tensor.keys().below(keys::BackendSelect))
}

/// Extends a view of one slice to all slices. The batch becomes its last dimension, with its stride in the source.
fn extend_view_to_batch(batch: &Batch, source: &Mapped, view: &Tensor) -> Result<Mapped> {
    let (all, dim) = if view.dtype() == source.tensor.dtype() {
        (source.tensor.clone(), source.dim)
    } else {
        (view_batch_as_dtype(source, view.dtype())?, Some(0))
    };
    let geometry: &Geometry = view.geometry();
    let (mut sizes, mut strides) = (geometry.sizes().to_vec(), geometry.strides().to_vec());
    sizes.push(batch.size);
    strides.push(dim.map_or(0, |dim| all.strides()[dim]));
    let tensor = aten::as_strided(&all, &sizes, &strides, Some(geometry.offset()))?;
    Ok(Mapped { tensor, dim: Some(geometry.rank()) })
}

/// Views the elements of all slices as another dtype, with the batch dimension at 0.
fn view_batch_as_dtype(source: &Mapped, dtype: DType) -> Result<Tensor> {
    let front = source.batch_first()?;
    match (front.dtype().is_complex(), dtype.is_complex()) {
        (true, false) => aten::view_as_real(&front),
        (false, true) => aten::view_as_complex(&front),
        _ => aten::view_dtype(&front, dtype),
    }
}
