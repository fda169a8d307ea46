//! Products of several matrices, powers of one, and products that are not of rows and columns.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, wrap_dim};

use crate::prelude::*;
use crate::{cat, mm, mul};

/// The product of all tensors, in the order of the fewest multiplications; the first and the last may be vectors.
#[op_def("linalg_multi_dot(Tensor[] tensors) -> Tensor", out = "out", check = check_chain("tensors", tensors))]
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
    product(&matrices, &splits(&matrices))?.reshape(&sizes)
}

/// Refuses factors that do not fit their neighbours.
fn check_chain(argument: &'static str, factors: &[Tensor]) -> Result<(), BadArgument> {
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

/// Where each run of matrices is best cut in two: `splits[length - 2][start]`.
fn splits(matrices: &[Tensor]) -> Vec<Vec<usize>> {
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

fn product(matrices: &[Tensor], splits: &[Vec<usize>]) -> Result<Tensor> {
    fn run(matrices: &[Tensor], splits: &[Vec<usize>], start: usize, length: usize) -> Result<Tensor> {
        if length == 1 {
            return Ok(matrices[start].clone());
        }
        let cut = splits[length - 2][start];
        mm(&run(matrices, splits, start, cut)?, &run(matrices, splits, start + cut, length - cut)?)
    }
    run(matrices, splits, 0, matrices.len())
}

/// [`linalg_multi_dot`] of matrices alone, of which there may be one.
#[op_def("chain_matmul(Tensor[] matrices) -> Tensor", out = "out", check = check_chain("matrices", matrices))]
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

/// The product of a square matrix with itself, `n` times.
#[op_def("linalg_matrix_power(Tensor self, int n) -> Tensor", out = "out")]
pub fn linalg_matrix_power(this: &Tensor, n: i64) -> Result<Tensor> {
    let [.., rows, columns] = *this.sizes() else {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).into());
    };
    if rows != columns {
        return Err(BadArgument::sizes("self", this.sizes(), "square matrices").into());
    }
    let Ok(mut left) = u64::try_from(n) else {
        return Err(BadArgument::number("n", n, 0..).because("nothing here inverts matrices").into());
    };
    if left == 0 {
        let one = crate::eye(rows, Some(this.dtype()), None, Some(this.device()), None)?;
        return one.expand(this.sizes())?.contiguous();
    }
    if left == 1 {
        return crate::clone(this, None);
    }
    let (mut square, mut power) = (this.clone(), None::<Tensor>);
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

/// [`linalg_matrix_power`], as it is called elsewhere.
#[op_def("matrix_power(Tensor self, int n) -> Tensor", out = "out")]
pub fn matrix_power(this: &Tensor, n: i64) -> Result<Tensor> {
    linalg_matrix_power(this, n)
}

/// The vectors that are at right angles to two others, of three elements along a dimension.
#[op_def("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", out = "out", check = check_cross(this, other, dim))]
pub fn linalg_cross(this: &Tensor, other: &Tensor, dim: i64) -> Result<Tensor> {
    if this.sizes().len() != other.sizes().len() {
        return Err(BadArgument::rank("other", other.sizes().len(), this.sizes().len()).like("self").into());
    }
    if this.dtype() != other.dtype() {
        return Err(BadArgument::dtype("other", other.dtype(), this.dtype()).like("self").into());
    }
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    for (name, tensor) in [("self", this), ("other", other)] {
        if tensor.sizes().get(at) != Some(&3) {
            return Err(BadArgument::size(name, tensor.sizes(), at, 3).into());
        }
    }
    let turned = |tensor: &Tensor, by| tensor.roll(&[by], &[dim]);
    let first = mul(&turned(this, -1)?, &turned(other, -2)?)?;
    first - mul(&turned(this, -2)?, &turned(other, -1)?)?
}

fn check_cross(this: &Tensor, other: &Tensor, dim: i64) -> Result<(), BadArgument> {
    let rank = this.sizes().len();
    wrap_dim("dim", dim, rank)?;
    if other.sizes().len() != rank {
        return Err(BadArgument::rank("other", other.sizes().len(), rank).like("self"));
    }
    crate::check_broadcast([("self", this), ("other", other)])?;
    crate::check_dtypes([("self", Some(this)), ("other", Some(other))])
}

/// [`linalg_cross`] along the first dimension of three elements, unless another is named.
#[op_def("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", out = "out", check = check_cross(this, other, dim.unwrap_or(0)))]
pub fn cross(this: &Tensor, other: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let first = || this.sizes().iter().position(|&size| size == 3).and_then(|at| i64::try_from(at).ok());
    let Some(dim) = dim.or_else(first) else {
        return Err(BadArgument::sizes("self", this.sizes(), "3 in some dimension").into());
    };
    linalg_cross!(this, other, dim = dim)
}

/// Each element of one tensor times the whole other.
#[op_def("kron(Tensor self, Tensor other) -> Tensor", out = "out")]
pub fn kron(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let rank = this.sizes().len().max(other.sizes().len());
    let own = |tensor: &Tensor| -> Dims {
        std::iter::repeat_n(1, rank - tensor.sizes().len()).chain(tensor.sizes().iter().copied()).collect()
    };
    let (left, right) = (own(this), own(other));
    let sizes: Dims = left.iter().zip(&right).map(|(left, right)| left.saturating_mul(*right)).collect();
    let outer: Dims = left.iter().flat_map(|&size| [size, 1]).collect();
    let inner: Dims = right.iter().flat_map(|&size| [1, size]).collect();
    mul(&this.reshape(&outer)?, &other.reshape(&inner)?)?.reshape(&sizes)
}

/// The powers of each element along a new dimension, from 0 up to but not `N`; without it, as many as there are elements.
#[op_def("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor")]
pub fn linalg_vander(x: &Tensor, n: Option<i64>) -> Result<Tensor> {
    let Some(&length) = x.sizes().last() else { return Err(BadArgument::rank("x", 0, 1..).into()) };
    match n.unwrap_or(length) {
        few @ ..=1 => Err(BadArgument::number("N", few, 2..).into()),
        count => powers(x, count),
    }
}

/// The powers of each element of a vector, from the highest on unless they are to increase.
#[op_def("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")]
pub fn vander(x: &Tensor, n: Option<i64>, increasing: bool) -> Result<Tensor> {
    let &[length] = x.sizes() else { return Err(BadArgument::rank("x", x.sizes().len(), 1).into()) };
    let powers = match n.unwrap_or(length) {
        less @ ..0 => return Err(BadArgument::number("N", less, 0..).into()),
        count => powers(x, count)?,
    };
    if increasing { Ok(powers) } else { powers.flip(&[1]) }
}

fn powers(x: &Tensor, count: i64) -> Result<Tensor> {
    let column = x.unsqueeze(-1)?;
    let mut sizes = Dims::from_slice(x.sizes());
    sizes.push((count - 1).max(0));
    let higher = column.expand(&sizes)?.cumprod(-1)?;
    let one = crate::ones_like(&column, Some(higher.dtype()), None, None, None, None)?;
    cat(&[one, higher], -1)?.narrow(-1, 0, count)
}
