//! Checks gradients of in-place forms. The written tensor is a copy of a leaf, and then a view of such a copy.

use aten::prelude::*;
use dispatch_runtime::{Geometry, Operator, Tensor};

use super::differentiable_call::DifferentiableCall;
use super::differentiable_inputs::{DifferentiableInputs, cosine_cotangent, create_leaf, to_floats};
use crate::array::{Array, storage_indices};
use crate::datum::Datum;
use crate::reference_call::ReferenceCall;
use crate::verdict::{CallError, Verdict, call_catching_panics, catch_panics};

pub(crate) fn check(case: &ReferenceCall, form: &'static Operator) -> Vec<Verdict> {
    let (Some(Datum::Array(this)), [Datum::Array(result)]) = (case.arguments.first(), &case.expected[..]) else {
        return vec![Verdict::NotApplicable("it does not return one tensor for one tensor")];
    };
    if !case.is_leaf(0, this.dtype) {
        return Vec::new();
    }
    if case.is_unpredictable() {
        return vec![Verdict::NotApplicable("its results are unpredictable")];
    }
    if !case.operator.schema().views().is_empty() {
        return vec![Verdict::NotApplicable("its functional form returns a view")];
    }
    if this.sizes != result.sizes || !result.dtype.is_floating() {
        return vec![Verdict::NotApplicable("its result does not fit into its argument")];
    }
    let expected = match compute_functional_gradients(case) {
        Ok(expected) => expected,
        Err(error) => return vec![error.into()],
    };
    let run = |check: fn(&ReferenceCall, &'static Operator, &ExpectedGradients) -> Result<(), CallError>, variant| {
        Verdict::from(check(case, form, &expected)).with_context(variant)
    };
    vec![run(check_on_base, "through a base"), run(check_on_view, "through a view")]
}

/// The gradients of the functional form for one cotangent.
struct ExpectedGradients {
    seed: Array,
    gradients: Vec<Option<Vec<f64>>>,
}

fn compute_functional_gradients(case: &ReferenceCall) -> Result<ExpectedGradients, CallError> {
    let inputs = DifferentiableInputs::from_case(case)?;
    let results = inputs.call(case)?;
    let seed = cosine_cotangent(&inputs.leaves[0].tensor);
    let seeds = vec![seed.clone(); results.len()];
    let gradients = inputs.gradients(&results, &seeds)?;
    let gradients = gradients.iter().map(|gradient| gradient.as_ref().map(to_floats)).collect();
    Ok(ExpectedGradients { seed, gradients })
}

fn check_on_base(case: &ReferenceCall, form: &'static Operator, expected: &ExpectedGradients) -> Result<(), CallError> {
    let mut inputs = DifferentiableInputs::from_case(case)?;
    let base = catch_panics(|| aten::clone(&inputs.leaves[0].tensor, None))?;
    inputs.values[0] = base.clone().into();
    call_catching_panics(form, inputs.values.clone())?;
    let gradients = inputs.gradients(&[base], std::slice::from_ref(&expected.seed))?;
    inputs.compare_gradients(&gradients, &expected.gradients)
}

/// Checks the form on a view: the second half of a larger tensor, with reversed dimensions. Half of the cotangent comes through the view
/// and half through the base. The base's first half is not written, so its cotangent is its gradient.
fn check_on_view(case: &ReferenceCall, form: &'static Operator, expected: &ExpectedGradients) -> Result<(), CallError> {
    let mut inputs = DifferentiableInputs::from_case(case)?;
    let half = SecondHalfView::with_sizes(&expected.seed.sizes);
    let Some(this) = case.arguments[0].as_array().map(to_floats) else { return Ok(()) };
    let leaf = create_leaf(&half.base_elements(&vec![0.5; 2 * this.len()], &this), case.device)?;
    let (base, view) = catch_panics(|| {
        let base = aten::clone(&leaf, None)?;
        let view = half.view_of(&base)?;
        Ok((base, view))
    })?;
    inputs.leaves[0].tensor = leaf;
    inputs.values[0] = view.clone().into();
    call_catching_panics(form, inputs.values.clone())?;

    let through_whole = to_floats(&cosine_cotangent(&base));
    let through_view: Vec<f64> = to_floats(&expected.seed).iter().map(|x| x / 2.0).collect();
    let seeds =
        [half.base_elements(&through_whole, &through_view), Array::from_floats(&expected.seed.sizes, &through_view)];
    let gradients = inputs.gradients(&[base, view], &seeds)?;
    let zeros = vec![0.0; this.len()];
    let of_half = expected.gradients[0].as_ref().unwrap_or(&zeros);
    let mut all = expected.gradients.clone();
    all[0] = Some(to_floats(&half.base_elements(&through_whole, of_half)));
    inputs.compare_gradients(&gradients, &all)
}

/// The second half of a contiguous tensor, with its dimensions in reverse order.
struct SecondHalfView {
    sizes: Vec<i64>,
    base_indices: Vec<usize>,
}

impl SecondHalfView {
    fn with_sizes(sizes: &[i64]) -> Self {
        let reversed: Vec<i64> = sizes.iter().rev().copied().collect();
        let whole: Vec<i64> = [2].into_iter().chain(reversed).collect();
        let mut strides = Geometry::contiguous(&whole).strides().to_vec();
        let first = strides.remove(0);
        strides.reverse();
        Self { base_indices: storage_indices(sizes, &strides, first), sizes: whole }
    }

    /// Returns `all` with the second half replaced by `half`.
    fn base_elements(&self, all: &[f64], half: &[f64]) -> Array {
        let mut all = all.to_vec();
        self.base_indices.iter().zip(half).for_each(|(&place, &element)| all[place] = element);
        Array::from_floats(&self.sizes, &all)
    }

    fn view_of(&self, whole: &Tensor) -> dispatch_runtime::Result<Tensor> {
        let dims: Vec<i64> = (0..).take(self.sizes.len() - 1).collect();
        let reversed: Vec<i64> = dims.into_iter().rev().collect();
        aten::select_int(whole, 0, 1)?.permute(&reversed)
    }
}
