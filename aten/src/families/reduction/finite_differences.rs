//! Finite differences: `diff`, and `gradient`, which estimates derivatives from values at points.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Expected, reduced_dims, wrap_dim};

use crate::prelude::*;
use crate::{cat, check_call_count};

/// Computes the differences of neighbouring elements along a dimension, `n` times in succession.
#[op_def("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", out = "out")]
pub fn diff(this: &Tensor, n: i64, dim: i64, prepend: Option<&Tensor>, append: Option<&Tensor>) -> Result<Tensor> {
    let rank = this.sizes().len();
    if rank == 0 {
        return Err(BadArgument::rank("self", 0, 1..).into());
    }
    if n < 0 {
        return Err(BadArgument::number("n", n, 0..).into());
    }
    let at = wrap_dim("dim", dim, rank)?;
    for (name, beside) in [("prepend", prepend), ("append", append)] {
        let Some(beside) = beside else { continue };
        let others =
            |tensor: &Tensor| tensor.sizes().iter().enumerate().all(|(i, &size)| i == at || size == this.sizes()[i]);
        if beside.sizes().len() != rank || !others(beside) {
            let expected = format!("{:?}, as `self` has, in every dimension except {at}", this.sizes());
            return Err(BadArgument::sizes(name, beside.sizes(), expected).into());
        }
    }
    let mut current = match (prepend, append) {
        (None, None) => this.clone(),
        _ => cat(&[prepend, Some(this), append].into_iter().flatten().cloned().collect::<Vec<_>>(), dim)?,
    };
    let length = current.sizes()[at];
    if n == 0 || length == 0 {
        return crate::clone(&current, None);
    }
    if n >= length {
        return crate::clone(&current.narrow(dim, 0, 0)?, None);
    }
    check_call_count("n", n)?;
    for left in (length - n..length).rev() {
        let (before, behind) = (current.narrow(dim, 0, left)?, current.narrow(dim, 1, left)?);
        current = if current.dtype() == DType::Bool { behind.logical_xor(&before)? } else { (behind - before)? };
    }
    Ok(current)
}

/// Returns the two neighbours of each gap along a dimension: all elements but the last, and all elements but the first.
pub(super) fn left_and_right_neighbours(y: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    Ok((crate::slice(y, dim, None, Some(-1), 1)?, crate::slice(y, dim, Some(1), None, 1)?))
}

/// The distances of the points along a dimension.
enum Spacing<'a> {
    Uniform(Scalar),
    Coordinates(&'a Tensor),
}

/// Estimates the derivatives along `dim`, of points at distance 1.
#[op_def("gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]")]
pub fn gradient_array(this: &Tensor, dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    gradient_scalararray(this, Scalar::Int(1), dim, edge_order)
}

/// Estimates the derivatives along `dim`, of points at distance `spacing`.
#[op_def("gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]")]
pub fn gradient_scalararray(this: &Tensor, spacing: Scalar, dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    derivatives_along_dims(this, dim.iter().map(|_| Spacing::Uniform(spacing)).collect(), dim, edge_order)
}

/// Estimates the derivatives along `dim`, or along each dimension, of points at distance `spacing`.
#[op_def("gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]")]
pub fn gradient_scalarint(_: ...) -> Result<Vec<Tensor>> {
    gradient_scalararray(this, spacing.unwrap_or(Scalar::Int(1)), &dim_or_all_dims(this, dim), edge_order)
}

/// Estimates the derivatives along `dim`, with a distance of the points for each dimension.
#[op_def("gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]")]
pub fn gradient_scalarrayarray(this: &Tensor, spacing: &[Scalar], dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    derivatives_along_dims(this, spacing.iter().copied().map(Spacing::Uniform).collect(), dim, edge_order)
}

/// Estimates the derivatives along `dim`, or along each dimension, with a distance of the points for each dimension.
#[op_def("gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]")]
pub fn gradient_scalarrayint(_: ...) -> Result<Vec<Tensor>> {
    gradient_scalarrayarray(this, spacing, &dim_or_all_dims(this, dim), edge_order)
}

/// Estimates the derivatives along `dim`, with the coordinates of the points for each dimension.
#[op_def("gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]")]
pub fn gradient_tensorarray(this: &Tensor, spacing: &[Tensor], dim: &[i64], edge_order: i64) -> Result<Vec<Tensor>> {
    derivatives_along_dims(this, spacing.iter().map(Spacing::Coordinates).collect(), dim, edge_order)
}

/// Estimates the derivatives along `dim`, or along each dimension, with the coordinates of the points for each dimension.
#[op_def(
    "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
    calls = gradient_tensorarray(this, spacing, &dim_or_all_dims(this, dim), edge_order),
    check = wrap_dim("dim", dim.unwrap_or(0), this.sizes().len())
)]
pub fn gradient_tensorarrayint(_: ...) -> Result<Vec<Tensor>>;

fn dim_or_all_dims(this: &Tensor, dim: Option<i64>) -> Vec<i64> {
    dim.map_or_else(|| (0..).take(this.sizes().len()).collect(), |dim| vec![dim])
}

fn derivatives_along_dims(
    this: &Tensor,
    spacing: Vec<Spacing<'_>>,
    dims: &[i64],
    edge_order: i64,
) -> Result<Vec<Tensor>> {
    if !matches!(edge_order, 1 | 2) {
        return Err(BadArgument::number("edge_order", edge_order, 1..=2).into());
    }
    if matches!(this.dtype(), DType::U8 | DType::Bool) {
        return Err(BadArgument::dtype("self", this.dtype(), "a signed dtype").into());
    }
    if spacing.len() != dims.len() {
        return Err(BadArgument::length("spacing", spacing.len(), dims.len()).because("each dimension has one").into());
    }
    reduced_dims(this.sizes().len(), dims, "dim")?;
    dims.iter().zip(spacing).map(|(&dim, spacing)| derivative_along_dim(this, &spacing, dim, edge_order)).collect()
}

/// Estimates the derivative along one dimension: at inner points from both neighbours, at the ends from two or three points.
fn derivative_along_dim(this: &Tensor, spacing: &Spacing<'_>, dim: i64, edge_order: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let at = wrap_dim("dim", dim, rank)?;
    let length = this.sizes().get(at).copied().unwrap_or(1);
    if length <= edge_order {
        return Err(BadArgument::size("self", this.sizes(), at, Expected::Above(edge_order)).into());
    }
    let run = |start, count| this.narrow(dim, start, count);
    let (inside, last) = (length - 2, length - 1);
    let [first, middle, end] = match spacing {
        Spacing::Uniform(step) => {
            let center = ((run(2, inside)? - run(0, inside)?)? / (*step))?;
            let ends = if edge_order == 1 {
                [(run(1, 1)? - run(0, 1)?)?, (run(last, 1)? - run(last - 1, 1)?)?]
            } else {
                let three = |near: Tensor, next: Tensor, far: Tensor| ((near * 1.5)? - (next * 2.0)?)? + (far * 0.5)?;
                [
                    (-three(run(0, 1)?, run(1, 1)?, run(2, 1)?)?)?,
                    three(run(last, 1)?, run(last - 1, 1)?, run(last - 2, 1)?)?,
                ]
            };
            let [first, end] = ends;
            [(&first / (*step))?, (center / 2.0)?, (&end / (*step))?]
        }
        Spacing::Coordinates(coordinates) => {
            let &[count] = coordinates.sizes() else {
                return Err(BadArgument::rank("spacing", coordinates.sizes().len(), 1).into());
            };
            if count != length {
                return Err(BadArgument::size("spacing", &[count], 0, length).like_dim("self", at).into());
            }
            let mut sizes = Dims::from_elem(1, rank);
            sizes[at] = -1;
            let gaps = diff(coordinates, 1, 0, None, None)?.reshape(&sizes)?;
            let gap = |start, count| gaps.narrow(dim, start, count);
            // The weights of the points before, at and after each point, from the gaps on both sides.
            let (before, behind) = (gap(0, inside)?, gap(1, inside)?);
            let both = (&before + &behind)?;
            let outer = (((-&behind)? / (&before * &both)?)? * run(0, inside)?)?;
            let own = (((&behind - &before)? / (&before * &behind)?)? * run(1, inside)?)?;
            let center = ((outer + own)? + ((&before / (&behind * &both)?)? * run(2, inside)?)?)?;
            let ends = if edge_order == 1 {
                let edge = |start, gap: Tensor| (run(start + 1, 1)? - run(start, 1)?)? / gap;
                [edge(0, gap(0, 1)?)?, edge(last - 1, gap(last - 1, 1)?)?]
            } else {
                let three = |points: [i64; 3], near: Tensor, far: Tensor| -> Result<Tensor> {
                    let both = (&near + &far)?;
                    let own = ((((&near + &both)? / &near)? / &both)? * run(points[0], 1)?)?;
                    let next = (((&both / &near)? / &far)? * run(points[1], 1)?)?;
                    let beyond = (((&near / &far)? / &both)? * run(points[2], 1)?)?;
                    (own - next)? + beyond
                };
                [
                    (-three([0, 1, 2], gap(0, 1)?, gap(1, 1)?)?)?,
                    three([last, last - 1, last - 2], gap(last - 1, 1)?, gap(last - 2, 1)?)?,
                ]
            };
            let [first, end] = ends;
            [first, center, end]
        }
    };
    cat(&[first, middle, end], dim)
}
