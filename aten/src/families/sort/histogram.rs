//! Histograms of elements, and of points with several coordinates.
//!
//! Each operator searches the edges for the bin index of each point, and sums weights at these indices. A bin includes its lower edge and
//! not its upper edge, except for the last bin, which includes both.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, element_count};

use crate::tensors_with_capacity;
use crate::{check_same_device, linspace, prelude::*, searchsorted};

/// Counts the elements in `bins` equal bins of `range`, or of the elements' own range. Also returns the edges.
#[op_def(
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
    out = "bin_ct_out", body = CompositeExplicitAutograd
)]
pub fn histogram_bin_ct(_: ...) -> Result<(Tensor, Tensor)> {
    let points = this.reshape([-1, 1])?;
    let edges = bin_edges(&points, &[bins], range)?.remove(0);
    let weight = weight.map(|weight| weight.reshape(-1)).transpose()?;
    Ok((histogram_of_points(&points, std::slice::from_ref(&edges), weight.as_ref(), density)?, edges))
}

/// Counts the elements in the bins between the edges `bins`. Also returns the edges.
#[op_def(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
    out = "bins_tensor_out", body = CompositeExplicitAutograd
)]
pub fn histogram_bins_tensor(_: ...) -> Result<(Tensor, Tensor)> {
    let weight = weight.map(|weight| weight.reshape(-1)).transpose()?;
    let hist = histogram_of_points(&this.reshape([-1, 1])?, std::slice::from_ref(bins), weight.as_ref(), density)?;
    Ok((hist, crate::clone(bins, None)?))
}

/// Returns the edges of equal bins for each coordinate, of `range` or of the points' own ranges.
#[op_def(
    "_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor[]",
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn _histogramdd_bin_edges(_: ...) -> Result<Vec<Tensor>> {
    check_same_device([("self", this), ("weight", weight.unwrap_or(this))])?;
    bin_edges(&points_matrix(this)?, bins, range)
}

/// Counts the points in equal bins, with a number of bins for each coordinate.
#[op_def(
    "_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor",
    out = "out", body = CompositeExplicitAutograd,
    check = check_bins_and_weight(this, Some(bins.len()), weight)
)]
pub fn _histogramdd_from_bin_cts(_: ...) -> Result<Tensor> {
    let edges = bin_edges(&points_matrix(this)?, bins, range)?;
    _histogramdd_from_bin_tensors(this, &edges, weight, density)
}

/// Counts the points in bins, with a tensor of edges for each coordinate.
#[op_def(
    "_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor",
    out = "out", body = CompositeExplicitAutograd
)]
pub fn _histogramdd_from_bin_tensors(_: ...) -> Result<Tensor> {
    let weight = weight.map(|weight| weight.reshape(-1)).transpose()?;
    histogram_of_points(&points_matrix(this)?, bins, weight.as_ref(), density)
}

/// Counts the points in equal bins, with a number of bins for each coordinate. Also returns the edges.
#[op_def(
    "histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    check = check_bins_and_weight(this, Some(bins.len()), weight)
)]
pub fn histogramdd(_: ...) -> Result<(Tensor, Vec<Tensor>)> {
    let edges = _histogramdd_bin_edges(this, bins, range, weight, density)?;
    Ok((_histogramdd_from_bin_cts(this, bins, range, weight, density)?, edges))
}

/// Counts the points in equal bins, with the same number of bins for all coordinates. Also returns the edges.
#[op_def(
    "histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    check = check_bins_and_weight(this, None, weight)
)]
pub fn histogramdd_int_bins(_: ...) -> Result<(Tensor, Vec<Tensor>)> {
    let coordinates = this.sizes().last().copied().unwrap_or(0);
    // Refuses too many coordinates, as the list of edges has an entry for each.
    tensors_with_capacity("self", coordinates)?;
    histogramdd(this, &vec![bins; usize::try_from(coordinates).unwrap_or(0)], range, weight, density)
}

/// Counts the points in bins, with a tensor of edges for each coordinate. Also returns the edges.
#[op_def(
    "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
    check = check_bins_and_weight(this, Some(bins.len()), weight)
)]
pub fn histogramdd_tensorlist_bins(_: ...) -> Result<(Tensor, Vec<Tensor>)> {
    Ok((_histogramdd_from_bin_tensors(this, bins, weight, density)?, bins.to_vec()))
}

/// Checks that there are bins for each coordinate, and a weight for each point.
fn check_bins_and_weight(this: &Tensor, bins: Option<usize>, weight: Option<&Tensor>) -> Result<(), BadArgument> {
    let sizes = this.sizes();
    let &[ref rows @ .., coordinates] = sizes else { return Err(BadArgument::rank("self", 0, 2..)) };
    if let Some(bins) = bins.filter(|&bins| i64::try_from(bins) != Ok(coordinates)) {
        let expected = format!("bins for each of {coordinates} coordinates, as `self` has sizes {sizes:?}");
        return Err(BadArgument::value("bins", bins, expected));
    }
    if let Some(weight) = weight.filter(|weight| weight.geometry().count() != element_count(rows)) {
        let expected = format!("one for each point of `self`, which has sizes {sizes:?}");
        return Err(BadArgument::sizes("weight", weight.sizes(), expected));
    }
    Ok(())
}

/// Reshapes the points to a matrix, with one point per row.
fn points_matrix(this: &Tensor) -> Result<Tensor> {
    match this.sizes() {
        &[ref rows @ .., coordinates] if coordinates > 0 && !rows.is_empty() => {
            this.reshape([element_count(rows), coordinates])
        }
        sizes => {
            Err(BadArgument::sizes("self", sizes, "two or more dimensions, with one coordinate or more in the last")
                .into())
        }
    }
}

fn bin_edges(points: &Tensor, bins: &[i64], range: Option<&[f64]>) -> Result<Vec<Tensor>> {
    check_points_and_bins(points, bins.len(), "bins")?;
    if let Some(&few) = bins.iter().find(|&&count| count < 1) {
        return Err(BadArgument::number("bins", few, 1..).into());
    }
    let ends = match range {
        Some(range) if range.len() == 2 * bins.len() => range.to_vec(),
        Some(range) => {
            let expected = format!("a list with a lower and an upper end for each of {} coordinates", bins.len());
            return Err(BadArgument::value("range", format!("{range:?}"), expected).into());
        }
        None if points.sizes()[0] == 0 || points.device() == Device::META => [0.0, 1.0].repeat(bins.len()),
        None => {
            let numbers =
                |ends: Tensor| crate::to_device(&ends, Device::CPU, DType::F64, false, false, None)?.to_vec::<f64>();
            let (low, high) = (numbers(points.amin_dims(0)?)?, numbers(points.amax_dims(0)?)?);
            low.into_iter().zip(high).flat_map(|(low, high)| [low, high]).collect()
        }
    };
    let edges = bins.iter().zip(ends.chunks_exact(2)).map(|(&count, ends)| {
        let (low, high) = (ends[0], ends[1]);
        if !(low <= high && (high - low).is_finite()) {
            return Err(BadArgument::value(
                "range",
                format!("[{low}, {high}]"),
                "a finite range with the lower end first",
            )
            .into());
        }
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
        linspace(
            low.into(),
            high.into(),
            count.saturating_add(1),
            Some(points.dtype()),
            None,
            Some(points.device()),
            None,
        )
    });
    edges.collect()
}

fn check_points_and_bins(points: &Tensor, coordinates: usize, bins: &'static str) -> Result<(), BadArgument> {
    if !matches!(points.dtype(), DType::F32 | DType::F64) {
        return Err(BadArgument::dtype("self", points.dtype(), &[DType::F32, DType::F64]));
    }
    if usize::try_from(points.sizes()[1]) != Ok(coordinates) {
        let expected = usize::try_from(points.sizes()[1]).unwrap_or(0);
        return Err(BadArgument::length(bins, coordinates, expected).because("each coordinate has bins"));
    }
    Ok(())
}

/// Sums the weights of the points in each bin. Without weights, each point counts as one.
fn histogram_of_points(points: &Tensor, edges: &[Tensor], weight: Option<&Tensor>, density: bool) -> Result<Tensor> {
    check_points_and_bins(points, edges.len(), "bins")?;
    for edges in edges {
        if edges.sizes().len() != 1 || edges.sizes()[0] < 2 {
            return Err(BadArgument::size("bins", edges.sizes(), 0, 2..).into());
        }
        if edges.dtype() != points.dtype() {
            return Err(BadArgument::dtype("bins", edges.dtype(), points.dtype()).like("self").into());
        }
    }
    let weight = match weight {
        None => crate::new_ones(points, &points.sizes()[..1], None, None, None, None)?,
        Some(weight) if weight.dtype() != points.dtype() => {
            return Err(BadArgument::dtype("weight", weight.dtype(), points.dtype()).like("self").into());
        }
        Some(weight) if weight.sizes() != &points.sizes()[..1] => {
            return Err(BadArgument::sizes("weight", weight.sizes(), &points.sizes()[..1])
                .because("each point has one")
                .into());
        }
        Some(weight) => weight.clone(),
    };
    let sizes: Vec<i64> = edges.iter().map(|edges| edges.sizes()[0] - 1).collect();
    // Points outside of all bins are counted in one more bin, which is then dropped.
    let total = element_count(&sizes);
    let mut hist = crate::new_zeros(points, &[total.saturating_add(1)], None, None, None, None)?;
    let mut bin_index = crate::new_zeros(points, &points.sizes()[..1], None, None, None, None)?.to(DType::I64)?;
    let mut outside = bin_index.to(DType::Bool)?;
    for ((i, edges), &size) in (0..).zip(edges).zip(&sizes) {
        let coordinate = points.select(1, i)?.contiguous()?;
        let (first, last) = (edges.select(0, 0)?, edges.select(0, -1)?);
        let inside = coordinate.ge(&first)?.logical_and(&coordinate.le(&last)?)?;
        let bin = (searchsorted(edges, &coordinate, false, true, None, None)? - 1)?;
        bin_index = ((bin_index * size)? + bin.clamp_max(size - 1)?)?;
        outside = outside.logical_or(&inside.logical_not()?)?;
    }
    let bin_index = bin_index.masked_fill(&outside, total)?;
    hist = hist.scatter_add(0, &bin_index, &weight)?.narrow(0, 0, total)?;
    if density {
        hist = (&hist / hist.sum()?)?;
    }
    let mut hist = hist.reshape(&sizes)?;
    for (i, edges) in edges.iter().enumerate().filter(|_| density) {
        let mut width = vec![1; sizes.len()];
        width[i] = sizes[i];
        let widths = (edges.narrow(0, 1, sizes[i])? - edges.narrow(0, 0, sizes[i])?)?;
        hist = (hist / widths.reshape(&width)?)?;
    }
    // Copies the result, as `hist` is a view of a storage with one more bin.
    crate::clone(&hist, None)
}
