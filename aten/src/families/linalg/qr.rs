//! QR decompositions, and products with the reflectors that they consist of.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Spec};

use super::checks::{
    batch_sizes, check_dtype_like, check_matrices, check_system, column_major, sizes_of_vectors, with_matrix_sizes,
};
use crate::check_same_device;

/// Returns the factors of `A = Q R`: `Q` with orthonormal columns, and the upper triangular `R`. `Q` has as many columns as `A` if `mode` is
/// `reduced`, as many as rows if it is `complete`, and is empty if it is `r`.
#[op_def("linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", plan, out = "out")]
pub fn linalg_qr(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(linalg_qr)]
fn qr_plan(_: ...) -> Result<Plan<(), 2>, BadArgument> {
    let [rows, columns] = check_matrices("A", A)?;
    let size = rows.min(columns);
    let (q, r) = match mode {
        "reduced" => (Some([rows, size]), [size, columns]),
        "complete" => (Some([rows, rows]), [rows, columns]),
        "r" => (None, [size, columns]),
        other => return Err(BadArgument::keyword("mode", other, &["reduced", "complete", "r"])),
    };
    let q = q.map_or_else(|| Dims::from_slice(&[0]), |matrix| with_matrix_sizes(A.sizes(), matrix));
    let r = with_matrix_sizes(A.sizes(), r);
    Ok(Plan::new((), [column_major(A.dtype(), &q), column_major(A.dtype(), &r)]))
}

/// Returns a QR decomposition as LAPACK stores it: `R` and, below its diagonal, the vectors of the reflectors whose product is `Q`; and
/// their factors.
#[op_def("geqrf(Tensor self) -> (Tensor a, Tensor tau)", plan, out = "a")]
pub fn geqrf(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(geqrf)]
fn geqrf_plan(this: &Tensor) -> Result<Plan<(), 2>, BadArgument> {
    check_matrices("self", this)?;
    let tau = Spec::contiguous(this.dtype(), &sizes_of_vectors(this.sizes()));
    Ok(Plan::new((), [column_major(this.dtype(), this.sizes()), tau]))
}

/// Returns the first columns of the product of the reflectors that [`geqrf`] returned.
#[op_def("linalg_householder_product(Tensor input, Tensor tau) -> Tensor", plan, out = "out")]
pub fn linalg_householder_product(_: ...) -> Result<Tensor>;

#[op_plan(linalg_householder_product)]
fn householder_product_plan(input: &Tensor, tau: &Tensor) -> Result<Plan<()>, BadArgument> {
    let [rows, columns] = check_matrices("input", input)?;
    if rows < columns {
        return Err(BadArgument::sizes("input", input.sizes(), "at least as many rows as columns"));
    }
    check_reflectors(("input", input), ("tau", tau))?;
    Ok(Plan::new((), [column_major(input.dtype(), input.sizes())]))
}

/// Another name of [`linalg_householder_product`].
#[op_def("orgqr(Tensor self, Tensor input2) -> Tensor", out = "out")]
pub fn orgqr(this: &Tensor, input2: &Tensor) -> Result<Tensor> {
    linalg_householder_product(this, input2)
}

/// Multiplies `input3` by the product `Q` of the reflectors that [`geqrf`] returned: from the left, or from the right if not `left`. If
/// `transpose`, `Q` is replaced by its conjugate transpose.
#[op_def(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    plan,
    out = "out"
)]
pub fn ormqr(_: ...) -> Result<Tensor>;

#[op_plan(ormqr)]
fn ormqr_plan(this: &Tensor, input2: &Tensor, input3: &Tensor, left: bool) -> Result<Plan<()>, BadArgument> {
    let [rows, _] = check_matrices("self", this)?;
    check_reflectors(("self", this), ("input2", input2))?;
    check_same_device([("self", this), ("input3", input3)])?;
    check_dtype_like(("input3", input3), ("self", this))?;
    check_system(("input3", input3), ("self", rows), left)?;
    if batch_sizes(input3.sizes()) != batch_sizes(this.sizes()) {
        let expected = format!("the batch dimensions {:?}, as `self` has", batch_sizes(this.sizes()));
        return Err(BadArgument::sizes("input3", input3.sizes(), expected));
    }
    Ok(Plan::new((), [column_major(this.dtype(), input3.sizes())]))
}

/// Refuses factors that are not those of reflectors in the columns of a matrix.
fn check_reflectors(
    (name, reflectors): (&'static str, &Tensor),
    (other, tau): (&'static str, &Tensor),
) -> Result<(), BadArgument> {
    check_same_device([(name, reflectors), (other, tau)])?;
    check_dtype_like((other, tau), (name, reflectors))?;
    let limit = sizes_of_vectors(reflectors.sizes());
    let (batch, most) = limit.split_at(limit.len() - 1);
    match tau.sizes() {
        [before @ .., count] if before == batch && *count <= most[0] => Ok(()),
        found => {
            let expected = format!("the batch dimensions of `{name}`, and at most {} factors", most[0]);
            Err(BadArgument::sizes(other, found, expected))
        }
    }
}
