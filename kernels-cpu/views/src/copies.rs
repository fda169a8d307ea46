//! Copies.

use dispatch_runtime::prelude::*;

use engine::data_movement::packed;

#[op_impl(aten::alias_copy, CPU)]
fn alias_copy(this: &Tensor) -> Result<Tensor> {
    packed(this, this.dtype())
}
