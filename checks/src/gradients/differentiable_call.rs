//! Functions whose gradients are checked: a call of an operator, or a closure.

use dispatch_runtime::{DType, Device, Value};

use super::exemptions;
use crate::aliasing::has_undeclared_write;
use crate::reference_call::ReferenceCall;
use crate::verdict::{CallError, call_catching_panics};

/// A function of values whose gradients are checked.
pub(crate) trait DifferentiableCall {
    /// Returns the device of the call's tensors.
    fn device(&self) -> Device;

    /// Returns the name of an argument, for errors.
    fn argument_name(&self, position: usize) -> String;

    /// Whether the gradient with respect to a tensor of this real dtype, at this position, is computed.
    fn is_leaf(&self, position: usize, dtype: DType) -> bool;

    /// Makes the call.
    fn compute(&self, arguments: Vec<Value>) -> Result<Vec<Value>, CallError>;

    /// Whether the call writes an argument.
    fn is_written(&self, _position: usize) -> bool {
        false
    }

    /// Whether an argument has no gradient although the results vary with it.
    fn is_constant(&self, _position: usize) -> bool {
        false
    }

    /// Whether the call expects symmetric matrices and reads only one triangle of them.
    fn reads_one_triangle(&self) -> bool {
        false
    }
}

impl DifferentiableCall for ReferenceCall {
    fn device(&self) -> Device {
        self.device
    }

    fn argument_name(&self, position: usize) -> String {
        self.operator.schema().arguments[position].name.clone()
    }

    /// An argument that is written but not returned is only updated, and is no leaf.
    fn is_leaf(&self, position: usize, dtype: DType) -> bool {
        let schema = self.operator.schema();
        let is_returned = || (0..schema.returns.len()).any(|i| schema.written_argument_of_return(i) == Some(position));
        let is_updated = schema.arguments[position].is_written() && !is_returned();
        matches!(dtype, DType::F32 | DType::F64)
            && self.scalar_arguments.get(position) != Some(&true)
            && !is_updated
            && !has_undeclared_write(self.operator, position)
    }

    fn compute(&self, arguments: Vec<Value>) -> Result<Vec<Value>, CallError> {
        call_catching_panics(self.operator, arguments)
    }

    fn is_written(&self, position: usize) -> bool {
        self.operator.schema().arguments[position].is_written()
    }

    fn is_constant(&self, position: usize) -> bool {
        exemptions::is_constant(self, position)
    }

    fn reads_one_triangle(&self) -> bool {
        exemptions::reads_one_triangle(self)
    }
}
