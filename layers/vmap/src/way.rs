//! What is said of an operator, and so what becomes of its calls in a mapped function.

use aten::is_random;
use dispatch_runtime::schema::Argument;
use dispatch_runtime::{Operator, Shape};

use crate::level::comes_apart;
use crate::rule::BatchRule;
use crate::slices;
use crate::views::gives_views;

/// How a call with a batch is made. Whatever says something does so for some calls at least; for the others there is a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Way {
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

impl Way {
    /// That of an operator.
    ///
    /// ```
    /// use dispatch_vmap::Way;
    /// assert_eq!(Way::of(aten::matmul::operator()), Way::Parts);
    /// assert_eq!(Way::of(aten::mm::operator()), Way::Rule);
    /// assert_eq!(Way::of(aten::mul::operator()), Way::Shape);
    /// ```
    #[must_use]
    pub fn of(operator: &Operator) -> Self {
        if comes_apart(operator) { Self::Parts } else { Self::in_one(operator) }
    }

    /// That of an operator which does not come apart any more.
    pub(crate) fn in_one(operator: &Operator) -> Self {
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
        } else if slices::check(operator).is_err() {
            Self::Refused
        } else {
            Self::Loop
        }
    }
}

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
