//! What is said about an operator's derivative, and what its function may look like.

use dispatch_runtime::{Operator, Result, Tensor};

use crate::graph::node::Gradients;
use crate::graph::outline::Outline;
use crate::graph::saved::Unpacked;

/// The rule of this layer: how an operator is differentiated, or that it is not.
#[doc(hidden)]
pub struct Derivative {
    pub operator: fn() -> &'static Operator,
    /// The arguments that it can be differentiated by, by position.
    pub inputs: &'static [usize],
    /// Which results it can be differentiated of.
    pub results: &'static [bool],
    /// What the function takes besides gradients, in order: arguments, then results.
    pub saved: &'static [Source],
    /// None where there is no derivative, on purpose.
    pub run: Option<Run>,
}

/// Where a saved value comes from.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// With a bit for each input whose gradient needs it.
    Argument(usize, u64),
    /// Only what an argument looks like.
    OutlineOf(usize),
    Result(usize),
    /// Only what a result looks like.
    OutlineOfResult(usize),
}

/// The generated function that knows the types of somebody's own.
#[doc(hidden)]
pub(crate) type Run = fn(&mut Backwards<'_>, &mut [Unpacked]) -> Result<()>;

/// One step back: the gradients that came in, and those that go out.
#[doc(hidden)]
pub struct Backwards<'a> {
    results: &'a [Outline],
    gradients: &'a mut [Option<Tensor>],
    needs: &'a [bool],
    out: &'a mut Gradients,
}

impl Derivative {
    pub(crate) fn operator(&self) -> &'static Operator {
        (self.operator)()
    }

    /// What the schema calls a saved value.
    pub(crate) fn saved_name(&self, position: usize) -> String {
        let schema = self.operator().schema();
        match self.saved.get(position) {
            Some(&(Source::Argument(i, _) | Source::OutlineOf(i))) => {
                schema.arguments.get(i).map(|argument| argument.name.clone()).unwrap_or_default()
            }
            Some(&(Source::Result(i) | Source::OutlineOfResult(i))) => {
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
        results: &[Outline],
        gradients: &mut [Option<Tensor>],
        saved: &mut [Unpacked],
        needs: &[bool],
        out: &mut Gradients,
    ) -> Result<()> {
        if let Some(run) = self.run {
            return run(&mut Backwards { results, gradients, needs, out }, saved);
        }
        out.resize(needs.len(), None);
        Ok(())
    }
}

impl Backwards<'_> {
    /// The gradient of a result; zeros where none came.
    pub fn gradient(&self, result: usize) -> Result<Tensor> {
        match &self.gradients[result] {
            Some(gradient) => Ok(gradient.clone()),
            None => self.results[result].zeros(),
        }
    }

    /// The gradient of a result, if one came.
    #[must_use]
    pub fn gradient_if_any(&self, result: usize) -> Option<Tensor> {
        self.gradients[result].clone()
    }

    /// All of them.
    #[must_use]
    pub fn gradients(&self) -> Vec<Option<Tensor>> {
        self.gradients.to_vec()
    }

    /// For each tensor whose gradient can be asked for, whether it is.
    #[must_use]
    pub fn needs(&self) -> Vec<bool> {
        self.needs.to_vec()
    }

    /// Takes the next gradients.
    pub fn give(&mut self, gradient: impl Gradient) -> Result<()> {
        let ahead = self.needs.get(self.out.len()..).unwrap_or_default();
        gradient.give(ahead, &mut |gradient| self.out.push(gradient))
    }
}

/// What a derivative may give as the gradient of an input: a tensor, perhaps one, or a closure that computes it, which is only called
/// where the gradient is asked for. For an input that is a list, a `Vec` with one for each.
#[diagnostic::on_unimplemented(
    message = "a derivative gives `{Self}` as the gradient of a tensor",
    label = "give a `Tensor`, an `Option<Tensor>`, or a closure that returns `Result<Tensor>`; for a list, a `Vec` of them"
)]
pub trait Gradient {
    /// Hands it on, or says that none was asked for. Not public API.
    #[doc(hidden)]
    fn give(self, needs: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()>;
}

impl Gradient for Tensor {
    fn give(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        to(Some(self));
        Ok(())
    }
}

impl Gradient for Option<Tensor> {
    fn give(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        to(self);
        Ok(())
    }
}

impl Gradient for Vec<Tensor> {
    fn give(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        for gradient in self {
            to(Some(gradient));
        }
        Ok(())
    }
}

impl Gradient for Vec<Option<Tensor>> {
    fn give(self, _: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        self.into_iter().for_each(to);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce() -> Result<Tensor>> Gradient for F {
    fn give(self, needs: &[bool], to: &mut dyn FnMut(Option<Tensor>)) -> Result<()> {
        to(if needs.first() == Some(&true) { Some(self()?) } else { None });
        Ok(())
    }
}
