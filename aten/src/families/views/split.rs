//! Parts of tensors by the names of their dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Expected};

use crate::prelude::*;
use crate::{tensor_split_indices, tensor_split_sections};

/// The dimension that a split is along, of those that the tensor must have.
fn dim_of(this: &Tensor, rank: usize) -> Result<i64, BadArgument> {
    match this.sizes().len() {
        few if few < rank => Err(BadArgument::rank("self", few, rank..)),
        1 => Ok(0),
        _ => Ok(i64::try_from(rank.max(2) - 1).unwrap_or(0)),
    }
}

fn equal_parts(this: &Tensor, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
    let size = usize::try_from(dim).ok().and_then(|at| this.sizes().get(at).copied()).unwrap_or(0);
    if sections < 1 || size % sections != 0 {
        let bad = BadArgument::number("sections", sections, Expected::DivisorOf(size.into()));
        return Err(bad.because(format!("dimension {dim} has so many positions")).into());
    }
    tensor_split_sections(this, sections, dim)
}

/// This many groups of columns, of equal width; of a vector, runs.
#[op_def("hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")]
pub fn hsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    equal_parts(this, sections, dim_of(this, 1)?)
}

/// The columns between these positions; of a vector, runs.
#[op_def("hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")]
pub fn hsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    tensor_split_indices(this, indices, dim_of(this, 1)?)
}

/// This many groups of rows, of equal height.
#[op_def("vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")]
pub fn vsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    dim_of(this, 2)?;
    equal_parts(this, sections, 0)
}

/// The rows between these positions.
#[op_def("vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")]
pub fn vsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    dim_of(this, 2)?;
    tensor_split_indices(this, indices, 0)
}

/// This many parts of equal depth, along the third dimension.
#[op_def("dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")]
pub fn dsplit_int(this: &Tensor, sections: i64) -> Result<Vec<Tensor>> {
    equal_parts(this, sections, dim_of(this, 3)?)
}

/// The parts between these positions of the third dimension.
#[op_def("dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")]
pub fn dsplit_array(this: &Tensor, indices: &[i64]) -> Result<Vec<Tensor>> {
    tensor_split_indices(this, indices, dim_of(this, 3)?)
}

/// [`tensor_split_sections`] where the tensor is one number, or else [`tensor_split_indices`].
#[op_def(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]"
)]
pub fn tensor_split_tensor_indices_or_sections(_: ...) -> Result<Vec<Tensor>> {
    let given = tensor_indices_or_sections;
    if given.dtype() != DType::I64 {
        return Err(BadArgument::dtype("tensor_indices_or_sections", given.dtype(), DType::I64).into());
    }
    match given.sizes().len() {
        0 => tensor_split_sections(this, given.item()?, dim),
        1 => tensor_split_indices(this, &given.to(Device::CPU)?.contiguous()?.to_vec::<i64>()?, dim),
        rank => Err(BadArgument::rank("tensor_indices_or_sections", rank, &[0, 1]).into()),
    }
}

/// [`narrow`](crate::narrow) from a position that is a tensor of one number.
#[op_def("narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)")]
pub fn narrow_tensor(this: &Tensor, dim: i64, start: &Tensor, length: i64) -> Result<Tensor> {
    if !start.sizes().is_empty() {
        return Err(BadArgument::rank("start", start.sizes().len(), 0).into());
    }
    if !start.dtype().is_integral() {
        return Err(BadArgument::dtype("start", start.dtype(), DTypes::Integral).into());
    }
    crate::narrow(this, dim, start.item()?, length)
}

/// The positions of the elements that are not zero, a tensor for each dimension.
#[op_def("nonzero_numpy(Tensor self) -> Tensor[]")]
pub fn nonzero_numpy(this: &Tensor) -> Result<Vec<Tensor>> {
    let this = if this.sizes().is_empty() { this.unsqueeze(0)? } else { this.clone() };
    this.nonzero()?.unbind_int(1)
}

/// [`nonzero_numpy`], as it is called elsewhere.
#[op_def("where(Tensor condition) -> Tensor[]")]
pub fn r#where(condition: &Tensor) -> Result<Vec<Tensor>> {
    nonzero_numpy(condition)
}
