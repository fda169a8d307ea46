//! Borders that continue what is inside.

use dispatch_runtime::prelude::*;

use crate::pads::{Border, bordered_spec, unbordered_spec};

/// The rows with a border in which they are mirrored.
#[op_def("reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", out = "out")]
pub fn reflection_pad1d(this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(reflection_pad1d)]
fn reflection_pad1d_meta(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    bordered_spec(this, padding, 1, Border::Mirrored)?.on(Device::META)
}

/// The gradient of [`reflection_pad1d`].
#[op_def("reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor", out = "grad_input"(grad_input))]
pub fn reflection_pad1d_backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(reflection_pad1d_backward)]
fn reflection_pad1d_backward_meta(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    unbordered_spec(grad_output, this, padding, 1, Border::Mirrored)?.on(Device::META)
}

/// The images with a border in which they are mirrored.
#[op_def("reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", out = "out")]
pub fn reflection_pad2d(this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(reflection_pad2d)]
fn reflection_pad2d_meta(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    bordered_spec(this, padding, 2, Border::Mirrored)?.on(Device::META)
}

/// The gradient of [`reflection_pad2d`].
#[op_def("reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor", out = "grad_input"(grad_input))]
pub fn reflection_pad2d_backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(reflection_pad2d_backward)]
fn reflection_pad2d_backward_meta(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    unbordered_spec(grad_output, this, padding, 2, Border::Mirrored)?.on(Device::META)
}

/// The volumes with a border in which they are mirrored.
#[op_def("reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", out = "out")]
pub fn reflection_pad3d(this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(reflection_pad3d)]
fn reflection_pad3d_meta(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    bordered_spec(this, padding, 3, Border::Mirrored)?.on(Device::META)
}

/// The gradient of [`reflection_pad3d`].
#[op_def("reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor", out = "grad_input"(grad_input))]
pub fn reflection_pad3d_backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(reflection_pad3d_backward)]
fn reflection_pad3d_backward_meta(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    unbordered_spec(grad_output, this, padding, 3, Border::Mirrored)?.on(Device::META)
}

/// The rows with a border of their outermost elements.
#[op_def("replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", out = "out")]
pub fn replication_pad1d(this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(replication_pad1d)]
fn replication_pad1d_meta(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    bordered_spec(this, padding, 1, Border::Repeated)?.on(Device::META)
}

/// The gradient of [`replication_pad1d`].
#[op_def(
    "replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor",
    out = "grad_input"(grad_input)
)]
pub fn replication_pad1d_backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(replication_pad1d_backward)]
fn replication_pad1d_backward_meta(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    unbordered_spec(grad_output, this, padding, 1, Border::Repeated)?.on(Device::META)
}

/// The images with a border of their outermost elements.
#[op_def("replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", out = "out")]
pub fn replication_pad2d(this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(replication_pad2d)]
fn replication_pad2d_meta(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    bordered_spec(this, padding, 2, Border::Repeated)?.on(Device::META)
}

/// The gradient of [`replication_pad2d`].
#[op_def(
    "replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor",
    out = "grad_input"(grad_input)
)]
pub fn replication_pad2d_backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(replication_pad2d_backward)]
fn replication_pad2d_backward_meta(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    unbordered_spec(grad_output, this, padding, 2, Border::Repeated)?.on(Device::META)
}

/// The volumes with a border of their outermost elements.
#[op_def("replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", out = "out")]
pub fn replication_pad3d(this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(replication_pad3d)]
fn replication_pad3d_meta(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    bordered_spec(this, padding, 3, Border::Repeated)?.on(Device::META)
}

/// The gradient of [`replication_pad3d`].
#[op_def(
    "replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor",
    out = "grad_input"(grad_input)
)]
pub fn replication_pad3d_backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor>;

#[op_meta(replication_pad3d_backward)]
fn replication_pad3d_backward_meta(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
    unbordered_spec(grad_output, this, padding, 3, Border::Repeated)?.on(Device::META)
}
