//! Integrals by the trapezoidal rule, of functions given at points.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, wrap_dim};

use super::finite_differences::left_and_right_neighbours;
use crate::prelude::*;

fn check_trapezoid_arguments(y: &Tensor, x: Option<&Tensor>, dim: i64) -> Result<(), BadArgument> {
    for (name, tensor) in [("y", Some(y)), ("x", x)] {
        if tensor.is_some_and(|tensor| tensor.dtype() == DType::Bool) {
            return Err(BadArgument::dtype(name, DType::Bool, DTypes::Numeric));
        }
    }
    let at = wrap_dim("dim", dim, y.sizes().len())?;
    match (y.sizes().get(at), x.map(Tensor::sizes)) {
        (None, _) => Err(BadArgument::rank("y", 0, 1..)),
        (Some(points), Some(&[places])) if *points != places => {
            Err(BadArgument::size("x", &[places], 0, *points).like_dim("y", at))
        }
        _ => Ok(()),
    }
}

/// Checks that the gaps of the coordinates `x` broadcast with those of the points `y`.
fn check_coordinates(y: &Tensor, x: &Tensor, dim: i64) -> Result<(), BadArgument> {
    let (rank, own) = (y.sizes().len(), x.sizes().len());
    let from_end = rank - wrap_dim("dim", dim, rank)?;
    let gaps = |tensor: &Tensor| {
        let sizes = tensor.sizes();
        let mut sizes: Dims =
            std::iter::repeat_n(1, rank.saturating_sub(sizes.len())).chain(sizes.iter().copied()).collect();
        let at = sizes.len() - from_end;
        sizes[at] = (sizes[at] - 1).max(0);
        sizes
    };
    if own == 1 || rank == 0 || dispatch_runtime::broadcast([&gaps(y)[..], &gaps(x)[..]]).is_ok() {
        return Ok(());
    }
    let expected = format!("sizes that broadcast with {:?}, as `y` has, if both are one less along `dim`", y.sizes());
    Err(BadArgument::sizes("x", x.sizes(), expected))
}

/// Returns the distances of neighbouring points, in sizes that broadcast with the gaps of `y`.
fn coordinate_gaps(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    let (rank, own) = (y.sizes().len(), x.sizes().len());
    let mut sizes = Dims::from_elem(1, rank.saturating_sub(own));
    if own == 1 {
        sizes = Dims::from_elem(1, rank);
        sizes[wrap_dim("dim", dim, rank)?] = x.sizes()[0];
    } else {
        sizes.extend(x.sizes().iter().copied());
    }
    let (before, after) = left_and_right_neighbours(&x.reshape(&sizes)?, dim)?;
    after - before
}

/// Integrates along a dimension by the trapezoidal rule, with points at distance `dx`.
#[op_def("trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")]
pub fn trapezoid_dx(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
    check_trapezoid_arguments(y, None, dim)?;
    if y.sizes()[wrap_dim("dim", dim, y.sizes().len())?] == 0 {
        return y.sum_dims(dim)?.to(y.dtype());
    }
    let ends = ((y.select(dim, 0)? + y.select(dim, -1)?)? * 0.5)?;
    (y.sum_dims(dim)? - ends)? * dx
}

/// Integrates along a dimension by the trapezoidal rule, with points at the coordinates `x`.
#[op_def("trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", check = check_coordinates(y, x, dim))]
pub fn trapezoid_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    check_trapezoid_arguments(y, Some(x), dim)?;
    let (before, after) = left_and_right_neighbours(y, dim)?;
    ((before + after)? * coordinate_gaps(y, x, dim)?)?.sum_dims(dim)? / 2.0
}

/// Another name of [`trapezoid_dx`].
#[op_def("trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor")]
pub fn trapz_dx(y: &Tensor, dx: f64, dim: i64) -> Result<Tensor> {
    trapezoid_dx(y, Scalar::Float(dx), dim)
}

/// Another name of [`trapezoid_x`].
#[op_def("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", calls = trapezoid_x)]
pub fn trapz_x(_: ...) -> Result<Tensor>;

/// Computes the integrals up to each point except the first, by the trapezoidal rule, with points at distance `dx`.
#[op_def("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")]
pub fn cumulative_trapezoid_dx(y: &Tensor, dx: Scalar, dim: i64) -> Result<Tensor> {
    check_trapezoid_arguments(y, None, dim)?;
    let (before, after) = left_and_right_neighbours(y, dim)?;
    let half = match dx {
        Scalar::Complex(dx) => Scalar::Complex(dx / 2.0),
        dx => Scalar::Float(dx.to_f64().unwrap_or(f64::NAN) / 2.0),
    };
    // Halves before the cumulative sum, so that only the areas themselves can overflow.
    ((before + after)? * half)?.cumsum(dim)
}

/// Computes the integrals up to each point except the first, by the trapezoidal rule, with points at the coordinates `x`.
#[op_def("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", check = check_coordinates(y, x, dim))]
pub fn cumulative_trapezoid_x(y: &Tensor, x: &Tensor, dim: i64) -> Result<Tensor> {
    check_trapezoid_arguments(y, Some(x), dim)?;
    let (before, after) = left_and_right_neighbours(y, dim)?;
    ((before + after)? * coordinate_gaps(y, x, dim)?)?.cumsum(dim)? / 2.0
}
