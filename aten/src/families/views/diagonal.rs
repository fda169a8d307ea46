//! Diagonals and triangles of matrices.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Geometry, Problem, Spec, wrap_dim};

use crate::strided_view;

/// Returns a view of the elements on a diagonal of two dimensions, `offset` from the main one. The diagonal is the last dimension.
#[op_def(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    body = CompositeExplicitAutograd
)]
pub fn diagonal(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let (a, b) = (wrap_dim("dim1", dim1, rank)?, wrap_dim("dim2", dim2, rank)?);
    if a == b {
        return Err(BadArgument::new("dim2", Problem::RepeatedDim { dim: dim2 }).into());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(this.sizes()), Dims::from_slice(this.strides()));
    let down = offset.saturating_neg().max(0);
    let right = offset.max(0);
    let length = sizes[a].saturating_sub(down).min(sizes[b].saturating_sub(right)).max(0);
    let mut start = this.geometry().offset();
    if length > 0 {
        start = start.saturating_add(down.saturating_mul(strides[a])).saturating_add(right.saturating_mul(strides[b]));
    }
    let stride = strides[a].saturating_add(strides[b]);
    for dim in [a.max(b), a.min(b)] {
        sizes.remove(dim);
        strides.remove(dim);
    }
    sizes.push(length);
    strides.push(stride);
    strided_view(this, &sizes, &strides, start)
}

/// Returns the lower triangle of each matrix, with zeros above it.
#[op_def("tril(Tensor self, SymInt diagonal=0) -> Tensor", plan, inplace, out = "out")]
pub fn tril(_: ...) -> Result<Tensor>;

#[op_plan(tril)]
fn tril_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    triangle_plan(this)
}

/// Returns the upper triangle of each matrix, with zeros below it.
#[op_def("triu(Tensor self, SymInt diagonal=0) -> Tensor", plan, inplace, out = "out")]
pub fn triu(_: ...) -> Result<Tensor>;

#[op_plan(triu)]
fn triu_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    triangle_plan(this)
}

fn triangle_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    match this.sizes().len() {
        rank @ (0 | 1) => Err(BadArgument::rank("self", rank, 2..)),
        _ => Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())])),
    }
}

/// Matrices of zeros with the last dimension of `self` on a diagonal.
#[op_def("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", plan, float8, out = "out")]
pub fn diag_embed(_: ...) -> Result<Tensor>;

#[op_plan(diag_embed)]
fn diag_embed_plan(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Plan<()>, BadArgument> {
    let Some((&length, outer)) = this.sizes().split_last() else {
        return Err(BadArgument::rank("self", 0, 1..));
    };
    let rank = this.sizes().len() + 1;
    let (a, b) = (wrap_dim("dim1", dim1, rank)?, wrap_dim("dim2", dim2, rank)?);
    if a == b {
        return Err(BadArgument::new("dim2", Problem::RepeatedDim { dim: dim2 }));
    }
    let side = length.saturating_add(offset.saturating_abs());
    let mut sizes = Dims::from_slice(outer);
    sizes.insert(a.min(b), side);
    sizes.insert(a.max(b), side);
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &sizes)]))
}

#[op_impl(diag_embed, CompositeExplicitAutograd)]
fn diag_embed_composite(_plan: &(), out: &mut Tensor, this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<()> {
    crate::zero_(out)?;
    crate::copy_(&mut diagonal(out, offset, dim1, dim2)?, this, false)
}

/// Returns the diagonal of a matrix, or for a vector the matrix with this diagonal.
#[op_def("diag(Tensor self, int diagonal=0) -> Tensor", out = "out")]
pub fn diag(this: &Tensor, diagonal: i64) -> Result<Tensor> {
    match this.sizes().len() {
        1 => diag_embed(this, diagonal, 0, 1),
        2 => crate::diagonal_copy(this, diagonal, 0, 1),
        rank => Err(BadArgument::rank("self", rank, &[1, 2]).into()),
    }
}

/// Fills the diagonal with a value. With `wrap`, the diagonal of a tall matrix restarts after each square block.
#[op_def("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)")]
pub fn fill_diagonal_(this: &mut Tensor, fill_value: Scalar, wrap: bool) -> Result<()> {
    let (&[first, second, ..], rank) = (this.sizes(), this.sizes().len()) else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).into());
    };
    if rank > 2 && this.sizes().iter().any(|&size| size != first) {
        return Err(BadArgument::sizes(
            "self",
            this.sizes(),
            "equal sizes in all dimensions if there are more than two",
        )
        .into());
    }
    fill_value.check_fits("fill_value", this.dtype())?;
    let diagonal_length = this.sizes().iter().copied().min().unwrap_or(0);
    let step = this.strides().iter().fold(0_i64, |sum, &stride| sum.saturating_add(stride));
    let offset = this.geometry().offset();
    fill_strided_elements(this, (diagonal_length, step, offset), fill_value)?;
    if wrap && rank == 2 && first > second.saturating_add(1) {
        let below = second + 1;
        let all =
            i64::try_from(first.saturating_mul(second).unsigned_abs().div_ceil(below.unsigned_abs())).unwrap_or(0);
        let start = offset.saturating_add(this.strides()[0].saturating_mul(below));
        fill_strided_elements(this, (all - diagonal_length, step, start), fill_value)?;
    }
    Ok(())
}

fn fill_strided_elements(this: &Tensor, (count, step, offset): (i64, i64, i64), value: Scalar) -> Result<()> {
    match Geometry::strided(&[count], &[step], offset) {
        Some(geometry) if count > 0 => crate::fill__scalar(&mut this.restride(geometry)?, value),
        _ => Ok(()),
    }
}

/// Returns a view of a [`diagonal`](crate::diagonal), by default of the last two dimensions.
#[op_def("linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)")]
pub fn linalg_diagonal(a: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    diagonal(a, offset, dim1, dim2)
}

/// Returns the matrix with the elements of `self` on its diagonal.
#[op_def("diagflat(Tensor self, int offset=0) -> Tensor")]
pub fn diagflat(this: &Tensor, offset: i64) -> Result<Tensor> {
    diag(&crate::reshape(this, &[-1])?, offset)
}
