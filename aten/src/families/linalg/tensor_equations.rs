//! Linear equations whose unknowns are tensors: several dimensions of a tensor are the rows or the columns of a matrix.

use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

use crate::prelude::*;
use crate::{linalg_inv, linalg_solve};

/// Inverts a tensor as a matrix, with its first `ind` dimensions as rows and the others as columns.
#[op_def("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", out = "out")]
pub fn linalg_tensorinv(this: &Tensor, ind: i64) -> Result<Tensor> {
    let rank = this.sizes().len();
    let split = usize::try_from(ind).ok().filter(|&split| (1..=rank).contains(&split));
    let Some(split) = split else {
        let rank = i64::try_from(rank).unwrap_or(i64::MAX);
        return Err(BadArgument::number("ind", ind, 1..=rank).into());
    };
    let (rows, columns) = this.sizes().split_at(split);
    let [height, width] = [rows, columns].map(count);
    if height != width {
        let expected = format!("as many elements in its first {split} dimensions as in the others");
        return Err(BadArgument::sizes("self", this.sizes(), expected).into());
    }
    linalg_inv(&this.reshape([height, width])?)?.reshape([columns, rows].concat())
}

/// Solves a linear equation: the product of `self` with the result, over the last dimensions of `self`, is `other`. The dimensions `dims` of
/// `self` are first moved to its end.
#[op_def("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", out = "out")]
pub fn linalg_tensorsolve(this: &Tensor, other: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
    crate::check_same_dtype([("self", Some(this)), ("other", Some(other))])?;
    let moved = match dims {
        Some(dims) => {
            let last: Vec<i64> = (1..).take(dims.len()).map(|from_end: i64| -from_end).collect();
            this.movedim(dims, last.into_iter().rev().collect::<Vec<_>>())?
        }
        None => this.clone(),
    };
    let rows = other.sizes().len();
    if rows > moved.sizes().len() {
        return Err(BadArgument::rank("self", moved.sizes().len(), rows..).like("other").into());
    }
    let (rows, columns) = moved.sizes().split_at(rows);
    let [height, width] = [rows, columns].map(count);
    if height != width || count(other.sizes()) != height {
        let expected = format!(
            "{} elements in its first {} dimensions and in the others, as `other` has sizes {:?}",
            count(other.sizes()),
            rows.len(),
            other.sizes()
        );
        return Err(BadArgument::sizes("self", this.sizes(), expected).into());
    }
    linalg_solve(&moved.reshape([height, width])?, &other.reshape(height)?, true)?.reshape(columns)
}

/// Returns the number of elements of a tensor of these sizes.
fn count(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |count: i64, &size| count.saturating_mul(size))
}
