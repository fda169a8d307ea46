//! Eigenvalues and eigenvectors, of Hermitian matrices and of any matrices.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use super::checks::{check_square_matrices, column_major, sizes_of_vectors};

/// Computes the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns. It reads only the triangle that
/// `UPLO` names. Without `compute_v`, the eigenvectors have no elements.
#[op_def(
    r#"_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)"#,
    plan,
    out = "eigenvalues"(eigenvalues, eigenvectors)
)]
pub fn _linalg_eigh(_: ...) -> Result<(Tensor, Tensor)>;

/// The plan of the eigenvalues of Hermitian matrices.
pub struct HermitianPlan {
    /// Whether the upper triangle is read instead of the lower one.
    pub reads_upper: bool,
}

#[op_plan(_linalg_eigh)]
fn eigh_plan(_: ...) -> Result<Plan<HermitianPlan, 2>, BadArgument> {
    check_square_matrices("A", A)?;
    let reads_upper = match UPLO {
        "L" | "l" => false,
        "U" | "u" => true,
        _ => return Err(BadArgument::keyword("UPLO", UPLO, &["L", "U"])),
    };
    let vectors = if compute_v { column_major(A.dtype(), A.sizes()) } else { Spec::contiguous(A.dtype(), &[0]) };
    let values = Spec::contiguous(A.dtype().to_real(), &sizes_of_vectors(A.sizes()));
    Ok(Plan::new(HermitianPlan { reads_upper }, [values, vectors]))
}

/// Computes the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns. It reads only the triangle that
/// `UPLO` names.
#[op_def(
    r#"linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)"#,
    out = "eigvals"(eigvals, eigvecs)
)]
pub fn linalg_eigh(this: &Tensor, UPLO: &str) -> Result<(Tensor, Tensor)> {
    eigh_plan(this, UPLO, true).map_err(named_self)?;
    _linalg_eigh(this, UPLO, true)
}

/// Computes the eigenvalues of Hermitian matrices in ascending order. It reads only the triangle that `UPLO` names.
#[op_def(r#"linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor"#, out = "out")]
pub fn linalg_eigvalsh(this: &Tensor, UPLO: &str) -> Result<Tensor> {
    eigh_plan(this, UPLO, false).map_err(named_self)?;
    Ok(_linalg_eigh(this, UPLO, false)?.0)
}

/// Returns the error of an inner operator for the composite's argument.
fn named_self(bad: BadArgument) -> BadArgument {
    if bad.argument == "A" { BadArgument { argument: "self".into(), ..bad } } else { bad }
}

/// Computes the eigenvalues of matrices, in no particular order, and eigenvectors of norm 1 as columns. Both are complex.
#[op_def(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    plan,
    out = "out"(eigenvalues, eigenvectors)
)]
pub fn linalg_eig(_: ...) -> Result<(Tensor, Tensor)>;

#[op_plan(linalg_eig)]
fn eig_plan(this: &Tensor) -> Result<Plan<(), 2>, BadArgument> {
    check_square_matrices("self", this)?;
    let dtype = this.dtype().to_complex();
    let values = Spec::contiguous(dtype, &sizes_of_vectors(this.sizes()));
    Ok(Plan::new((), [values, column_major(dtype, this.sizes())]))
}

/// Computes the eigenvalues of matrices, in no particular order. They are complex.
#[op_def("_linalg_eigvals(Tensor self) -> Tensor", plan)]
pub fn _linalg_eigvals(_: ...) -> Result<Tensor>;

#[op_plan(_linalg_eigvals)]
fn eigvals_plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_square_matrices("self", this)?;
    Ok(Plan::new((), [Spec::contiguous(this.dtype().to_complex(), &sizes_of_vectors(this.sizes()))]))
}

/// Computes the eigenvalues of matrices, in no particular order. They are complex.
#[op_def("linalg_eigvals(Tensor self) -> Tensor", out = "out")]
pub fn linalg_eigvals(this: &Tensor) -> Result<Tensor> {
    _linalg_eigvals(this)
}
