//! The record of an operator's derivative, and the types that a derivative function may return.

use dispatch_runtime::{Operator, Result, Tensor};

use crate::graph::node::Gradients;
use crate::graph::outline::TensorOutline;
use crate::graph::saved::UnpackedValue;

/// The derivative of an operator, or the statement that it has none.
#[doc(hidden)]
pub struct Derivative {
    pub operator: fn() -> &'static Operator,
    /// The positions of the differentiable arguments.
    pub inputs: &'static [usize],
    /// For each result, whether it is differentiable.
    pub differentiable_results: &'static [bool],
    /// The parameters of the derivative function after the gradients, in order: arguments, then results.
    pub saved: &'static [SavedSource],
    /// The derivative function. `None` if the operator is declared not differentiable.
    pub run: Option<DerivativeFn>,
}

/// The source of a saved value.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SavedSource {
    /// An argument, with one bit for each input whose gradient needs it.
    Argument(usize, u64),
    /// Geometry, dtype and device of an argument, without its elements.
    ArgumentOutline(usize),
    Result(usize),
    /// Geometry, dtype and device of a result, without its elements.
    ResultOutline(usize),
}

/// The generated function that unpacks the saved values and calls the derivative.
#[doc(hidden)]
pub(crate) type DerivativeFn = fn(&mut BackwardStep<'_>, &mut [UnpackedValue]) -> Result<()>;

/// One backward step of a node: the gradients of its results, and the gradients of its inputs.
#[doc(hidden)]
pub struct BackwardStep<'a> {
    results: &'a [TensorOutline],
    gradients: &'a mut [Option<Tensor>],
    needs: &'a [bool],
    out: &'a mut Gradients,
}

impl Derivative {
    pub(crate) fn operator(&self) -> &'static Operator {
        (self.operator)()
    }

    /// Returns the name that the schema gives to the argument or result saved at a position.
    pub(crate) fn saved_value_name(&self, position: usize) -> String {
        let schema = self.operator().schema();
        match self.saved.get(position) {
            Some(&(SavedSource::Argument(i, _) | SavedSource::ArgumentOutline(i))) => {
                schema.arguments.get(i).map(|argument| argument.name.clone()).unwrap_or_default()
            }
            Some(&(SavedSource::Result(i) | SavedSource::ResultOutline(i))) => {
                let name = schema.returns.get(i).and_then(|ret| ret.name.clone());
                name.unwrap_or_else(
                    || if schema.returns.len() == 1 { "result".to_owned() } else { format!("result{i}") },
                )
            }
            None => String::new(),
        }
    }

    pub(crate) fn run(
        &self,
        results: &[TensorOutline],
        gradients: &mut [Option<Tensor>],
        saved: &mut [UnpackedValue],
        needs: &[bool],
        out: &mut Gradients,
    ) -> Result<()> {
        if let Some(run) = self.run {
            return run(&mut BackwardStep { results, gradients, needs, out }, saved);
        }
        out.resize(needs.len(), None);
        Ok(())
    }
}

impl BackwardStep<'_> {
    /// Returns the gradient of a result, or zeros if it received none.
    pub fn result_gradient_or_zeros(&self, result: usize) -> Result<Tensor> {
        match &self.gradients[result] {
            Some(gradient) => Ok(gradient.clone()),
            None => self.results[result].zeros(),
        }
    }

    /// Returns the gradient of a result, if it received one.
    #[must_use]
    pub fn optional_result_gradient(&self, result: usize) -> Option<Tensor> {
        self.gradients[result].clone()
    }

    /// Returns the gradients of all results.
    #[must_use]
    pub fn result_gradients(&self) -> Vec<Option<Tensor>> {
        self.gradients.to_vec()
    }

    /// Returns, for each differentiable tensor, whether its gradient is requested.
    #[must_use]
    pub fn requested_gradient_flags(&self) -> Vec<bool> {
        self.needs.to_vec()
    }

    /// Appends the gradients of the next input.
    pub fn push_gradient(&mut self, gradient: impl Gradient) -> Result<()> {
        let needs = self.needs.get(self.out.len()..).unwrap_or_default();
        gradient.push_gradients(needs, &mut |gradient| self.out.push(gradient))
    }
}

/// A value that a derivative may return as the gradient of an input: a `Tensor`, an `Option<Tensor>`, or a closure that computes it. The
/// closure is called only if the gradient is requested. For a list input, a `Vec` with one gradient per tensor.
#[diagnostic::on_unimplemented(
    message = "a derivative returns `{Self}` as the gradient of a tensor",
    label = "return a `Tensor`, an `Option<Tensor>`, or a closure that returns `Result<Tensor>`; for a list, a `Vec` of them"
)]
pub trait Gradient {
    /// Calls `to` with each gradient. Not public API.
    #[doc(hidden)]
    fn push_gradients(self, needs: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()>;
}

impl Gradient for Tensor {
    fn push_gradients(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        to(Some(self));
        Ok(())
    }
}

impl Gradient for Option<Tensor> {
    fn push_gradients(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        to(self);
        Ok(())
    }
}

impl Gradient for Vec<Tensor> {
    fn push_gradients(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        for gradient in self {
            to(Some(gradient));
        }
        Ok(())
    }
}

impl Gradient for Vec<Option<Tensor>> {
    fn push_gradients(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        self.into_iter().for_each(to);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce() -> Result<Tensor>> Gradient for F {
    fn push_gradients(self, needs: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        to(if needs.first() == Some(&true) { Some(self()?) } else { None });
        Ok(())
    }
}
