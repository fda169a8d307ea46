//! Checks gradients of in-place forms. The written tensor is a copy of a leaf, and then a view of such a copy.

use aten::prelude::*;
use dispatch_runtime::{Geometry, Operator, Tensor};

use super::differentiated::{Inputs, cosines, floats, is_leaf, leaf};
use crate::array::{Array, places};
use crate::case::Case;
use crate::datum::Datum;
use crate::verdict::{Stop, Verdict, attempt, invoke};

pub(crate) fn check(case: &Case, form: &'static Operator) -> Vec<Verdict> {
    let (Some(Datum::Array(this)), [Datum::Array(result)]) = (case.arguments.first(), &case.expected[..]) else {
        return vec![Verdict::LeftOut("it does not give one tensor for one tensor")];
    };
    if !is_leaf(case, 0, this.dtype) {
        return Vec::new();
    }
    if case.is_arbitrary() {
        return vec![Verdict::LeftOut("its results are arbitrary")];
    }
    if !case.operator.schema().views().is_empty() {
        return vec![Verdict::LeftOut("its twin changes the geometry")];
    }
    if this.sizes != result.sizes || !result.dtype.is_floating() {
        return vec![Verdict::LeftOut("its result does not fit into its argument")];
    }
    let expected = match functional(case) {
        Ok(expected) => expected,
        Err(stop) => return vec![stop.into()],
    };
    let made = |check: fn(&Case, &'static Operator, &Expected) -> Result<(), Stop>, variant| {
        Verdict::from(check(case, form, &expected)).of(variant)
    };
    vec![made(through_a_base, "through a base"), made(through_a_view, "through a view")]
}

/// The gradients of the functional form for one cotangent.
struct Expected {
    seed: Array,
    gradients: Vec<Option<Vec<f64>>>,
}

fn functional(case: &Case) -> Result<Expected, Stop> {
    let inputs = Inputs::of(case)?;
    let results = inputs.call(case.operator)?;
    let seed = cosines(&inputs.leaves[0].tensor);
    let seeds = vec![seed.clone(); results.len()];
    let gradients = inputs.gradients(&results, &seeds)?;
    let gradients = gradients.iter().map(|gradient| gradient.as_ref().map(floats)).collect();
    Ok(Expected { seed, gradients })
}

fn through_a_base(case: &Case, form: &'static Operator, expected: &Expected) -> Result<(), Stop> {
    let mut inputs = Inputs::of(case)?;
    let base = attempt(|| aten::clone(&inputs.leaves[0].tensor, None))?;
    inputs.values[0] = base.clone().into();
    invoke(form, inputs.values.clone())?;
    let gradients = inputs.gradients(&[base], std::slice::from_ref(&expected.seed))?;
    inputs.compare(&gradients, &expected.gradients)
}

/// Checks the form on a view: the second half of a larger tensor, with reversed dimensions. Half of the cotangent comes through the view
/// and half through the base. The base's first half is not written, so its cotangent is its gradient.
fn through_a_view(case: &Case, form: &'static Operator, expected: &Expected) -> Result<(), Stop> {
    let mut inputs = Inputs::of(case)?;
    let half = Half::of(&expected.seed.sizes);
    let Some(this) = case.arguments[0].as_array().map(floats) else { return Ok(()) };
    let leaf = leaf(&half.whole(&vec![0.5; 2 * this.len()], &this), case.device)?;
    let (base, view) = attempt(|| {
        let base = aten::clone(&leaf, None)?;
        let view = half.view(&base)?;
        Ok((base, view))
    })?;
    inputs.leaves[0].tensor = leaf;
    inputs.values[0] = view.clone().into();
    invoke(form, inputs.values.clone())?;

    let through_whole = floats(&cosines(&base));
    let through_view: Vec<f64> = floats(&expected.seed).iter().map(|x| x / 2.0).collect();
    let seeds = [half.whole(&through_whole, &through_view), Array::floats(&expected.seed.sizes, &through_view)];
    let gradients = inputs.gradients(&[base, view], &seeds)?;
    let zeros = vec![0.0; this.len()];
    let of_half = expected.gradients[0].as_ref().unwrap_or(&zeros);
    let mut all = expected.gradients.clone();
    all[0] = Some(floats(&half.whole(&through_whole, of_half)));
    inputs.compare(&gradients, &all)
}

/// The second half of a contiguous tensor, with its dimensions in reverse order.
struct Half {
    sizes: Vec<i64>,
    places: Vec<usize>,
}

impl Half {
    fn of(sizes: &[i64]) -> Self {
        let reversed: Vec<i64> = sizes.iter().rev().copied().collect();
        let whole: Vec<i64> = [2].into_iter().chain(reversed).collect();
        let mut strides = Geometry::contiguous(&whole).strides().to_vec();
        let first = strides.remove(0);
        strides.reverse();
        Self { places: places(sizes, &strides, first), sizes: whole }
    }

    /// Returns `all` with the second half replaced by `half`.
    fn whole(&self, all: &[f64], half: &[f64]) -> Array {
        let mut all = all.to_vec();
        self.places.iter().zip(half).for_each(|(&place, &element)| all[place] = element);
        Array::floats(&self.sizes, &all)
    }

    fn view(&self, whole: &Tensor) -> dispatch_runtime::Result<Tensor> {
        let dims: Vec<i64> = (0..).take(self.sizes.len() - 1).collect();
        let reversed: Vec<i64> = dims.into_iter().rev().collect();
        aten::select_int(whole, 0, 1)?.permute(&reversed)
    }
}
