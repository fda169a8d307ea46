//! Gradient formulas of padding.

use dispatch_runtime::prelude::*;

use crate::TensorOutline;

derivatives! {
    constant_pad_nd(grad; pad: &[i64]) =>
        aten::constant_pad_nd(grad, &pad.iter().map(|size| -size).collect::<Vec<_>>(), 0.into());
}

macro_rules! pad_derivatives {
    ($($pad:ident $backward:ident)*) => { derivatives! {$(
        $pad(grad; this: &TensorOutline, padding: &[i64]) => aten::$backward(grad, &this.expanded_zero()?, padding);
        $backward(grad; padding: &[i64]), not_differentiable(this) => aten::$pad(grad, padding);
    )*} };
}

pad_derivatives! {
    reflection_pad1d reflection_pad1d_backward
    reflection_pad2d reflection_pad2d_backward
    reflection_pad3d reflection_pad3d_backward
    replication_pad1d replication_pad1d_backward
    replication_pad2d replication_pad2d_backward
    replication_pad3d replication_pad3d_backward
}
