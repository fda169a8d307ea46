//! How values vary, and vary together.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, wrap_dim};

use crate::prelude::*;
use crate::{Fetch, nansum};

/// The means over these dimensions of what is a number.
#[op_def(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    out = "out"
)]
pub fn nanmean(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if !this.dtype().is_floating() && !this.dtype().is_complex() {
        return Err(BadArgument::dtype("self", this.dtype(), "floating or complex, for a mean has a fraction").into());
    }
    let counted = this.isnan()?.logical_not()?.sum_dim_intlist(Some(dim.unwrap_or_default()), keepdim)?;
    nansum(this, dim, keepdim, dtype)? / counted
}

/// How variables, which are rows, vary together over observations, which are columns.
#[op_def("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor")]
pub fn cov(this: &Tensor, correction: i64, fweights: Option<&Tensor>, aweights: Option<&Tensor>) -> Result<Tensor> {
    check_variables(this)?;
    let rows = if this.sizes().len() < 2 { this.reshape(&[1, -1])? } else { this.clone() };
    let count = rows.sizes()[1];
    check_weights("fweights", fweights, count, DType::is_integral, "whole numbers")?;
    check_weights("aweights", aweights, count, DType::is_floating, "floating")?;
    let weights = match (fweights, aweights) {
        (Some(often), Some(much)) => Some((often * much)?),
        (one, other) => one.or(other).cloned(),
    };
    let weighed = |rows: &Tensor| weights.as_ref().map_or_else(|| Ok(rows.clone()), |weights| rows * weights);
    let total = match &weights {
        Some(weights) => weights.sum()?,
        None => Tensor::number(Scalar::Int(count)),
    };
    let mean = (weighed(&rows)?.sum_dim_intlist(Some(&[1]), true)? / &total)?;
    let freedom = match (&weights, aweights) {
        (Some(weights), Some(much)) if correction != 0 => {
            (&total - (((weights * much)?.sum()? * correction)? / &total)?)?
        }
        _ => (&total - correction)?,
    };
    let centered = (rows - mean)?;
    let products = centered.mm(&weighed(&centered)?.t()?.conj()?)?;
    (products / freedom.clamp_min(0)?)?.squeeze()
}

fn check_variables(this: &Tensor) -> Result<(), BadArgument> {
    if this.sizes().len() > 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), "at most 2"));
    }
    if this.dtype() == DType::Bool {
        return Err(BadArgument::dtype("self", DType::Bool, "numbers"));
    }
    Ok(())
}

fn check_weights(
    name: &'static str,
    weights: Option<&Tensor>,
    count: i64,
    fits: impl Fn(DType) -> bool,
    kind: &str,
) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.sizes().len() > 1 {
        return Err(BadArgument::rank(name, weights.sizes().len(), "at most 1").into());
    }
    if !fits(weights.dtype()) {
        return Err(BadArgument::dtype(name, weights.dtype(), kind).into());
    }
    if weights.geometry().count() != count {
        return Err(BadArgument::sizes(name, weights.sizes(), format!("{count} weights, one for each column")).into());
    }
    if count > 0 && weights.device() != Device::META {
        if weights.lt_scalar(0)?.any()?.item()? {
            return Err(BadArgument::value(name, "a weight below zero", "weights of zero or more").into());
        }
        if weights.sum()?.item::<f64>()? == 0.0 {
            return Err(BadArgument::value(name, "weights that sum to zero", "a weight that is not zero").into());
        }
    }
    Ok(())
}

/// How variables vary together, from -1 to 1.
#[op_def("corrcoef(Tensor self) -> Tensor")]
pub fn corrcoef(this: &Tensor) -> Result<Tensor> {
    check_variables(this)?;
    let together = cov!(this)?;
    if together.sizes().is_empty() {
        // One variable goes with itself, unless it does not vary.
        return together.div(&together);
    }
    let deviations = together.diagonal(0, 0, 1)?.real()?.sqrt()?;
    let scaled = ((together / deviations.unsqueeze(1)?)? / deviations.unsqueeze(0)?)?;
    let kept = |part: &Tensor| part.clamp(Some(Scalar::Int(-1)), Some(Scalar::Int(1)));
    if !scaled.dtype().is_complex() {
        return kept(&scaled);
    }
    kept(&scaled.view_as_real()?)?.view_as_complex()
}

/// The values below which the shares `q` of a dimension lie.
#[op_def(
    r#"quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "out"
)]
pub fn quantile(this: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    Quantile { this, dim, keepdim, interpolation, ignores_nan: false }.at(q)
}

/// The value below which the share `q` of a dimension lies.
#[op_def(
    r#"quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "scalar_out"
)]
pub fn quantile_scalar(this: &Tensor, q: f64, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    Quantile { this, dim, keepdim, interpolation, ignores_nan: false }.at_one(q)
}

/// [`quantile`] of what is a number.
#[op_def(
    r#"nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "out"
)]
pub fn nanquantile(this: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    Quantile { this, dim, keepdim, interpolation, ignores_nan: true }.at(q)
}

/// [`quantile_scalar`] of what is a number.
#[op_def(
    r#"nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "scalar_out"
)]
pub fn nanquantile_scalar(
    this: &Tensor,
    q: f64,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor> {
    Quantile { this, dim, keepdim, interpolation, ignores_nan: true }.at_one(q)
}

struct Quantile<'a> {
    this: &'a Tensor,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &'a str,
    ignores_nan: bool,
}

impl Quantile<'_> {
    fn at_one(&self, q: f64) -> Result<Tensor> {
        let this = self.this;
        if !(0.0..=1.0).contains(&q) {
            return Err(BadArgument::value("q", q, "from 0 to 1").into());
        }
        self.ranked(&crate::scalar_tensor(q.into(), Some(this.dtype()), None, Some(this.device()), None)?)
    }

    fn at(&self, q: &Tensor) -> Result<Tensor> {
        if q.sizes().len() > 1 {
            return Err(BadArgument::rank("q", q.sizes().len(), "at most 1").into());
        }
        if q.dtype() != self.this.dtype() {
            return Err(BadArgument::dtype("q", q.dtype(), format!("{}, as `self` is", self.this.dtype())).into());
        }
        let inside = || q.ge_scalar(0)?.logical_and(&q.le_scalar(1)?)?.all()?.item();
        if q.device() != Device::META && !inside()? {
            return Err(BadArgument::value("q", "a share outside of them", "from 0 to 1").into());
        }
        self.ranked(q)
    }

    /// The elements in order, and between which of them the shares fall.
    fn ranked(&self, q: &Tensor) -> Result<Tensor> {
        let Self { this, dim, keepdim, interpolation, ignores_nan } = *self;
        if !matches!(this.dtype(), DType::F32 | DType::F64) {
            return Err(BadArgument::dtype("self", this.dtype(), "float32 or float64").into());
        }
        if this.geometry().count() == 0 {
            return Err(BadArgument::sizes("self", this.sizes(), "elements").into());
        }
        let rank = this.sizes().len();
        let at = dim.map(|dim| wrap_dim("dim", dim, rank)).transpose()?;
        let line = match dim {
            Some(dim) if rank > 0 => this.movedim_int(dim, -1)?,
            _ => this.reshape(&[-1])?,
        };
        let (sorted, _) = line.sort(-1, false)?;
        let shares = q.reshape(&[-1])?;
        let last = sorted.sizes().last().map_or(0, |length| length - 1);
        // A place for each share along the last dimension. Not a number is the largest of all.
        let places = if ignores_nan {
            let known = sorted.isnan()?.logical_not()?.sum_dim_intlist(Some(&[-1]), true)?;
            let places = ((known - 1)? * shares)?;
            places.masked_fill_scalar(&places.lt_scalar(0)?, 0)?
        } else {
            let unknown = sorted.isnan()?.any_dim(-1, true)?;
            (shares * last)?.masked_fill_scalar(&unknown, last)?
        };
        let values = |places: &Tensor| sorted.gather(-1, &places.to(DType::I64)?);
        let mut found = match interpolation {
            "lower" => values(&places.floor()?)?,
            "higher" => values(&places.ceil()?)?,
            "nearest" => values(&places.round()?)?,
            "linear" | "midpoint" => {
                let below = places.floor()?;
                let weight = if interpolation == "linear" { (&places - &below)? } else { places.full_like(0.5)? };
                values(&below)?.lerp(&values(&places.ceil()?)?, &weight)?
            }
            other => {
                let expected = "`linear`, `lower`, `higher`, `midpoint` or `nearest`";
                return Err(BadArgument::value("interpolation", other, expected).into());
            }
        };
        match at {
            Some(at) if keepdim && rank > 0 => found = found.unsqueeze(i64::try_from(at).unwrap_or(0))?,
            _ if keepdim => {
                for _ in 0..rank {
                    found = found.unsqueeze(0)?;
                }
            }
            _ => {}
        }
        if q.sizes().is_empty() { found.squeeze_dim(-1) } else { found.movedim_int(-1, 0) }
    }
}
