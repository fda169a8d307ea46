//! Borders around tensors.

use dispatch_runtime::prelude::*;

use crate::{Outline, op_grad};

#[op_grad(aten::constant_pad_nd)]
fn constant_pad_nd(grad: &Tensor, pad: &[i64]) -> Result<Tensor> {
    let back: Vec<i64> = pad.iter().map(|size| -size).collect();
    aten::constant_pad_nd(grad, &back, 0.into())
}

macro_rules! pads {
    ($($pad:ident $backward:ident)*) => {$(
        #[op_grad(aten::$pad)]
        fn $pad(grad: &Tensor, this: &Outline, padding: &[i64]) -> Result<Tensor> {
            aten::$backward(grad, &this.stand_in()?, padding)
        }

        #[op_grad(aten::$backward, not_differentiable(this))]
        fn $backward(grad: &Tensor, padding: &[i64]) -> Result<Tensor> {
            aten::$pad(grad, padding)
        }
    )*};
}

pads! {
    reflection_pad1d reflection_pad1d_backward
    reflection_pad2d reflection_pad2d_backward
    reflection_pad3d reflection_pad3d_backward
    replication_pad1d replication_pad1d_backward
    replication_pad2d replication_pad2d_backward
    replication_pad3d replication_pad3d_backward
}
