//! Cross products, Kronecker products and Vandermonde matrices.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, wrap_dim};

use crate::prelude::*;
use crate::{cat, mul};

/// The cross products of vectors of three elements along the dimension `dim`.
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
    let turned = |tensor: &Tensor, by| tensor.roll(by, dim);
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
    crate::check_same_dtype([("self", Some(this)), ("other", Some(other))])
}

/// The cross products of vectors of three elements along `dim`. The default is the first dimension of size 3.
#[op_def("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", out = "out", check = check_cross(this, other, dim.unwrap_or(0)))]
pub fn cross(this: &Tensor, other: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    let first = || this.sizes().iter().position(|&size| size == 3).and_then(|at| i64::try_from(at).ok());
    let Some(dim) = dim.or_else(first) else {
        return Err(BadArgument::sizes("self", this.sizes(), "size 3 in one of the dimensions").into());
    };
    linalg_cross!(this, other, dim = dim)
}

/// The Kronecker product: each element of `self` times the whole of `other`.
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

/// The Vandermonde matrix: along a new dimension, the powers 0 to `N - 1` of each element. The default of `N` is the last size.
#[op_def("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor")]
pub fn linalg_vander(x: &Tensor, n: Option<i64>) -> Result<Tensor> {
    let Some(&length) = x.sizes().last() else { return Err(BadArgument::rank("x", 0, 1..).into()) };
    match n.unwrap_or(length) {
        few @ ..=1 => Err(BadArgument::number("N", few, 2..).into()),
        count => ascending_vandermonde(x, count),
    }
}

/// The Vandermonde matrix of a vector: the powers of each element, the highest first unless `increasing`.
#[op_def("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")]
pub fn vander(x: &Tensor, n: Option<i64>, increasing: bool) -> Result<Tensor> {
    let &[length] = x.sizes() else { return Err(BadArgument::rank("x", x.sizes().len(), 1).into()) };
    let powers = match n.unwrap_or(length) {
        less @ ..0 => return Err(BadArgument::number("N", less, 0..).into()),
        count => ascending_vandermonde(x, count)?,
    };
    if increasing { Ok(powers) } else { powers.flip(1) }
}

fn ascending_vandermonde(x: &Tensor, count: i64) -> Result<Tensor> {
    let column = x.unsqueeze(-1)?;
    let mut sizes = Dims::from_slice(x.sizes());
    sizes.push((count - 1).max(0));
    let higher = column.expand(&sizes)?.cumprod(-1)?;
    let one = crate::ones_like(&column, Some(higher.dtype()), None, None, None, None)?;
    cat(&[one, higher], -1)?.narrow(-1, 0, count)
}
