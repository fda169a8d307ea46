//! Dropout of elements or channels.
//!
//! The kept elements are scaled up, so that the mean stays the same.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Spec};

use crate::bernoulli__float;

/// Sets elements to zero with probability `p`, unless `train` is false. Returns the scaled result and the mask of the kept elements.
#[op_def(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    plan, out = "out", body = CompositeExplicitAutograd
)]
pub fn native_dropout(input: &Tensor, p: f64, train: Option<bool>) -> Result<(Tensor, Tensor)> {
    let [_, mask] = native_dropout::plan(input, p, train)?.outputs;
    let mut mask = mask.on(input.device())?;
    if train == Some(false) {
        crate::fill__scalar(&mut mask, true.into())?;
        return Ok((crate::clone(input, None)?, mask));
    }
    bernoulli__float(&mut mask, 1.0 - p, None)?;
    let result = native_dropout_backward(input, &mask, dropout_scale(p))?;
    Ok((result, mask))
}

#[op_plan(native_dropout)]
fn native_dropout_plan(input: &Tensor, p: f64, train: Option<bool>) -> Result<Plan<(), 2>, BadArgument> {
    let mask = if train == Some(false) { DType::Bool } else { check_dropout(input, p)? };
    Ok(Plan::new((), [Spec::like(input, input.dtype()), Spec::like(input, mask)]))
}

/// Checks the probability and the dtype of the input. Returns the dtype of the mask.
fn check_dropout(input: &Tensor, p: f64) -> Result<DType, BadArgument> {
    check_probability(p)?;
    if !(input.dtype().is_floating() || input.dtype().is_complex()) {
        return Err(BadArgument::dtype("input", input.dtype(), DTypes::FloatingOrComplex));
    }
    Ok(DType::Bool)
}

fn check_probability(p: f64) -> Result<(), BadArgument> {
    if (0.0..=1.0).contains(&p) { Ok(()) } else { Err(BadArgument::number("p", p, 0..=1)) }
}

/// Returns the factor of the kept elements: `1 / (1 - p)`, or 0 if `p` is 1.
#[must_use]
pub fn dropout_scale(p: f64) -> f64 {
    if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 }
}

/// Computes `grad_output * mask * scale`.
#[op_def(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    shape = pointwise, dtypes(floating, complex),
    dtype = float,
    out = "out"
)]
pub fn native_dropout_backward(_: ...) -> Result<Tensor>;

/// Sets elements to zero with probability `p` while training, and scales the others.
#[op_def("dropout(Tensor input, float p, bool train) -> Tensor")]
pub fn dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    check_probability(p)?;
    if p == 0.0 || !train || input.geometry().count() == 0 {
        return Ok(input.clone());
    }
    check_dropout(input, p)?;
    Ok(native_dropout(input, p, Some(true))?.0)
}

/// Sets elements to zero with probability `p` while training, and scales the others, in place.
#[op_def("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")]
pub fn dropout_(this: &mut Tensor, p: f64, train: bool) -> Result<()> {
    apply_dropout_in_place(this, p, train, DropoutUnit::Elements)
}

/// Sets whole channels to zero with probability `p` while training, and scales the others.
#[op_def("feature_dropout(Tensor input, float p, bool train) -> Tensor")]
pub fn feature_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    apply_dropout(input, p, train, DropoutUnit::Channels)
}

/// Sets whole channels to zero with probability `p` while training, and scales the others, in place.
#[op_def("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")]
pub fn feature_dropout_(this: &mut Tensor, p: f64, train: bool) -> Result<()> {
    apply_dropout_in_place(this, p, train, DropoutUnit::Channels)
}

/// Sets elements to the lower limit of [`selu`](crate::selu) with probability `p` while training, then restores mean and variance.
#[op_def("alpha_dropout(Tensor input, float p, bool train) -> Tensor")]
pub fn alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    apply_alpha_dropout(input, p, train, DropoutUnit::Elements)
}

/// Applies [`alpha_dropout`] in place.
#[op_def("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")]
pub fn alpha_dropout_(this: &mut Tensor, p: f64, train: bool) -> Result<()> {
    apply_alpha_dropout_in_place(this, p, train, DropoutUnit::Elements)
}

/// Applies [`alpha_dropout`] to whole channels.
#[op_def("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor")]
pub fn feature_alpha_dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    apply_alpha_dropout(input, p, train, DropoutUnit::Channels)
}

/// Applies [`feature_alpha_dropout`] in place.
#[op_def("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")]
pub fn feature_alpha_dropout_(this: &mut Tensor, p: f64, train: bool) -> Result<()> {
    apply_alpha_dropout_in_place(this, p, train, DropoutUnit::Channels)
}

/// The unit of a dropout: an element, or all elements of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DropoutUnit {
    Elements,
    Channels,
}

/// Draws a mask of ones (kept) and zeros (dropped). Returns `None` if nothing is dropped.
fn dropout_mask(input: &Tensor, p: f64, train: bool, unit: DropoutUnit) -> Result<Option<Tensor>> {
    check_probability(p)?;
    if p == 0.0 || !train || input.geometry().count() == 0 {
        return Ok(None);
    }
    check_dropout(input, p)?;
    let mut sizes = Dims::from_slice(input.sizes());
    if unit == DropoutUnit::Channels {
        if sizes.len() < 2 {
            return Err(BadArgument::rank("input", sizes.len(), 2..).into());
        }
        sizes[2..].fill(1);
    }
    let mut noise = crate::new_empty(input, &sizes, None, None, None, None)?;
    if input.dtype().is_complex() {
        let mut mask = crate::new_empty(input, &sizes, Some(DType::Bool), None, None, None)?;
        bernoulli__float(&mut mask, 1.0 - p, None)?;
        crate::copy_(&mut noise, &mask, false)?;
    } else {
        bernoulli__float(&mut noise, 1.0 - p, None)?;
    }
    Ok(Some(noise))
}

/// Draws the factor by which a dropout multiplies each element. Returns `None` if nothing is dropped.
fn dropout_factors(input: &Tensor, p: f64, train: bool, unit: DropoutUnit) -> Result<Option<Tensor>> {
    let mut noise = dropout_mask(input, p, train, unit)?;
    if let Some(noise) = &mut noise {
        crate::mul__scalar(noise, dropout_scale(p).into())?;
    }
    Ok(noise)
}

fn apply_dropout(input: &Tensor, p: f64, train: bool, unit: DropoutUnit) -> Result<Tensor> {
    match dropout_factors(input, p, train, unit)? {
        Some(noise) => crate::mul(input, &noise),
        None => Ok(input.clone()),
    }
}

fn apply_dropout_in_place(this: &mut Tensor, p: f64, train: bool, unit: DropoutUnit) -> Result<()> {
    match dropout_factors(this, p, train, unit)? {
        Some(noise) => crate::mul_(this, &noise),
        None => Ok(()),
    }
}

/// Draws the factor and the summand of each element for alpha dropout. Returns `None` if nothing is dropped.
fn alpha_dropout_scale_and_shift(
    input: &Tensor,
    p: f64,
    train: bool,
    unit: DropoutUnit,
) -> Result<Option<[Tensor; 2]>> {
    /// The negative of the lower limit of `selu`.
    const NEGATED_SELU_LIMIT: f64 = 1.758_099_340_847_376_6;
    let Some(kept) = dropout_mask(input, p, train, unit)? else { return Ok(None) };
    // If nothing is kept, mean and variance cannot be restored.
    let scale =
        if p < 1.0 { ((NEGATED_SELU_LIMIT * NEGATED_SELU_LIMIT * p + 1.0) * (1.0 - p)).sqrt().recip() } else { 0.0 };
    let negated_limit = NEGATED_SELU_LIMIT * scale;
    let shift = crate::add_scalar(
        &crate::mul_scalar(&kept, negated_limit.into())?,
        (negated_limit * (p - 1.0)).into(),
        1.into(),
    )?;
    Ok(Some([crate::mul_scalar(&kept, scale.into())?, shift]))
}

fn apply_alpha_dropout(input: &Tensor, p: f64, train: bool, unit: DropoutUnit) -> Result<Tensor> {
    match alpha_dropout_scale_and_shift(input, p, train, unit)? {
        Some([noise, shift]) => crate::add(&crate::mul(input, &noise)?, &shift, 1.into()),
        None => Ok(input.clone()),
    }
}

fn apply_alpha_dropout_in_place(this: &mut Tensor, p: f64, train: bool, unit: DropoutUnit) -> Result<()> {
    let Some([noise, shift]) = alpha_dropout_scale_and_shift(this, p, train, unit)? else { return Ok(()) };
    crate::mul_(this, &noise)?;
    crate::add_(this, &shift, 1.into())
}
