//! The strategy of an operator: how its calls are batched.

use std::fmt;

use aten::is_random;
use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Operator, ShapeWord, annotate};

use crate::level::is_decomposed;
use crate::rule::BatchRule;
use crate::slice_loop;
use crate::views::returns_views_of_arguments;

/// How calls of an operator are batched. If a strategy does not cover a call, the call is a loop over slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Strategy {
    /// The operator is decomposed, and its parts are batched.
    Decompose,
    /// The operator is random: [`Randomness`](crate::Randomness) of the mapped function decides.
    Random,
    /// An `#[op_vmap]` rule is called.
    Rule,
    /// The operator returns a view: the strides of a slice are changed for all slices.
    View,
    /// The shape word of the operator determines where the batch dimension goes.
    ShapeWord,
    /// The functional operator is called, and its result copied to the written argument.
    ViaFunctional,
    /// The call is an error: the results are no tensors, or their sizes depend on elements.
    Unsupported,
    /// The operator is called once per slice.
    Loop,
}

impl Strategy {
    /// Returns the strategy of an operator.
    ///
    /// ```
    /// use dispatch_vmap::Strategy;
    /// assert_eq!(Strategy::for_operator(aten::matmul::operator()), Strategy::Decompose);
    /// assert_eq!(Strategy::for_operator(aten::mm::operator()), Strategy::Rule);
    /// assert_eq!(Strategy::for_operator(aten::mul::operator()), Strategy::ShapeWord);
    /// ```
    #[must_use]
    pub fn for_operator(operator: &Operator) -> Self {
        if is_decomposed(operator) { Self::Decompose } else { Self::without_decomposition(operator) }
    }

    /// Returns the strategy of a call that was not decomposed, even if the operator has a decomposition.
    pub(crate) fn without_decomposition(operator: &Operator) -> Self {
        if is_random(operator) {
            Self::Random
        } else if operator.rule::<BatchRule>().is_some() {
            Self::Rule
        } else if returns_views_of_arguments(operator) {
            Self::View
        } else if shape_word(operator).is_some() {
            Self::ShapeWord
        } else if operator.functional().is_some() {
            Self::ViaFunctional
        } else if slice_loop::check_loop_allowed(operator).is_err() {
            Self::Unsupported
        } else {
            Self::Loop
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decompose => "by decomposition",
            Self::Random => "as `Randomness` selects",
            Self::Rule => "by its batch rule",
            Self::View => "as a change of strides",
            Self::ShapeWord => "by its shape word",
            Self::ViaFunctional => "by its functional operator, whose result is copied",
            Self::Unsupported => "not supported: its sizes depend on elements, or a result is not a tensor",
            Self::Loop => "by a loop over slices, which is slow",
        })
    }
}

annotate!("vmap", |operator| {
    let has_tensors = operator.schema().arguments.iter().any(|argument| argument.ty.is_tensor_like());
    has_tensors.then(|| Strategy::for_operator(operator).to_string())
});

/// Returns the shape word that determines the batching of a call. For an in-place operator, only a pointwise word of its functional
/// operator counts, and only if that operator has no batch rule.
pub(crate) fn shape_word(operator: &Operator) -> Option<ShapeWord> {
    let Some(functional) = operator.functional() else {
        let is_supported = |shape: &ShapeWord| {
            matches!(
                shape,
                ShapeWord::Pointwise { .. } | ShapeWord::Reduce { dims: Some(_), .. } | ShapeWord::Product { .. }
            )
        };
        return operator.shape_word().filter(is_supported);
    };
    let is_out = operator.schema().arguments.iter().any(Argument::is_out);
    let is_left = !is_out && functional.rule::<BatchRule>().is_none();
    functional.shape_word().filter(|shape| is_left && matches!(shape, ShapeWord::Pointwise { .. }))
}
