//! The check that all tensors of a call on Meta are on Meta.

use super::meta;
use crate::error::{BadArgument, Error, Problem, Result};
use crate::operator::Operation;
use crate::tensor::Tensor;

/// Arguments with tensors, which a Meta kernel checks.
pub trait OnMeta {
    /// Checks that all tensors are on Meta.
    fn on_meta(&self) -> Result<(), Problem>;
}

impl OnMeta for &Tensor {
    fn on_meta(&self) -> Result<(), Problem> {
        meta::on_meta(self)
    }
}

impl OnMeta for &mut Tensor {
    fn on_meta(&self) -> Result<(), Problem> {
        meta::on_meta(self)
    }
}

impl OnMeta for Option<&Tensor> {
    fn on_meta(&self) -> Result<(), Problem> {
        self.map_or(Ok(()), meta::on_meta)
    }
}

impl OnMeta for &[Tensor] {
    fn on_meta(&self) -> Result<(), Problem> {
        self.iter().try_for_each(meta::on_meta)
    }
}

impl OnMeta for &[Option<Tensor>] {
    fn on_meta(&self) -> Result<(), Problem> {
        self.iter().flatten().try_for_each(meta::on_meta)
    }
}

/// Returns an error if a tensor of this argument is not on Meta.
pub fn check_on_meta<O: Operation>(argument: &impl OnMeta, position: usize) -> Result<()> {
    argument.on_meta().map_err(|problem| {
        let operator = O::operator();
        Error::from(BadArgument::new(operator.argument_name(position), problem)).in_operator(operator.name())
    })
}
