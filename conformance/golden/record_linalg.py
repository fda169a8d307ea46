"""Records calls of PyTorch's linear algebra. `python3 record_linalg.py` writes factorizations.jsonl.gz, linear_systems.jsonl.gz (solvers and
inverses), spectra.jsonl.gz (eigenvalues and singular values) and matrix_functions.jsonl.gz, in the format of ops.jsonl.gz."""

from pathlib import Path

import torch

from recorder import LINES, record, tensors, write

NAN, INF = float("nan"), float("inf")
F32, F64, C64, C128 = torch.float32, torch.float64, torch.complex64, torch.complex128
DTYPES = F64, C128, F32, C64
ATEN = torch.ops.aten

torch.manual_seed(27)


def random(*sizes, dtype=F64):
    """Returns normal random numbers with three decimals, which fit all dtypes and are short in the recording."""
    real = lambda: (torch.randn(sizes, dtype=F64) * 1000).round() / 1000
    return (torch.complex(real(), real()) if dtype.is_complex else real()).to(dtype)


def invertible(*sizes, dtype=F64):
    return random(*sizes, dtype=dtype) + 3 * torch.eye(sizes[-1], dtype=dtype)


def hermitian(*sizes, dtype=F64):
    matrix = random(*sizes, dtype=dtype)
    return matrix + matrix.mH


def positive(*sizes, dtype=F64):
    return hermitian(*sizes, dtype=dtype) + 4 * sizes[-1] * torch.eye(sizes[-1], dtype=dtype)


def layouts(matrix):
    """Returns the matrix with each of these strides: contiguous, column-major, with gaps, and expanded to a batch."""
    gaps = torch.zeros(*matrix.shape[:-2], 2 * matrix.shape[-2], matrix.shape[-1] + 1, dtype=matrix.dtype)[..., ::2, 1:]
    return matrix, matrix.mT.contiguous().mT, gaps.copy_(matrix), matrix.expand(2, *matrix.shape)


def record_everywhere(name, make, *more, out="", names=("out",), with_gradients=True, dtypes=DTYPES, sizes=((3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2), (2, 0, 0)), **named):
    """Records calls with matrices of these sizes and dtypes, with other layouts, and of the `out` form."""
    for dtype in dtypes:
        for one in sizes:
            record(name, make(*one, dtype=dtype), *more, with_gradients=with_gradients and dtype == F64, **named)
    for matrix in layouts(make(*sizes[0], dtype=F64))[1:] + layouts(make(*sizes[1], dtype=C64))[1:]:
        # The decomposition of a determinant is that of the transpose if the matrix is contiguous, and so is the copy that `record` passes.
        if name in ("_linalg_det", "_linalg_slogdet") and not matrix.is_complex() and matrix.clone().is_contiguous() != matrix.is_contiguous():
            continue
        record(name, matrix, *more, with_gradients=False, **named)
    if out:
        for matrix in (make(*sizes[1], dtype=F64), make(*sizes[0], dtype=C128)):
            record_out(name, out, names, matrix, *more, **named)


def call(name, *arguments, **named):
    base, _, overload = name.partition(".")
    return getattr(getattr(ATEN, base), overload or "default")(*arguments, **named)


def record_out(name, out, names, *arguments, **named):
    """Records the `out` form of a call, with tensors of the sizes of the results."""
    results = tensors(call(name, *arguments, **named))
    record(out, *arguments, **named, **{name: torch.zeros_like(result) for name, result in zip(names, results)}, with_gradients=False)


def record_if_accepted(name, *arguments, **named):
    try:
        record(name, *arguments, **named)
    except (RuntimeError, IndexError, ValueError):
        pass


SPECIAL = (
    torch.zeros(3, 3, dtype=F64), torch.ones(3, 3, dtype=F64), torch.eye(3, dtype=F64), torch.diag(torch.tensor([2.0, 0.0, -1.0], dtype=F64)),
    torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=F64), torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=F64),
    torch.tensor([[NAN, 1.0], [1.0, 2.0]], dtype=F64), torch.tensor([[INF, 1.0], [1.0, 2.0]], dtype=F64), torch.tensor([[1.0, 2.0], [NAN, 4.0]], dtype=F32),
    torch.stack([torch.eye(2, dtype=F64), torch.full((2, 2), NAN, dtype=F64), torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=F64)]),
    torch.tensor([[1e200, 1.0], [1.0, 1e-200]], dtype=F64), torch.tensor([[1e-30, 0.0], [0.0, 2e-30]], dtype=F32),
    torch.tensor([[0.0, 1.0j], [1.0j, 0.0]], dtype=C128), torch.tensor([[0.0, 1.0j], [-1.0j, 0.0]], dtype=C64),
)


def record_special(name, *more, only_moderate=False, **named):
    for matrix in SPECIAL:
        if not only_moderate or matrix.abs().max() < 1e9:
            record_if_accepted(name, matrix, *more, with_gradients=False, **named)


def record_cholesky():
    for upper in (False, True):
        record_everywhere("linalg_cholesky_ex", positive, upper=upper, out="linalg_cholesky_ex.L", names=("L", "info"), with_gradients=False)
        record_everywhere("linalg_cholesky", positive, upper=upper, out="linalg_cholesky.out")
        record_special("linalg_cholesky_ex", upper=upper)
        record_special("linalg_cholesky", upper=upper)
        factor = lambda *sizes, dtype: torch.linalg.cholesky(positive(*sizes, dtype=dtype), upper=upper)
        record_everywhere("cholesky_inverse", factor, upper, out="cholesky_inverse.out", dtypes=(F64, C128, F32))
        for dtype in DTYPES:
            for rows, matrix in (((3, 2), (3, 3)), ((2, 3, 1), (2, 3, 3)), ((3, 2), (2, 3, 3)), ((2, 1, 3, 2), (3, 3, 3)), ((0, 2), (0, 0)), ((3, 0), (3, 3)), ((0, 3, 2), (0, 3, 3))):
                one, other = random(*rows, dtype=dtype), factor(*matrix, dtype=dtype)
                record("cholesky_solve", one, other, upper, with_gradients=dtype == F64)
                if one.dim() == other.dim():
                    record("_cholesky_solve_helper", one, other, upper, with_gradients=False)
        record_out("cholesky_solve", "cholesky_solve.out", ("out",), random(2, 3, 2), factor(2, 3, 3, dtype=F64), upper)
        record_out("_cholesky_solve_helper", "_cholesky_solve_helper.out", ("out",), random(2, 3, 2), factor(2, 3, 3, dtype=F64), upper)
    record("linalg_cholesky_ex", positive(40, 40, dtype=F64), with_gradients=False)
    record("linalg_cholesky_ex", torch.diag(torch.tensor([1.0, -2.0, 3.0])), check_errors=False)


def record_lu():
    rectangles = (3, 3), (2, 3, 3), (4, 2), (2, 3, 4), (1, 1), (0, 0), (0, 3), (2, 3, 0)
    for pivot in (True,):
        record_everywhere("linalg_lu_factor_ex", random, pivot=pivot, sizes=rectangles, out="linalg_lu_factor_ex.out", names=("LU", "pivots", "info"))
        record_everywhere("linalg_lu_factor", random, pivot=pivot, sizes=rectangles[:5], dtypes=(F64, C64), out="linalg_lu_factor.out", names=("LU", "pivots"))
        record_everywhere("linalg_lu", random, pivot=pivot, sizes=rectangles, dtypes=(F64, C128, F32), out="linalg_lu.out", names=("P", "L", "U"))
    record_everywhere("_lu_with_info", random, sizes=rectangles[:5], dtypes=(F64, C64))
    record_special("linalg_lu_factor_ex")
    record_special("linalg_lu_factor")
    record_special("linalg_lu")
    record_special("_lu_with_info", True, False)
    for dtype in DTYPES:
        for sizes in rectangles:
            data, pivots = torch.linalg.lu_factor(random(*sizes, dtype=dtype))
            for unpack in ((True, True), (True, False), (False, True), (False, False)):
                record_if_accepted("lu_unpack", data, pivots, *unpack, with_gradients=dtype == F64 and unpack[0])
        for matrix, rows in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 2)), ((0, 0), (0, 2)), ((3, 3), (3, 0))):
            data, pivots = torch.linalg.lu_factor(invertible(*matrix, dtype=dtype))
            for left in (True, False):
                right = random(*(rows if left else (*rows[:-2], rows[-1], rows[-2])), dtype=dtype)
                for adjoint in (False, True):
                    record("linalg_lu_solve", data, pivots, right, left=left, adjoint=adjoint, with_gradients=dtype == F64)
            record("lu_solve", random(*rows, dtype=dtype), data, pivots, with_gradients=dtype == F64)
    data, pivots = torch.linalg.lu_factor(invertible(2, 3, 3))
    record_out("lu_unpack", "lu_unpack.out", ("P", "L", "U"), data, pivots)
    record_out("linalg_lu_solve", "linalg_lu_solve.out", ("out",), data, pivots, random(2, 3, 2))
    record_out("lu_solve", "lu_solve.out", ("out",), random(2, 3, 2), data, pivots)
    record("linalg_lu_factor_ex", random(40, 33), with_gradients=False)


def record_determinants():
    for name, out, names in (("linalg_det", "linalg_det.out", ("out",)), ("_linalg_det", "_linalg_det.result", ("result", "LU", "pivots")), ("det", "", ()),
                             ("linalg_slogdet", "linalg_slogdet.out", ("sign", "logabsdet")), ("slogdet", "slogdet.out", ("sign", "logabsdet")),
                             ("_linalg_slogdet", "_linalg_slogdet.sign", ("sign", "logabsdet", "LU", "pivots"))):
        record_everywhere(name, random, out=out, names=names, with_gradients=name[0] != "_")
        record_special(name)
    record_everywhere("logdet", lambda *sizes, dtype: invertible(*sizes, dtype=dtype))
    record_special("logdet")
    record("logdet", torch.diag(torch.tensor([1.0, -2.0])), with_gradients=False)
    for singular in SPECIAL[:2] + (torch.diag(torch.tensor([2.0, 0.0, -1.0], dtype=F64)), torch.diag(torch.tensor([0.0, 0.0, 1.0], dtype=F64))):
        record("linalg_det", singular)


def record_inverses():
    for name, out, names in (("linalg_inv_ex", "linalg_inv_ex.inverse", ("inverse", "info")), ("linalg_inv", "linalg_inv.out", ("out",)), ("inverse", "inverse.out", ("out",))):
        record_everywhere(name, invertible, out=out, names=names)
        record_special(name)
    for dtype in DTYPES:
        record("linalg_tensorinv", invertible(6, 6, dtype=dtype).reshape(2, 3, 6), 2, with_gradients=dtype == F64)
        record("linalg_tensorinv", invertible(6, 6, dtype=dtype).reshape(6, 3, 2), 1, with_gradients=dtype == F64)
        record("linalg_tensorinv", invertible(4, 4, dtype=dtype).reshape(2, 2, 1, 4), with_gradients=False)
        for sizes, rows, dims in (((2, 3, 6), (2, 3), None), ((6, 2, 3), (6,), None), ((2, 6, 3), (6,), [0, 2]), ((2, 3, 6), (2, 3), [2]), ((6, 6), (6,), [1])):
            sixth = invertible(6, 6, dtype=dtype)
            if dims == [0, 2]:
                matrix = sixth.reshape(6, 2, 3).permute(1, 0, 2)
            elif dims == [2]:
                matrix = sixth.reshape(sizes)
            else:
                matrix = sixth.reshape(sizes)
            record("linalg_tensorsolve", matrix, random(*rows, dtype=dtype), dims, with_gradients=dtype == F64)
    record_out("linalg_tensorinv", "linalg_tensorinv.out", ("out",), invertible(6, 6).reshape(2, 3, 6), 2)
    record_out("linalg_tensorsolve", "linalg_tensorsolve.out", ("out",), invertible(6, 6).reshape(2, 3, 6), random(2, 3))


def record_solvers():
    shapes = ((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 2)), ((3, 3), (2, 3, 2)), ((2, 3, 3), (3, 1)), ((3, 1, 2, 2), (2, 2, 1)), ((1, 1), (1, 1)), ((0, 0), (0, 2)), ((3, 3), (3, 0)), ((0, 2, 2), (0, 2, 1))
    for dtype in DTYPES:
        for matrix, rows in shapes:
            for left in (True, False):
                given = invertible(*matrix, dtype=dtype), random(*(rows if left else (*rows[:-2], rows[-1], rows[-2])), dtype=dtype)
                record("linalg_solve", *given, left=left, with_gradients=dtype == F64)
                record("linalg_solve_ex", *given, left=left, with_gradients=False)
                record("_linalg_solve_ex", *given, left=left, with_gradients=False)
                for upper in (True, False):
                    for unit in (True, False):
                        if dtype == F64 or dtype == C64 and upper != left:
                            record("linalg_solve_triangular", *given, upper=upper, left=left, unitriangular=unit, with_gradients=dtype == F64)
            given = random(*rows, dtype=dtype), invertible(*matrix, dtype=dtype)
            for flags in ((True, False, False), (False, True, False), (True, True, True)):
                if dtype == F64 or dtype == C64 and flags[0] == flags[1]:
                    record("triangular_solve", *given, *flags, with_gradients=dtype == F64)
        for matrix, rows in (((3, 3), (3,)), ((2, 3, 3), (2, 3)), ((2, 3, 3), (3,)), ((0, 0), (0,)), ((2, 2, 2), (2, 2))):
            record_if_accepted("linalg_solve", invertible(*matrix, dtype=dtype), random(*rows, dtype=dtype), with_gradients=dtype == F64)
            record_if_accepted("linalg_solve_ex", invertible(*matrix, dtype=dtype), random(*rows, dtype=dtype), with_gradients=False)
    for matrix in SPECIAL:
        rows = random(matrix.shape[-1], 2, dtype=matrix.dtype)
        for name in ("linalg_solve", "linalg_solve_ex", "_linalg_solve_ex"):
            record_if_accepted(name, matrix, rows, with_gradients=False)
        record_if_accepted("linalg_solve_triangular", matrix, rows, upper=True, with_gradients=False)
        record_if_accepted("triangular_solve", rows, matrix, with_gradients=False)
    for matrix in layouts(invertible(2, 3, 3))[1:3]:
        for rows in layouts(random(2, 3, 2))[:3]:
            record("linalg_solve", matrix, rows, with_gradients=False)
            record("linalg_solve_triangular", matrix, rows, upper=False, with_gradients=False)
            record("triangular_solve", rows, matrix, with_gradients=False)
    given = invertible(2, 3, 3), random(2, 3, 2)
    record_out("linalg_solve", "linalg_solve.out", ("out",), *given)
    record_out("linalg_solve_ex", "linalg_solve_ex.out", ("result", "info"), *given)
    record_out("_linalg_solve_ex", "_linalg_solve_ex.result", ("result", "LU", "pivots", "info"), *given)
    record_out("linalg_solve_triangular", "linalg_solve_triangular.out", ("out",), *given, upper=True)
    record_out("triangular_solve", "triangular_solve.X", ("X", "M"), given[1], given[0])
    for info, matrix in ((torch.zeros(2, dtype=torch.int32), False), (torch.tensor(0, dtype=torch.int32), True), (torch.zeros(0, dtype=torch.int32), False)):
        record("_linalg_check_errors", info, "linalg.inv", is_matrix=matrix)


def record_qr():
    rectangles = (3, 3), (2, 3, 3), (4, 2), (2, 2, 4), (1, 1), (0, 0), (0, 3), (3, 0), (0, 3, 2)
    for mode in ("reduced", "complete", "r"):
        record_everywhere("linalg_qr", random, mode, sizes=rectangles, out="linalg_qr.out", names=("Q", "R"), with_gradients=False)
        # MKL returns a finite element for a matrix with NaN if it computes no vectors.
        record_special("linalg_qr", mode, only_moderate=mode == "r")
    for sizes in rectangles[:5]:
        for mode in ("reduced", "complete"):
            record_if_accepted("linalg_qr", random(*sizes), mode)
    record_everywhere("geqrf", random, sizes=rectangles, out="geqrf.a", names=("a", "tau"), with_gradients=False)
    record("geqrf", random(40, 33), with_gradients=False)
    for dtype in DTYPES:
        for sizes in ((3, 3), (4, 2), (2, 4, 3), (1, 1), (0, 0), (3, 0), (0, 3, 2), (5, 3)):
            reflectors, tau = torch.geqrf(random(*sizes, dtype=dtype))
            tau = tau[..., :2] if sizes == (5, 3) else tau
            for name in ("linalg_householder_product", "orgqr"):
                record(name, reflectors, tau, with_gradients=dtype == F64)
            for left in (True, False):
                for transpose in (False, True):
                    rows = (*sizes[:-2], sizes[-2], 2) if left else (*sizes[:-2], 1, sizes[-2])
                    record_if_accepted("ormqr", reflectors, tau, random(*rows, dtype=dtype), left, transpose, with_gradients=dtype == F64)
        for name in ("linalg_householder_product", "orgqr"):
            record(name, random(2, 4, 3, dtype=dtype), random(2, 3, dtype=dtype), with_gradients=dtype == F64)
            record(name, random(2, 4, 3, dtype=dtype).mT.contiguous().mT, random(2, 2, dtype=dtype), with_gradients=False)
    reflectors, tau = torch.geqrf(random(2, 4, 3))
    record_out("linalg_householder_product", "linalg_householder_product.out", ("out",), reflectors, tau)
    record_out("orgqr", "orgqr.out", ("out",), reflectors, tau)
    record_out("ormqr", "ormqr.out", ("out",), reflectors, tau, random(2, 4, 2))


def record_ldl():
    for conjugate in (False, True):
        make = hermitian if conjugate else lambda *sizes, dtype: (lambda matrix: matrix + matrix.mT)(random(*sizes, dtype=dtype))
        record_everywhere("linalg_ldl_factor_ex", make, hermitian=conjugate, out="linalg_ldl_factor_ex.out", names=("LD", "pivots", "info"), with_gradients=False)
        record_everywhere("linalg_ldl_factor", make, hermitian=conjugate, out="linalg_ldl_factor.out", names=("LD", "pivots"), with_gradients=False, dtypes=(F64, C128))
        record_special("linalg_ldl_factor_ex", hermitian=conjugate)
        record("linalg_ldl_factor_ex", make(9, 9, dtype=F64), hermitian=conjugate, with_gradients=False)
        for dtype in DTYPES:
            for matrix, rows in (((3, 3), (3, 2)), ((2, 4, 4), (2, 4, 1)), ((4, 4), (2, 4, 2)), ((2, 3, 3), (3, 2)), ((0, 0), (0, 2)), ((5, 5), (5, 3))):
                data, pivots = torch.linalg.ldl_factor(make(*matrix, dtype=dtype), hermitian=conjugate)
                record("linalg_ldl_solve", data, pivots, random(*rows, dtype=dtype), hermitian=conjugate, with_gradients=False)
        data, pivots = torch.linalg.ldl_factor(make(2, 3, 3, dtype=F64), hermitian=conjugate)
        record_out("linalg_ldl_solve", "linalg_ldl_solve.out", ("out",), data, pivots, random(2, 3, 2), hermitian=conjugate)


def record_least_squares():
    shapes = ((4, 2), (4, 3)), ((2, 4, 3), (2, 4, 2)), ((2, 4), (2, 3)), ((3, 3), (3, 1)), ((0, 2), (0, 3)), ((2, 3, 2), (3, 2)), ((3, 2), (3,)), ((2, 3, 2), (2, 3))
    for dtype in DTYPES:
        for matrix, rows in shapes:
            given = random(*matrix, dtype=dtype), random(*rows, dtype=dtype)
            for driver in (None, "gels", "gelsy", "gelsd", "gelss") if dtype in (F64, C64) else (None,):
                record_if_accepted("linalg_lstsq", *given, driver=driver, with_gradients=dtype == F64 and driver is None)
    deficient = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0], [0.0, 2.0, 2.0]], dtype=F64)
    for driver in (None, "gelsy", "gelsd", "gelss"):
        for rcond in (None, 1e-3, 0.5):
            rows = random(4, 2)
            # Here, `gelsy` cuts singular values as the other drivers do. LAPACK estimates them, and cuts a factor.
            if rcond != 0.5 or driver in ("gelsd", "gelss"):
                record("linalg_lstsq", deficient, rows, rcond, driver=driver, with_gradients=False)
            record("linalg_lstsq", torch.zeros(3, 2, dtype=F64), random(3, 1), rcond, driver=driver, with_gradients=False)
    record_out("linalg_lstsq", "linalg_lstsq.out", ("solution", "residuals", "rank", "singular_values"), random(4, 2), random(4, 3), driver="gelsd")


# MKL's eigenvalues and singular values of a matrix with NaN, infinities or huge numbers are accidental, and some calls do not return.
def record_eigenvalues():
    sizes = (3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2), (2, 0, 0), (2, 2, 4, 4), (9, 9)
    for make in (hermitian, random):
        for triangle in ("L", "U", "l"):
            for name, out, names in (("linalg_eigh", "linalg_eigh.eigvals", ("eigvals", "eigvecs")), ("linalg_eigvalsh", "linalg_eigvalsh.out", ("out",))):
                record_everywhere(name, make, triangle, sizes=sizes if make == hermitian else sizes[:2], dtypes=DTYPES if triangle == "L" else (F64, C64), out=out, names=names, with_gradients=name == "linalg_eigvalsh" and make == hermitian)
    for compute in (True, False):
        record_everywhere("_linalg_eigh", hermitian, "U", compute, sizes=sizes, dtypes=(F64, C64), out="_linalg_eigh.eigenvalues", names=("eigenvalues", "eigenvectors"), with_gradients=False)
        record_special("_linalg_eigh", "L", compute, only_moderate=True)
    for name in ("linalg_eigh", "linalg_eigvalsh", "linalg_eig", "linalg_eigvals"):
        record_special(name, only_moderate=True)
    rotations = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=F64), torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=F64), torch.tensor([[2.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]], dtype=F32)
    for name, out, names in (("linalg_eig", "linalg_eig.out", ("eigenvalues", "eigenvectors")), ("linalg_eigvals", "linalg_eigvals.out", ("out",)), ("_linalg_eigvals", "", ())):
        for matrix in rotations:
            record(name, matrix, with_gradients=False)
        record_everywhere(name, random, sizes=sizes, with_gradients=False)
        for dtype in (F64, C64):
            matrix = random(2, 3, 3, dtype=dtype)
            if out:
                record_out(name, out, names, matrix)


def record_singular_values():
    sizes = (3, 3), (2, 3, 3), (4, 2), (2, 2, 4), (1, 1), (0, 0), (0, 3), (3, 0), (0, 3, 2), (2, 0, 3), (5, 1), (1, 4), (12, 9)
    for full in (False, True):
        record_everywhere("linalg_svd", random, full, sizes=sizes, out="linalg_svd.U", names=("U", "S", "Vh"), with_gradients=False)
        record_everywhere("svd", random, not full, sizes=sizes[:9], dtypes=(F64, C64), out="svd.U", names=("U", "S", "V"), with_gradients=False)
        for compute in (False, True):
            record_everywhere("_linalg_svd", random, full, compute, sizes=sizes[:9], dtypes=(F64, C64), out="_linalg_svd.U", names=("U", "S", "Vh"), with_gradients=False)
        record_special("linalg_svd", full, only_moderate=True)
        record_special("svd", not full, only_moderate=True)
    for sizes_of in ((3, 3), (2, 3, 4), (0, 3)):
        record("svd", random(*sizes_of), True, False, with_gradients=False)
        record("svd", random(*sizes_of, dtype=C64), False, False, with_gradients=False)
    record_everywhere("linalg_svdvals", random, sizes=sizes, out="linalg_svdvals.out")
    record_special("linalg_svdvals", only_moderate=True)
    record("linalg_svd", random(33, 40), False, with_gradients=False)


def record_pseudoinverses():
    sizes = (3, 3), (2, 3, 3), (4, 2), (2, 2, 4), (1, 1), (0, 0), (0, 3), (3, 0), (0, 3, 2), (2, 0, 3)
    deficient = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]], dtype=F64)
    nearly = torch.diag(torch.tensor([1.0, 1e-3, 1e-9], dtype=F64))
    batch = torch.stack([deficient, nearly, torch.eye(3, dtype=F64), torch.zeros(3, 3, dtype=F64)])
    record_everywhere("linalg_pinv.atol_rtol_float", random, sizes=sizes, out="linalg_pinv.atol_rtol_float_out")
    record_everywhere("linalg_pinv.atol_rtol_float", hermitian, hermitian=True, sizes=sizes[:2], out="linalg_pinv.atol_rtol_float_out")
    record_everywhere("linalg_pinv.atol_rtol_tensor", random, sizes=sizes, dtypes=(F64, C64), out="linalg_pinv.atol_rtol_tensor_out")
    record_everywhere("linalg_pinv", random, 1e-4, sizes=sizes[:4], dtypes=(F64, C64), out="linalg_pinv.out")
    record_everywhere("pinverse", random, sizes=sizes)
    record_everywhere("linalg_matrix_rank", random, 1e-4, sizes=sizes, dtypes=(F64, C64), out="linalg_matrix_rank.out")
    record_everywhere("linalg_matrix_rank.atol_rtol_float", random, sizes=sizes, out="linalg_matrix_rank.atol_rtol_float_out")
    for name in ("linalg_pinv.atol_rtol_float", "linalg_matrix_rank.atol_rtol_float", "pinverse"):
        record_special(name, only_moderate=True)
    for matrix in (deficient, nearly, batch):
        record("linalg_matrix_rank", matrix, 1e-2)
        record("linalg_matrix_rank", matrix, 1e-6, True)
        record("linalg_pinv", matrix, 1e-2, with_gradients=False)
        record("pinverse", matrix, 1e-6, with_gradients=False)
        record("linalg_pinv", matrix, 1e-6, True, with_gradients=False)
        for atol, rtol in ((None, None), (1e-2, None), (None, 1e-2), (1e-6, 1e-12), (0.0, 0.0), (None, 0.5)):
            for symmetric in (False, True):
                named = {"atol": atol, "rtol": rtol, "hermitian": symmetric}
                record("linalg_matrix_rank.atol_rtol_float", matrix, **named)
                if (atol, rtol) != (0.0, 0.0):
                    record("linalg_pinv.atol_rtol_float", matrix, **named, with_gradients=False)
                for make in (lambda number: torch.tensor(number, dtype=F64), lambda number: torch.full(matrix.shape[:-2], number, dtype=F64)):
                    named = {name: make(number) for name, number in (("atol", atol), ("rtol", rtol)) if number is not None}
                    record("linalg_matrix_rank.atol_rtol_tensor", matrix, **named, hermitian=symmetric, with_gradients=False)
                    if (atol, rtol) != (0.0, 0.0):
                        record("linalg_pinv.atol_rtol_tensor", matrix, **named, hermitian=symmetric, with_gradients=False)
        for tolerance in (torch.tensor(1e-2, dtype=F64), torch.full(matrix.shape[:-2], 1e-6, dtype=F64), torch.tensor([1e-2, 1e-6], dtype=F64).reshape(2, *[1] * (matrix.dim() - 2))):
            record("linalg_matrix_rank.tol_tensor", matrix, tolerance, with_gradients=False)
            record("linalg_matrix_rank.tol_tensor", matrix, tolerance, True, with_gradients=False)
            record_if_accepted("linalg_pinv.rcond_tensor", matrix, tolerance, with_gradients=False)
            record_if_accepted("linalg_pinv.rcond_tensor", matrix, tolerance, True, with_gradients=False)
    tolerance = torch.tensor(1e-2, dtype=F64)
    record_out("linalg_matrix_rank.tol_tensor", "linalg_matrix_rank.out_tol_tensor", ("out",), batch, tolerance)
    record_out("linalg_matrix_rank.atol_rtol_tensor", "linalg_matrix_rank.atol_rtol_tensor_out", ("out",), batch, atol=tolerance)
    record_out("linalg_pinv.rcond_tensor", "linalg_pinv.out_rcond_tensor", ("out",), batch, tolerance)


def record_norms():
    orders = 2, -2, 1, -1, INF, -INF
    sizes = (3, 3), (2, 3, 4), (1, 1), (2, 5, 2)
    for order in (*orders, "fro", "nuc"):
        overload, out = (".str_ord", ".str_ord_out") if isinstance(order, str) else ("", ".out")
        record_everywhere("linalg_matrix_norm" + overload, random, order, sizes=sizes, out="linalg_matrix_norm" + out)
        for dim, keepdim in (([0, 1], True), ([-1, 0], False), ([2, 1], True), ([1, 0], False)):
            record("linalg_matrix_norm" + overload, random(3, 4, 2), order, dim, keepdim)
        record("linalg_matrix_norm" + overload, random(3, 4, dtype=F32), order, [-2, -1], False, dtype=F64)
        record("linalg_matrix_norm" + overload, random(3, 4, dtype=C64), order, [-2, -1], False, dtype=C128)
        for empty in ((0, 0), (0, 3), (3, 0), (0, 3, 2)):
            record_if_accepted("linalg_matrix_norm" + overload, random(*empty), order, with_gradients=False)
        record_special("linalg_matrix_norm" + overload, order, only_moderate=True)
        name = "linalg_cond.p_str" if isinstance(order, str) else "linalg_cond"
        record_everywhere(name, invertible, order, sizes=((3, 3), (2, 3, 3), (1, 1)), out=name + ("_out" if isinstance(order, str) else ".out"), dtypes=(F64, C128, F32), with_gradients=order in (2, -2))
        # The nuclear norm of a singular matrix's inverse is a rounding error.
        if order != "nuc":
            record_special(name, order, only_moderate=True)
        for empty in ((0, 0), (2, 0, 0), (0, 3, 3)):
            record_if_accepted(name, random(*empty), order, with_gradients=False)
        name = "linalg_norm.ord_str" if isinstance(order, str) else "linalg_norm"
        record(name, random(3, 4), order)
        record(name, random(2, 3, 4), order, [0, 2], True)
        record(name, random(3, 4, dtype=C64), order, None, True)
        record(name, random(3, 4, dtype=F32), order, [0, 1], dtype=F64)
        record_out(name, name + ("_out" if isinstance(order, str) else ".out"), ("out",), random(2, 3, 4), order, [1, 2])
    record_everywhere("linalg_cond", random, sizes=((3, 3), (4, 2), (2, 2, 4)))
    for name, differentiable in (("linalg_norm", True), ("linalg__powsum", False)):
        for dtype in DTYPES:
            record(name, random(7, dtype=dtype), with_gradients=differentiable and dtype == F64)
            record(name, random(2, 3, 4, dtype=dtype), with_gradients=differentiable and dtype == F64)
            for order in (0, 0.5, 1, 2, 3, -1, -2, 2.5, *((INF, -INF) if differentiable else ())):
                for dim, keepdim in (([0], False), ([-1], True)):
                    record_if_accepted(name, random(3, 4, dtype=dtype), order, dim, keepdim, with_gradients=differentiable and dtype == F64)
                record_if_accepted(name, random(5, dtype=dtype), order, with_gradients=differentiable and dtype == F64)
        record(name, random(3, 4, dtype=F32), 2, [0], False, dtype=F64, with_gradients=False)
        record_if_accepted(name, random(3, 4).to(torch.bfloat16), 2, [0], with_gradients=False)
        record_if_accepted(name, random(3, 4).to(torch.float16), 1, [1], with_gradients=False)
        record_if_accepted(name, random(2, 3, 4), 2, [0, 1, 2], with_gradients=False)
        record_if_accepted(name, random(2, 3, 4), 3, [0, 2], True, with_gradients=False)
        record_if_accepted(name, random(0, 3), 2, [0], with_gradients=False)
        record_if_accepted(name, random(0, 3), 3, with_gradients=False)
        record_if_accepted(name, random(), with_gradients=False)
        record_if_accepted(name, torch.tensor([NAN, 1.0]), with_gradients=False)
        record_if_accepted(name, torch.tensor([INF, 1.0]), 1, with_gradients=False)
        record_if_accepted(name, random(4).t(), 2, [], with_gradients=False)
    record_out("linalg_norm", "linalg_norm.out", ("out",), random(2, 3), 2, [1])
    for keepdim in (False, True):
        for dtype in DTYPES:
            record("nuclear_norm", random(3, 4, dtype=dtype), keepdim, with_gradients=dtype == F64)
            record("nuclear_norm.dim", random(2, 3, 4, dtype=dtype), [0, 2], keepdim, with_gradients=dtype == F64)
            record("nuclear_norm.dim", random(2, 3, 4, dtype=dtype), [-1, 1], keepdim, with_gradients=False)
        record_out("nuclear_norm", "nuclear_norm.out", ("out",), random(3, 3), keepdim)
        record_out("nuclear_norm.dim", "nuclear_norm.dim_out", ("out",), random(3, 3, 2), [0, 1], keepdim)
    record("nuclear_norm", torch.zeros(0, 3, dtype=F64), with_gradients=False)
    for dtype in DTYPES:
        for one, other, dim in (((3,), (3,), -1), ((2, 3), (2, 3), 0), ((2, 3), (3,), -1), ((2, 1, 3), (4, 3), 2), ((0,), (0,), -1), ((2, 0), (2, 0), 1), ((0, 3), (3,), 1)):
            record("linalg_vecdot", random(*one, dtype=dtype), random(*other, dtype=dtype), dim=dim, with_gradients=dtype == F64)
    record("linalg_vecdot", random(2, 3).to(torch.bfloat16), random(2, 3).to(torch.bfloat16), with_gradients=False)
    record_out("linalg_vecdot", "linalg_vecdot.out", ("out",), random(2, 3), random(2, 3), dim=0)


def record_matrix_functions():
    sizes = (3, 3), (2, 3, 3), (1, 1), (0, 0), (0, 2, 2), (2, 0, 0), (2, 2, 4, 4), (2, 2)
    for scale in (1.0, 1e-3, 0.05, 5.0):
        make = lambda *sizes, dtype: (random(*sizes, dtype=F64 if not dtype.is_complex else C128) * scale).to(dtype)
        record_everywhere("linalg_matrix_exp", make, sizes=sizes if scale == 1.0 else sizes[:2], out="linalg_matrix_exp.out")
        record_everywhere("matrix_exp", make, sizes=sizes[:2], dtypes=(F64, C128, F32))
        for dtype in DTYPES:
            record("matrix_exp_backward", make(2, 3, 3, dtype=dtype), random(2, 3, 3, dtype=dtype), with_gradients=dtype == F64)
    spread = random(6, 3, 3) * torch.tensor([1e-4, 1e-2, 0.3, 1.0, 4.0, 20.0], dtype=F64)[:, None, None]
    record("linalg_matrix_exp", spread)
    record("linalg_matrix_exp", spread.to(F32), with_gradients=False)
    record("linalg_matrix_exp", torch.tensor([[0.0, 1.0], [-1.0, 0.0]]) * 1000, with_gradients=False)
    record_special("linalg_matrix_exp")
    for dtype in DTYPES:
        # PyTorch reads complex coefficients as real ones.
        record("_compute_linear_combination", random(3, 2, 2, dtype=dtype), random(4, 3, dtype=dtype.to_real()), with_gradients=False)
        record("_compute_linear_combination", random(3, dtype=dtype), random(2, 3, dtype=dtype.to_real()), with_gradients=False)
    record_out("_compute_linear_combination", "_compute_linear_combination.out", ("out",), random(3, 2, 2), random(4, 3))
    gram = lambda *sizes, dtype: (lambda matrix: matrix @ matrix.mH)(random(*sizes, dtype=dtype))
    record_everywhere("linalg_matrix_sqrth", positive, sizes=sizes[:7], out="linalg_matrix_sqrth.out")
    record_everywhere("linalg_matrix_sqrth", gram, sizes=sizes[:2])
    record_special("linalg_matrix_sqrth", only_moderate=True)
    record_everywhere("linalg_polar", invertible, sizes=sizes[:3], out="linalg_polar.out", names=("U", "H"))
    for rectangle in ((4, 2), (2, 3, 2), (0, 0), (3, 0), (2, 4), (0, 3)):
        record_if_accepted("linalg_polar", random(*rectangle), with_gradients=False)
        record_if_accepted("linalg_polar", random(*rectangle, dtype=C128), with_gradients=False)
    record_special("linalg_polar", only_moderate=True)
    for power in (-1, -2, -5):
        record_everywhere("linalg_matrix_power", invertible, power, sizes=((3, 3), (2, 3, 3), (1, 1), (0, 0)), out="linalg_matrix_power.out")
    record("matrix_power", invertible(3, 3), -3)


for name, parts in (
    ("factorizations", (record_cholesky, record_lu, record_determinants, record_qr, record_ldl)),
    ("linear_systems", (record_inverses, record_solvers, record_least_squares)),
    ("spectra", (record_eigenvalues, record_singular_values)),
    ("matrix_functions", (record_pseudoinverses, record_norms, record_matrix_functions)),
):
    for part in parts:
        part()
    write(Path(__file__).with_name(f"{name}.jsonl.gz"))
    LINES.clear()
