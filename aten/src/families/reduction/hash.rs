//! A hash of the elements over dimensions.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, ReductionDims};

use super::min_max::reduces_empty_dim;
use crate::prelude::*;

/// Combines the bits of the elements over dimensions by exclusive or. Numbers are converted to double precision, and integers to 64 bits,
/// first.
///
/// The result has the bits of PyTorch's unsigned result. The only `mode` is 0.
#[op_def("hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor", out = "out")]
pub fn hash_tensor(_: ...) -> Result<Tensor> {
    if mode != 0 {
        return Err(BadArgument::number("mode", mode, 0).into());
    }
    if this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).into());
    }
    let reduced_dims = ReductionDims::plan(this, dim, keepdim, DType::I64)?.value.is_reduced;
    if reduces_empty_dim(this, &reduced_dims) {
        return Err(
            BadArgument::sizes("self", this.sizes(), "at least one element along the reduced dimensions").into()
        );
    }
    let this = crate::clone(&crate::resolve_neg(&crate::detach(this)?)?, None)?;
    let mut bits = if this.dtype().is_floating() {
        crate::view_dtype(&this.to(DType::F64)?, DType::I64)?
    } else {
        this.to(DType::I64)?
    };
    for at in (0..reduced_dims.len()).rev().filter(|&at| reduced_dims[at]) {
        let dim = i64::try_from(at).unwrap_or(i64::MAX);
        bits = combine_bits(&bits, dim)?;
        if !keepdim {
            bits = crate::squeeze_dim(&bits, dim)?;
        }
    }
    Ok(bits)
}

/// Combines the elements of a dimension to one, by halving it until it has size 1.
fn combine_bits(bits: &Tensor, dim: i64) -> Result<Tensor> {
    let mut bits = bits.clone();
    loop {
        let size = crate::size_int(&bits, dim)?;
        if size <= 1 {
            return Ok(bits);
        }
        let half = size / 2;
        let combined = bits.narrow(dim, 0, half)?.bitwise_xor(&bits.narrow(dim, half, half)?)?;
        bits = if size % 2 == 0 { combined } else { crate::cat(&[combined, bits.narrow(dim, size - 1, 1)?], dim)? };
    }
}
