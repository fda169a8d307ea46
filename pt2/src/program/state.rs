//! The state of a program: parameters, buffers and constants.

use dispatch_nn::{Buffer, Param};
use dispatch_runtime::Tensor;

/// A tensor of the state with its name in PyTorch's state dict.
#[derive(Clone, Debug)]
pub(super) struct StateEntry {
    pub(super) name: String,
    pub(super) part: StatePart,
}

#[derive(Clone, Debug)]
pub(super) enum StatePart {
    Param(Param),
    Buffer(Buffer),
}

impl StateEntry {
    pub(super) fn tensor(&self) -> &Tensor {
        match &self.part {
            StatePart::Param(param) => param,
            StatePart::Buffer(buffer) => buffer,
        }
    }
}
