//! Arguments that must be on Meta if the call is.

use super::meta;
use crate::error::{BadArgument, Error, Problem, Result};
use crate::operator::Operation;
use crate::tensor::Tensor;

/// Arguments that hold tensors, as a kernel for Meta looks at them.
pub trait OnMeta {
    /// Makes sure that all of them are on Meta.
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

/// Refuses a call on Meta with a tensor that is elsewhere.
pub fn check_on_meta<O: Operation>(argument: &impl OnMeta, position: usize) -> Result<()> {
    argument.on_meta().map_err(|problem| {
        let operator = O::operator();
        Error::from(BadArgument::new(operator.argument_name(position), problem)).in_operator(operator.name())
    })
}
