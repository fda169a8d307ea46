//! Products of several matrices, and powers of a matrix.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims};

use crate::mm;
use crate::prelude::*;

/// The matrix product of all tensors, in the order with the fewest multiplications. The first and the last may be vectors.
#[op_def("linalg_multi_dot(Tensor[] tensors) -> Tensor", out = "out", check = check_inner_sizes("tensors", tensors))]
pub fn linalg_multi_dot(tensors: &[Tensor]) -> Result<Tensor> {
    let [first, middle @ .., last] = tensors else {
        return Err(BadArgument::length("tensors", tensors.len(), 2..).into());
    };
    if let Some(odd) = middle.iter().find(|tensor| tensor.sizes().len() != 2) {
        return Err(BadArgument::rank("tensors", odd.sizes().len(), 2)
            .because("only the first and the last may be vectors")
            .into());
    }
    if let Some(odd) = [first, last].into_iter().find(|tensor| !matches!(tensor.sizes().len(), 1 | 2)) {
        return Err(BadArgument::rank("tensors", odd.sizes().len(), &[1, 2]).into());
    }
    let mut sizes = Dims::new();
    let mut matrices = tensors.to_vec();
    if let ([_], Some(row)) = (first.sizes(), matrices.first_mut()) {
        *row = first.unsqueeze(0)?;
    } else {
        sizes.push(first.sizes()[0]);
    }
    if let ([_], Some(column)) = (last.sizes(), matrices.last_mut()) {
        *column = last.unsqueeze(1)?;
    } else {
        sizes.push(last.sizes()[1]);
    }
    multiply_by_splits(&matrices, &cheapest_splits(&matrices))?.reshape(&sizes)
}

/// Checks that the inner sizes of neighbouring factors are equal.
fn check_inner_sizes(argument: &'static str, factors: &[Tensor]) -> Result<(), BadArgument> {
    for (at, pair) in factors.windows(2).enumerate() {
        let (left, right) = (pair[0].sizes(), pair[1].sizes());
        if let (Some(inner), Some(rows)) = (left.last(), right.first())
            && inner != rows
        {
            let expected = format!("{inner} in dimension 0, as the factor before it, number {at}, has sizes {left:?}");
            return Err(BadArgument::sizes(argument, right, expected));
        }
    }
    Ok(())
}

/// Finds the cheapest split of each run of matrices: `splits[length - 2][start]` is the length of its left part.
fn cheapest_splits(matrices: &[Tensor]) -> Vec<Vec<usize>> {
    let count = matrices.len();
    let sides: Vec<i128> = matrices.iter().map(|matrix| matrix.sizes()[0]).chain([0]).map(i128::from).collect();
    let width = |end: usize| i128::from(matrices[end - 1].sizes()[1]);
    let mut costs = vec![vec![0; count]];
    let mut splits = Vec::new();
    for length in 2..=count {
        let best = (0..=count - length).map(|start| {
            let cost = |cut: usize| -> i128 {
                let parts = costs[cut - 1][start] + costs[length - cut - 1][start + cut];
                parts + sides[start] * sides[start + cut] * width(start + length)
            };
            (1..length).map(|cut| (cost(cut), cut)).min().unwrap_or((0, 1))
        });
        let (cost, cuts): (Vec<i128>, Vec<usize>) = best.unzip();
        costs.push(cost);
        splits.push(cuts);
    }
    splits
}

fn multiply_by_splits(matrices: &[Tensor], splits: &[Vec<usize>]) -> Result<Tensor> {
    fn multiply_range(matrices: &[Tensor], splits: &[Vec<usize>], start: usize, length: usize) -> Result<Tensor> {
        if length == 1 {
            return Ok(matrices[start].clone());
        }
        let cut = splits[length - 2][start];
        mm(
            &multiply_range(matrices, splits, start, cut)?,
            &multiply_range(matrices, splits, start + cut, length - cut)?,
        )
    }
    multiply_range(matrices, splits, 0, matrices.len())
}

/// The product of one or more matrices, in the order with the fewest multiplications.
#[op_def("chain_matmul(Tensor[] matrices) -> Tensor", out = "out", check = check_inner_sizes("matrices", matrices))]
pub fn chain_matmul(matrices: &[Tensor]) -> Result<Tensor> {
    if let Some(odd) = matrices.iter().find(|matrix| matrix.sizes().len() != 2) {
        return Err(BadArgument::rank("matrices", odd.sizes().len(), 2).into());
    }
    match matrices {
        [] => Err(BadArgument::length("matrices", 0, 1..).into()),
        [one] => Ok(one.clone()),
        several => linalg_multi_dot(several),
    }
}

/// The `n`th power of a square matrix. The power for a negative `n` is that of the inverse, which needs the feature `linalg`.
#[op_def("linalg_matrix_power(Tensor self, int n) -> Tensor", out = "out")]
pub fn linalg_matrix_power(this: &Tensor, n: i64) -> Result<Tensor> {
    let [.., rows, columns] = *this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).into());
    };
    if rows != columns {
        return Err(BadArgument::sizes("self", this.sizes(), "square matrices").into());
    }
    let base = if n < 0 { inverse(this, n)? } else { this.clone() };
    let mut left = n.unsigned_abs();
    if left == 0 {
        let one = crate::eye(rows, Some(this.dtype()), None, Some(this.device()), None)?;
        return one.expand(this.sizes())?.contiguous();
    }
    if left == 1 {
        return if n < 0 { Ok(base) } else { crate::clone(this, None) };
    }
    let (mut square, mut power) = (base, None::<Tensor>);
    loop {
        if left % 2 == 1 {
            power = Some(match power {
                Some(power) => power.matmul(&square)?,
                None => square.clone(),
            });
        }
        left /= 2;
        match power {
            Some(power) if left == 0 => return Ok(power),
            _ => square = square.matmul(&square)?,
        }
    }
}

/// The inverse of square matrices, for a negative power `n`.
#[cfg(feature = "linalg")]
fn inverse(this: &Tensor, _n: i64) -> Result<Tensor> {
    crate::linalg_inv(this)
}

#[cfg(not(feature = "linalg"))]
fn inverse(_this: &Tensor, n: i64) -> Result<Tensor> {
    Err(BadArgument::number("n", n, 0..).because("inverses need the feature `linalg`").into())
}

/// Another name of [`linalg_matrix_power`].
#[op_def("matrix_power(Tensor self, int n) -> Tensor", out = "out")]
pub fn matrix_power(this: &Tensor, n: i64) -> Result<Tensor> {
    linalg_matrix_power(this, n)
}
