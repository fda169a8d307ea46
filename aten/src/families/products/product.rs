//! Products of matrices and vectors, which backends implement.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, Problem, Spec, result_dtype};

use crate::check_same_device;

/// The product of two matrices.
#[op_def("mm(Tensor self, Tensor mat2) -> Tensor", shape = "mk,kn->mn", out = "out")]
pub fn mm(_: ...) -> Result<Tensor>;

/// The matrix products of two batches of matrices.
#[op_def("bmm(Tensor self, Tensor mat2) -> Tensor", shape = "bmk,bkn->bmn", out = "out")]
pub fn bmm(_: ...) -> Result<Tensor>;

/// The product of a matrix and a vector.
#[op_def("mv(Tensor self, Tensor vec) -> Tensor", shape = "mk,k->m", out = "out")]
pub fn mv(_: ...) -> Result<Tensor>;

/// The dot product of two vectors.
#[op_def("dot(Tensor self, Tensor tensor) -> Tensor", shape = "k,k->", out = "out")]
pub fn dot(_: ...) -> Result<Tensor>;

/// The dot product of two vectors, with the conjugate of the first.
#[op_def("vdot(Tensor self, Tensor other) -> Tensor", shape = "k,k->", out = "out")]
pub fn vdot(_: ...) -> Result<Tensor>;

/// `beta * self + alpha * mat1 mat2`
#[op_def(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn addmm(_: ...) -> Result<Tensor>;

/// `beta * self + alpha * batch1 batch2`, for each matrix of the batch.
#[op_def(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn baddbmm(_: ...) -> Result<Tensor>;

/// `beta * self + alpha * P`, for the sum `P` of the matrix products of the batch.
#[op_def(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn addbmm(_: ...) -> Result<Tensor>;

/// `beta * self + alpha * mat vec`
#[op_def(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn addmv(_: ...) -> Result<Tensor>;

/// `beta * self + alpha * P`, for the outer product `P` of two vectors.
#[op_def(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    plan,
    inplace,
    out = "out"
)]
pub fn addr(_: ...) -> Result<Tensor>;

#[op_plan(addmm)]
fn addmm_plan(this: &Tensor, mat1: &Tensor, mat2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Plan<()>> {
    add_product_plan(this, [("mat1", mat1, "mk"), ("mat2", mat2, "kn")], "mn", [beta, alpha])
}

#[op_plan(baddbmm)]
fn baddbmm_plan(this: &Tensor, batch1: &Tensor, batch2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Plan<()>> {
    add_product_plan(this, [("batch1", batch1, "bmk"), ("batch2", batch2, "bkn")], "bmn", [beta, alpha])
}

#[op_plan(addbmm)]
fn addbmm_plan(this: &Tensor, batch1: &Tensor, batch2: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Plan<()>> {
    add_product_plan(this, [("batch1", batch1, "bmk"), ("batch2", batch2, "bkn")], "mn", [beta, alpha])
}

#[op_plan(addmv)]
fn addmv_plan(this: &Tensor, mat: &Tensor, vec: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Plan<()>> {
    add_product_plan(this, [("mat", mat, "mk"), ("vec", vec, "k")], "m", [beta, alpha])
}

#[op_plan(addr)]
fn addr_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    check_same_device([("self", this), ("vec1", vec1), ("vec2", vec2)])?;
    for (name, tensor) in [("vec1", vec1), ("vec2", vec2)] {
        if tensor.geometry().rank() != 1 {
            return Err(BadArgument::rank(name, tensor.geometry().rank(), 1));
        }
    }
    let sizes = [vec1.sizes()[0], vec2.sizes()[0]];
    check_broadcasts_to_product(this, &sizes)?;
    let dtype = result_dtype([this, vec1, vec2]);
    crate::check_scalars_fit(dtype, [("beta", beta), ("alpha", alpha)])?;
    Ok(Plan::new((), [Spec::contiguous(dtype, &sizes)]))
}

/// An operand of a product: its name, the tensor, and a letter for each dimension.
type OperandWithDimLetters<'a> = (&'static str, &'a Tensor, &'static str);

/// Checks an operator that adds a product to `self`, and returns its plan. Letters give the dimensions of the operands and of the product.
/// `self` must broadcast to the product. `factors` are `beta` and `alpha`.
fn add_product_plan(
    this: &Tensor,
    operands: [OperandWithDimLetters<'_>; 2],
    out: &str,
    factors: [Scalar; 2],
) -> Result<Plan<()>> {
    check_same_device([("self", this), (operands[0].0, operands[0].1), (operands[1].0, operands[1].1)])?;
    for (name, tensor, letters) in operands {
        if tensor.geometry().rank() != letters.len() {
            return Err(BadArgument::rank(name, tensor.geometry().rank(), letters.len()).into());
        }
        if tensor.dtype() != this.dtype() {
            return Err(BadArgument::dtype(name, tensor.dtype(), this.dtype()).like("self").into());
        }
    }
    let [first, second] = operands;
    let size = |letter| {
        let among = |(_, tensor, letters): OperandWithDimLetters<'_>| letters.find(letter).map(|at| tensor.sizes()[at]);
        among(first).or_else(|| among(second)).unwrap_or(1)
    };
    for (at, (letter, &found)) in second.2.chars().zip(second.1.sizes()).enumerate() {
        if size(letter) != found {
            let bad = BadArgument::size(second.0, second.1.sizes(), at, size(letter));
            return Err(bad.like_dim(first.0, first.2.find(letter).unwrap_or(0)).into());
        }
    }
    let sizes: Dims = out.chars().map(size).collect();
    check_broadcasts_to_product(this, &sizes)?;
    let factors = [("beta", factors[0]), ("alpha", factors[1])];
    // A vector is scaled in its own dtype, which must represent the factors.
    if sizes.len() == 1 {
        crate::check_scalars_fit(this.dtype(), factors)?;
    } else {
        crate::check_scalars_fit_compute_dtype(this.dtype(), factors)?;
    }
    Ok(Plan::new((), [Spec::contiguous(this.dtype(), &sizes)]))
}

fn check_broadcasts_to_product(this: &Tensor, sizes: &[i64]) -> Result<(), BadArgument> {
    let own = this.sizes();
    let fits = own.len() <= sizes.len()
        && own.iter().rev().zip(sizes.iter().rev()).all(|(&own, &size)| own == size || own == 1);
    if fits {
        Ok(())
    } else {
        Err(BadArgument::new("self", Problem::Broadcast { sizes: own.to_vec(), with: sizes.to_vec() }))
    }
}

/// Computes [`addmm`], and `gelu` or `relu` of its result.
#[op_def(
    "_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False) -> Tensor",
    out = "out"
)]
pub fn _addmm_activation(_: ...) -> Result<Tensor> {
    let product = addmm(this, mat1, mat2, beta, alpha)?;
    if use_gelu { crate::gelu(&product, "none") } else { crate::relu(&product) }
}
