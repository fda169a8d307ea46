//! Means of what is a number.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::nansum;
use crate::prelude::*;

/// The means over these dimensions of what is a number.
#[op_def(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn nanmean(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if !this.dtype().is_floating() && !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), DTypes::FloatingOrComplex)
            .because("a mean has a fraction")
            .into());
    }
    let counted = this.isnan()?.logical_not()?.sum_dim_intlist(Some(dim.unwrap_or_default()), keepdim)?;
    nansum(this, dim, keepdim, dtype)? / counted
}
