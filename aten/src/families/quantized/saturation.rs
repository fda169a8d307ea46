//! Weights for products in half precision.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

/// The largest finite number in half precision.
const LARGEST_HALF: f64 = 65504.0;

/// Clamps the numbers of a weight to the range of half precision.
#[op_def("_saturate_weight_to_fp16(Tensor weight) -> Tensor")]
pub fn _saturate_weight_to_fp16(weight: &Tensor) -> Result<Tensor> {
    if weight.dtype() != DType::F32 {
        return Err(BadArgument::dtype("weight", weight.dtype(), DType::F32).into());
    }
    if weight.sizes().len() < 2 {
        return Err(BadArgument::rank("weight", weight.sizes().len(), 2..).into());
    }
    crate::clamp(weight, Some((-LARGEST_HALF).into()), Some(LARGEST_HALF.into()))
}
