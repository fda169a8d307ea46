//! Lists of tensors as one tensor, and back.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::cat;
use crate::prelude::*;

/// The elements of all tensors, one after another.
#[op_def("flatten_dense_tensors(Tensor[] tensors) -> Tensor")]
pub fn flatten_dense_tensors(tensors: &[Tensor]) -> Result<Tensor> {
    let flat: Vec<Tensor> = tensors.iter().map(|tensor| tensor.reshape(&[-1])).collect::<Result<_>>()?;
    cat(&flat, 0)
}

/// The elements of one tensor in the sizes of others.
#[op_def("unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[]")]
pub fn unflatten_dense_tensors(flat: &Tensor, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    let part = |tensor: &Tensor| {
        let count = tensor.geometry().count();
        let run = crate::narrow(flat, 0, start, count)?;
        start += count;
        run.reshape(tensor.sizes())
    };
    tensors.iter().map(part).collect()
}

/// Every choice of an element from each vector, a row for each.
#[op_def("cartesian_prod(Tensor[] tensors) -> Tensor")]
pub fn cartesian_prod(tensors: &[Tensor]) -> Result<Tensor> {
    if let Some(odd) = tensors.iter().find(|tensor| tensor.sizes().len() != 1) {
        return Err(BadArgument::rank("tensors", odd.sizes().len(), "1").into());
    }
    if let [only] = tensors {
        return Ok(only.clone());
    }
    let columns = crate::meshgrid(tensors)?.iter().map(|grid| grid.reshape(&[-1])).collect::<Result<Vec<_>>>()?;
    crate::stack(&columns, 1)
}

/// Every choice of `r` elements of a vector, in their order, a row for each.
#[op_def("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor")]
pub fn combinations(this: &Tensor, r: i64, with_replacement: bool) -> Result<Tensor> {
    let &[length] = this.sizes() else { return Err(BadArgument::rank("self", this.sizes().len(), "1").into()) };
    let columns = match usize::try_from(r) {
        Ok(0) => return this.new_empty(&[0]),
        Ok(columns) => columns,
        Err(_) => return Err(BadArgument::value("r", r, "zero or more").into()),
    };
    let places = crate::arange(Scalar::Int(length), Some(DType::I64), None, Some(this.device()), None)?;
    let grids = crate::meshgrid(&vec![places; columns])?;
    let mut kept = grids[0].ge_scalar(0)?;
    for pair in grids.windows(2) {
        let rises = if with_replacement { pair[0].le(&pair[1])? } else { pair[0].lt(&pair[1])? };
        kept = kept.logical_and(&rises)?;
    }
    this.take(&kept.nonzero()?)
}
