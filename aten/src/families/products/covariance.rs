//! Covariance and correlation coefficients.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes};

use crate::Convert;
use crate::prelude::*;

/// The covariance matrix of variables (rows) over observations (columns).
#[op_def("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor")]
pub fn cov(this: &Tensor, correction: i64, fweights: Option<&Tensor>, aweights: Option<&Tensor>) -> Result<Tensor> {
    check_cov_input(this)?;
    let rows = if this.sizes().len() < 2 { this.reshape([1, -1])? } else { this.clone() };
    let count = rows.sizes()[1];
    check_cov_weights("fweights", fweights, count, DType::is_integral, DTypes::Integral)?;
    check_cov_weights("aweights", aweights, count, DType::is_floating, DTypes::Floating)?;
    let weights = match (fweights, aweights) {
        (Some(frequencies), Some(importances)) => Some((frequencies * importances)?),
        (one, other) => one.or(other).cloned(),
    };
    let weighted = |rows: &Tensor| weights.as_ref().map_or_else(|| Ok(rows.clone()), |weights| rows * weights);
    let total = match &weights {
        Some(weights) => weights.sum()?,
        None => Tensor::number(Scalar::Int(count)),
    };
    let mean = (weighted(&rows)?.sum_keepdim(1)? / &total)?;
    let degrees_of_freedom = match (&weights, aweights) {
        (Some(weights), Some(importances)) if correction != 0 => {
            (&total - (((weights * importances)?.sum()? * correction)? / &total)?)?
        }
        _ => (&total - correction)?,
    };
    let centered = (rows - mean)?;
    let products = centered.mm(&weighted(&centered)?.t()?.conj()?)?;
    (products / degrees_of_freedom.clamp_min(0)?)?.squeeze()
}

fn check_cov_input(this: &Tensor) -> Result<(), BadArgument> {
    if this.sizes().len() > 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), ..=2));
    }
    if this.dtype() == DType::Bool {
        return Err(BadArgument::dtype("self", DType::Bool, DTypes::Numeric));
    }
    Ok(())
}

fn check_cov_weights(
    name: &'static str,
    weights: Option<&Tensor>,
    count: i64,
    fits: impl Fn(DType) -> bool,
    kind: DTypes,
) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.sizes().len() > 1 {
        return Err(BadArgument::rank(name, weights.sizes().len(), ..=1).into());
    }
    if !fits(weights.dtype()) {
        return Err(BadArgument::dtype(name, weights.dtype(), kind).into());
    }
    if weights.geometry().count() != count {
        return Err(BadArgument::element_count(name, weights.sizes(), count)
            .because("each column has a weight")
            .into());
    }
    if count > 0 && weights.device() != Device::META {
        if weights.lt(0)?.any()?.item()? {
            return Err(BadArgument::value(name, "a weight below zero", "weights of zero or more").into());
        }
        if weights.sum()?.item::<f64>()? == 0.0 {
            return Err(BadArgument::value(name, "weights that sum to zero", "a weight that is not zero").into());
        }
    }
    Ok(())
}

/// The matrix of correlation coefficients, from -1 to 1, of variables (rows) over observations (columns).
#[op_def("corrcoef(Tensor self) -> Tensor")]
pub fn corrcoef(this: &Tensor) -> Result<Tensor> {
    check_cov_input(this)?;
    let covariance = cov!(this)?;
    if covariance.sizes().is_empty() {
        // The correlation of a single variable with itself is 1, or NaN if its variance is 0.
        return crate::div(&covariance, &covariance);
    }
    let deviations = covariance.diagonal()?.real()?.sqrt()?;
    let scaled = ((covariance / deviations.unsqueeze(1)?)? / deviations.unsqueeze(0)?)?;
    let clamped = |part: &Tensor| part.clamp(-1..=1);
    if !scaled.dtype().is_complex() {
        return clamped(&scaled);
    }
    clamped(&scaled.view_as_real()?)?.view_as_complex()
}
