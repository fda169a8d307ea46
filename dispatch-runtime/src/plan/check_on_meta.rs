//! The check that all tensors of a call on Meta are on Meta.

use super::meta;
use crate::error::{BadArgument, Error, Problem, Result};
use crate::operator::Operation;
use crate::tensor::Tensor;

/// Arguments with tensors, which a Meta kernel checks.
pub trait CheckOnMeta {
    /// Checks that all tensors are on Meta.
    fn check_on_meta(&self) -> Result<(), Problem>;
}

impl CheckOnMeta for &Tensor {
    fn check_on_meta(&self) -> Result<(), Problem> {
        meta::check_tensor_on_meta(self)
    }
}

impl CheckOnMeta for &mut Tensor {
    fn check_on_meta(&self) -> Result<(), Problem> {
        meta::check_tensor_on_meta(self)
    }
}

impl CheckOnMeta for Option<&Tensor> {
    fn check_on_meta(&self) -> Result<(), Problem> {
        self.map_or(Ok(()), meta::check_tensor_on_meta)
    }
}

impl CheckOnMeta for &[Tensor] {
    fn check_on_meta(&self) -> Result<(), Problem> {
        self.iter().try_for_each(meta::check_tensor_on_meta)
    }
}

impl CheckOnMeta for &[Option<Tensor>] {
    fn check_on_meta(&self) -> Result<(), Problem> {
        self.iter().flatten().try_for_each(meta::check_tensor_on_meta)
    }
}

/// Returns an error if a tensor of this argument is not on Meta.
pub fn check_argument_on_meta<O: Operation>(argument: &impl CheckOnMeta, position: usize) -> Result<()> {
    argument.check_on_meta().map_err(|problem| {
        let operator = O::operator();
        Error::from(BadArgument::new(operator.argument_name(position), problem)).in_operator(operator.name())
    })
}
