//! What is said of an operator, and so what becomes of its calls in a mapped function.

use std::fmt;

use aten::is_random;
use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Operator, Shape, annotate};

use crate::level::is_decomposed;
use crate::rule::BatchRule;
use crate::slice_loop;
use crate::views::gives_views;

/// How a call with a batch is made. Whatever says something does so for some calls at least; for the others there is a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Strategy {
    /// As calls of the operators that it is made of.
    Parts,
    /// As the mapped function's [`Randomness`](crate::Randomness) says.
    Random,
    /// By a rule of somebody's own.
    Rule,
    /// As a change of strides.
    View,
    /// By its shape word.
    Shape,
    /// As a call of its functional operator, whose result is copied.
    Form,
    /// Not at all: what it gives stands in the elements, or is no tensor.
    Refused,
    /// As a loop over slices.
    Loop,
}

impl Strategy {
    /// That of an operator.
    ///
    /// ```
    /// use dispatch_vmap::Strategy;
    /// assert_eq!(Strategy::of(aten::matmul::operator()), Strategy::Parts);
    /// assert_eq!(Strategy::of(aten::mm::operator()), Strategy::Rule);
    /// assert_eq!(Strategy::of(aten::mul::operator()), Strategy::Shape);
    /// ```
    #[must_use]
    pub fn of(operator: &Operator) -> Self {
        if is_decomposed(operator) { Self::Parts } else { Self::without_parts(operator) }
    }

    /// The strategy for a call that reached the layer whole, although its operator may have parts.
    pub(crate) fn without_parts(operator: &Operator) -> Self {
        if is_random(operator) {
            Self::Random
        } else if operator.rule::<BatchRule>().is_some() {
            Self::Rule
        } else if gives_views(operator) {
            Self::View
        } else if word(operator).is_some() {
            Self::Shape
        } else if operator.functional().is_some() {
            Self::Form
        } else if slice_loop::check(operator).is_err() {
            Self::Refused
        } else {
            Self::Loop
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parts => "through its parts",
            Self::Random => "as `Randomness` says",
            Self::Rule => "by a rule of its own",
            Self::View => "as a change of strides",
            Self::Shape => "by its shape word",
            Self::Form => "as its functional operator, whose result is copied",
            Self::Refused => "refused: its results stand in the elements, or are no tensors",
            Self::Loop => "by a loop over slices, which is slow",
        })
    }
}

annotate!("vmap", |operator| {
    let has_tensors = operator.schema().arguments.iter().any(|argument| argument.ty.is_tensor_like());
    has_tensors.then(|| Strategy::of(operator).to_string())
});

/// The shape word that speaks for a batch of arguments; for a form that writes one of them, that of elements alone. A rule of the functional
/// operator knows better.
pub(crate) fn word(operator: &Operator) -> Option<Shape> {
    let Some(functional) = operator.functional() else {
        let is_said = |shape: &Shape| {
            matches!(shape, Shape::Pointwise { .. } | Shape::Reduce { dims: Some(_), .. } | Shape::Product { .. })
        };
        return operator.shape().filter(is_said);
    };
    let is_out = operator.schema().arguments.iter().any(Argument::is_out);
    let is_left = !is_out && functional.rule::<BatchRule>().is_none();
    functional.shape().filter(|shape| is_left && matches!(shape, Shape::Pointwise { .. }))
}
