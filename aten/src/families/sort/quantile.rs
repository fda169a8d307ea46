//! Quantiles.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, wrap_dim};

use crate::Convert;
use crate::prelude::*;

/// Computes the quantiles `q` along a dimension, or of all elements.
#[op_def(
    r#"quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "out"
)]
pub fn quantile(this: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    QuantileArguments { this, dim, keepdim, interpolation, ignores_nan: false }.quantiles_at(q)
}

/// Computes the quantile `q` along a dimension, or of all elements.
#[op_def(
    r#"quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "scalar_out"
)]
pub fn quantile_scalar(this: &Tensor, q: f64, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    QuantileArguments { this, dim, keepdim, interpolation, ignores_nan: false }.quantile_at(q)
}

/// Computes [`quantile`] of the elements that are not NaN.
#[op_def(
    r#"nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor"#,
    out = "out"
)]
pub fn nanquantile(this: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    QuantileArguments { this, dim, keepdim, interpolation, ignores_nan: true }.quantiles_at(q)
}

/// Computes [`quantile_scalar`] of the elements that are not NaN.
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
    QuantileArguments { this, dim, keepdim, interpolation, ignores_nan: true }.quantile_at(q)
}

struct QuantileArguments<'a> {
    this: &'a Tensor,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &'a str,
    ignores_nan: bool,
}

impl QuantileArguments<'_> {
    fn quantile_at(&self, q: f64) -> Result<Tensor> {
        let this = self.this;
        if !(0.0..=1.0).contains(&q) {
            return Err(BadArgument::number("q", q, 0..=1).into());
        }
        self.interpolate(&crate::scalar_tensor(q.into(), Some(this.dtype()), None, Some(this.device()), None)?)
    }

    fn quantiles_at(&self, q: &Tensor) -> Result<Tensor> {
        if q.sizes().len() > 1 {
            return Err(BadArgument::rank("q", q.sizes().len(), ..=1).into());
        }
        if q.dtype() != self.this.dtype() {
            return Err(BadArgument::dtype("q", q.dtype(), self.this.dtype()).like("self").into());
        }
        let inside = || q.ge(0)?.logical_and(&q.le(1)?)?.all()?.item();
        if q.device() != Device::META && !inside()? {
            return Err(BadArgument::value("q", "a tensor with an element outside of this range", "from 0 to 1").into());
        }
        self.interpolate(q)
    }

    /// Sorts the elements and interpolates between them at the ranks of the quantiles.
    fn interpolate(&self, q: &Tensor) -> Result<Tensor> {
        let Self { this, dim, keepdim, interpolation, ignores_nan } = *self;
        if !matches!(this.dtype(), DType::F32 | DType::F64) {
            return Err(BadArgument::dtype("self", this.dtype(), &[DType::F32, DType::F64]).into());
        }
        if this.geometry().count() == 0 {
            return Err(BadArgument::element_count("self", this.sizes(), 1..).into());
        }
        let rank = this.sizes().len();
        let at = dim.map(|dim| wrap_dim("dim", dim, rank)).transpose()?;
        let slices = match dim {
            Some(dim) if rank > 0 => this.movedim(dim, -1)?,
            _ => this.reshape(-1)?,
        };
        let (sorted, _) = slices.sort()?;
        let quantiles = q.reshape(-1)?;
        let last = sorted.sizes().last().map_or(0, |length| length - 1);
        // The rank of each quantile along the last dimension. NaN is sorted last.
        let ranks = if ignores_nan {
            let non_nan_count = sorted.isnan()?.logical_not()?.sum_keepdim(-1)?;
            let ranks = ((non_nan_count - 1)? * quantiles)?;
            ranks.masked_fill(&ranks.lt(0)?, 0)?
        } else {
            let has_nan = sorted.isnan()?.any_keepdim(-1)?;
            (quantiles * last)?.masked_fill(&has_nan, last)?
        };
        let values = |ranks: &Tensor| sorted.gather(-1, &ranks.to(DType::I64)?);
        let mut result = match interpolation {
            "lower" => values(&ranks.floor()?)?,
            "higher" => values(&ranks.ceil()?)?,
            "nearest" => values(&ranks.round()?)?,
            "linear" | "midpoint" => {
                let below = ranks.floor()?;
                let weight = if interpolation == "linear" { (&ranks - &below)? } else { ranks.full_like(0.5)? };
                values(&below)?.lerp(&values(&ranks.ceil()?)?, &weight)?
            }
            other => {
                return Err(BadArgument::keyword(
                    "interpolation",
                    other,
                    &["linear", "lower", "higher", "midpoint", "nearest"],
                )
                .into());
            }
        };
        match at {
            Some(at) if keepdim && rank > 0 => result = result.unsqueeze(i64::try_from(at).unwrap_or(0))?,
            _ if keepdim => {
                for _ in 0..rank {
                    result = result.unsqueeze(0)?;
                }
            }
            _ => {}
        }
        if q.sizes().is_empty() { result.squeeze_dims(-1) } else { result.movedim(-1, 0) }
    }
}
