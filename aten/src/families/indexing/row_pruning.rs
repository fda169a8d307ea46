//! Pruning of the rows of an embedding.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::prelude::*;

/// Returns the rows of `weight` that the mask selects, and the new index of each row, which is -1 for other rows.
#[op_def("_rowwise_prune(Tensor weight, Tensor mask, ScalarType compressed_indices_dtype) -> (Tensor, Tensor)")]
pub fn _rowwise_prune(_: ...) -> Result<(Tensor, Tensor)> {
    crate::check_same_device([("weight", weight), ("mask", mask)])?;
    let &[rows, _] = weight.sizes() else {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 2).into());
    };
    if mask.dtype() != DType::Bool {
        return Err(BadArgument::dtype("mask", mask.dtype(), DType::Bool).into());
    }
    if mask.sizes() != [rows] {
        return Err(BadArgument::sizes("mask", mask.sizes(), &[rows][..])
            .because("`weight` has this number of rows")
            .into());
    }
    if ![DType::I32, DType::I64].contains(&compressed_indices_dtype) {
        let argument = "compressed_indices_dtype";
        return Err(BadArgument::dtype(argument, compressed_indices_dtype, "int32 or int64").into());
    }
    let kept = crate::reshape(&crate::nonzero(mask)?, &[-1])?;
    let numbers = (mask.cumsum(0)? - 1)?.masked_fill(&mask.logical_not()?, -1)?;
    Ok((crate::index_select(&crate::detach(weight)?, 0, &kept)?, numbers.to(compressed_indices_dtype)?))
}
