//! The backward function of a node.

use dispatch_runtime::{Result, Shared, Tensor};
use smallvec::smallvec;

use crate::derivative::Derivative;
use crate::error::GradientError;
use crate::graph::custom_function::{Backward, BackwardContext, CustomFunction};
use crate::graph::node::{Gradients, Node};
use crate::graph::saved::{SavedValue, SavedValues};
use crate::graph::views::CopySlices;

/// The backward function of a node.
pub(crate) enum BackwardFunction {
    /// The derivative of an operator, with its saved values.
    Derivative(&'static Derivative, SavedValues),
    /// The backward of a custom function.
    Custom(Box<CustomFunction<dyn Backward>>),
    /// The backward of a base whose view was written to by a call.
    CopySlices(Box<CopySlices>),
    /// The backward of an operator that overwrote its argument: no gradient goes to the argument before the write.
    Overwrite(String),
}

impl BackwardFunction {
    #[inline]
    pub(crate) fn from_derivative(rule: &'static Derivative) -> Self {
        Self::Derivative(rule, SavedValues::default())
    }

    pub(crate) fn from_custom(backward: impl Backward, saved: SavedValues) -> Self {
        Self::Custom(Box::new(CustomFunction { saved, backward }))
    }

    /// Returns the values that a derivative has saved so far. The node is not shared yet.
    #[inline]
    pub(crate) fn saved_values_mut(&mut self) -> &mut [SavedValue] {
        match self {
            Self::Derivative(_, saved) => saved.get_mut(),
            _ => &mut [],
        }
    }

    /// Saves one more value for a derivative. Does nothing for other functions.
    #[inline]
    pub(crate) fn save(&mut self, value: SavedValue) {
        if let Self::Derivative(_, saved) = self {
            saved.get_mut().push(value);
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Derivative(rule, _) => rule.operator().name().to_string(),
            Self::Custom(custom) => custom.backward.name(),
            Self::CopySlices(rebase) => rebase.writing_call().name(),
            Self::Overwrite(name) => name.clone(),
        }
    }

    /// Runs the function of a node: takes the gradients of the results and returns those of the inputs.
    pub(crate) fn run(self_node: &Shared<Node>, gradients: &mut [Option<Tensor>], needs: &[bool]) -> Result<Gradients> {
        let out = match self_node.function() {
            Self::Derivative(rule, saved) => {
                let mut unpacked = saved.unpack(self_node, |position| rule.saved_value_name(position))?;
                let mut out = Gradients::new();
                rule.run(self_node.results(), gradients, &mut unpacked, needs, &mut out)?;
                out
            }
            Self::Custom(custom) => {
                let ctx = BackwardContext { node: self_node, saved: &custom.saved, needs };
                custom.backward.backward(&ctx, gradients)?.into()
            }
            Self::CopySlices(rebase) => rebase.backward(gradients, needs)?,
            Self::Overwrite(_) => smallvec![None; needs.len()],
        };
        let (found, expected) = (out.len(), needs.len());
        if found != expected {
            return Err(GradientError::WrongGradientCount { operator: self_node.name(), found, expected }.into());
        }
        Ok(out)
    }

    /// Frees the saved values after the last backward pass.
    pub(crate) fn release(&self) {
        match self {
            Self::Derivative(_, saved) => saved.release(),
            Self::Custom(custom) => custom.saved.release(),
            Self::CopySlices(rebase) => rebase.writing_call().function().release(),
            Self::Overwrite(_) => {}
        }
    }

    /// Takes the function out, so that a drop does not recurse.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Overwrite(String::new()))
    }
}
