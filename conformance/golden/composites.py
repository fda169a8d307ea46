"""Records calls of composed operators with PyTorch, as composites.jsonl.gz has them: python composites.py | gzip -9n > composites.jsonl.gz

A gradient is that of the results times the cosine of 1, 2, and so on, in double precision.
"""

import json
import math

import torch

aten = torch.ops.aten
generator = torch.Generator().manual_seed(5)
NAMES = {
    torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8",
    torch.bool: "bool", torch.complex64: "c64",
}  # fmt: skip


def number(value):
    if isinstance(value, complex):
        return [number(value.real), number(value.imag)]
    if isinstance(value, float):
        return float(f"{value:.15g}") if math.isfinite(value) else str(value)
    return value


def encoded(value):
    if value is None:
        return {"none": True}
    if isinstance(value, torch.Tensor):
        value = value.detach().contiguous()
        data = [number(element) for element in value.flatten().tolist()]
        sizes, strides = list(value.shape), list(value.stride())
        return {"tensor": {"dtype": NAMES[value.dtype], "shape": sizes, "strides": strides, "data": data}}
    if isinstance(value, torch.dtype):
        return {"dtype": NAMES[value]}
    if isinstance(value, (list, tuple)):
        return {"list": [encoded(element) for element in value]}
    return {type(value).__name__: value}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in tensors(part)] if isinstance(value, (list, tuple)) else []


def changed(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    return [changed(part, change) for part in value] if isinstance(value, list) else value


def as_written(tensor):
    written = [float(f"{element:.9g}") for element in tensor.flatten().tolist()] if tensor.dtype == torch.float32 else None
    return tensor if written is None else torch.tensor(written).reshape(tensor.shape)


def leaf(tensor):
    is_leaf = tensor.dtype in (torch.float32, torch.float64)
    return tensor.double().detach().requires_grad_() if is_leaf else tensor


def gradients(function, arguments, named):
    leaves = [tensor for tensor in tensors(arguments + list(named.values())) if tensor.requires_grad]
    outs = [out for out in tensors(function(*arguments, **named)) if out.requires_grad]
    if not outs:
        return None
    cosines = [torch.cos(torch.arange(1, out.numel() + 1).double()).reshape(out.shape).to(out.dtype) for out in outs]
    found = torch.autograd.grad(outs, leaves, cosines, allow_unused=True)
    return [None if one is None else [float(f"{x:.14g}") for x in one.flatten().tolist()] for one in found]


def rec(name, *arguments, grad=True, **named):
    function = aten
    for part in (name if "." in name else name + ".default").split("."):
        function = getattr(function, part)
    arguments = changed(list(arguments), as_written)
    named = {key: changed(value, as_written) for key, value in named.items()}
    line = {"op": "aten::" + name, "args": encoded(arguments)["list"]}
    line["kwargs"] = {key: encoded(value) for key, value in named.items()}
    line["out"] = encoded(function(*arguments, **named))
    if grad:
        wide = {key: changed(value, leaf) for key, value in named.items()}
        if (found := gradients(function, changed(arguments, leaf), wide)) is not None:
            line["grad_f64"] = found
    print(json.dumps(line))


def F(*sizes):
    return torch.randn(sizes, generator=generator)


def D(*sizes):
    return F(*sizes).double()


def C(*sizes):
    return torch.complex(F(*sizes), F(*sizes))


def I(*sizes):
    return torch.randint(-9, 10, sizes, generator=generator)


for eq, sh in [("ij,jk->ik", [(2, 3), (3, 4)]), ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]), ("bqhd,bkhd->bhqk", [(2, 3, 2, 4), (2, 5, 2, 4)]), ("i,j->ij", [(3,), (2,)]), ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ij", [(2, 3)]), ("ba", [(2, 3)]), ("...ij,...jk->...ik", [(2, 1, 2, 3), (3, 3, 2)]), ("...i,...i", [(2, 3), (3,)]), ("i...->...", [(3, 2)]), ("ijk,jil,lm->km", [(2, 3, 4), (3, 2, 2), (2, 3)]), ("bn,anm,bm->ba", [(2, 3), (4, 3, 2), (2, 2)]), ("ij,ij->", [(2, 3), (2, 1)]), ("iij,jk->ik", [(2, 2, 3), (3, 2)]), ("a...b,b...->...a", [(2, 3, 4), (4, 1)]), ("i,i,i->i", [(3,), (3,), (3,)]), (" i j , j -> i ", [(2, 3), (3,)]), ("ij,kl->", [(2, 3), (2, 2)]), ("Aa,aB->BA", [(2, 3), (3, 2)]), ("...", [(2, 3)]), ("->", [()]), ("ij,jk", [(1, 3), (3, 0)])]:
    rec("einsum", eq, [F(*s) for s in sh])
rec("einsum", "ij,jk,kl->il", [F(2, 3), F(3, 4), F(4, 2)], path=[1, 2, 0, 1])
rec("einsum", "ij,jk->ik", [I(2, 3), I(3, 2)])
rec("einsum", "ij,jk->ik", [C(2, 3), C(3, 2)], grad=False)
rec("linalg_multi_dot", [F(2, 3), F(3, 5), F(5, 1), F(1, 4)])
rec("linalg_multi_dot", [F(3), F(3, 2), F(2)])
rec("linalg_multi_dot", [F(3, 2), F(2)])
rec("chain_matmul", [F(2, 3), F(3, 4), F(4, 2)])
rec("chain_matmul", [F(2, 3)], grad=True)
for n in (0, 1, 3, 6):
    rec("linalg_matrix_power", F(2, 3, 3), n)
rec("matrix_power", I(2, 2), 3)
rec("linalg_cross", F(2, 3), F(2, 3))
rec("linalg_cross", F(3, 2), F(3, 1), dim=0)
rec("linalg_cross", I(3), I(3))
rec("cross", F(2, 3, 3), F(2, 3, 3))
rec("cross", F(2, 3, 3), F(2, 3, 3), 2)
rec("linalg_cross", C(3), C(3), grad=False)
rec("kron", F(2, 2), F(3, 1, 2))
rec("kron", F(3), F())
rec("kron", I(2), F(1, 2))
rec("linalg_vander", F(2, 3))
rec("linalg_vander", F(3), N=5)
rec("vander", F(3), grad=False)
rec("vander", I(4).int(), 3, True)
rec("vander", F(3), 0)
rec("vander", F(3), 1)
rec("diff", F(5))
rec("diff", F(3, 4), 2, 0)
rec("diff", I(5), 7)
rec("diff", torch.tensor([True, False, False]))
rec("diff", F(2, 3), 1, -1, F(2, 1), F(2, 2))
rec("diff", F(4), 0)
rec("trapezoid.dx", F(2, 4))
rec("trapezoid.dx", I(4), dx=0.5)
rec("trapezoid.dx", F(3, 2), dx=2, dim=0)
rec("trapezoid.dx", F(0, 2), dim=0)
rec("trapezoid.x", F(2, 4), F(4))
rec("trapezoid.x", F(3, 2), F(3), dim=0)
rec("trapezoid.x", F(2, 3, 2), F(3, 2), dim=1)
rec("trapz.dx", F(4))
rec("trapz.x", F(4), F(4))
rec("cumulative_trapezoid.dx", F(2, 4), dx=3)
rec("cumulative_trapezoid.x", F(2, 4), F(2, 4))
rec("cumulative_trapezoid.x", F(2, 4), F(2), dim=0)
rec("gradient.scalarint", F(4, 3))
rec("gradient.scalarint", I(4), spacing=2)
rec("gradient.scalarint", F(4, 3), dim=1, edge_order=2)
rec("gradient.array", F(3, 4), dim=[1, 0], edge_order=2)
rec("gradient.scalararray", F(3, 4), spacing=0.5, dim=[-1])
rec("gradient.scalarrayarray", F(3, 4), spacing=[0.5, 2], dim=[0, 1])
rec("gradient.scalarrayint", F(3, 4), spacing=[2.0, 3.0])
x1 = torch.tensor([0.0, 1, 3, 4.5])
x0 = torch.tensor([-1.0, 0, 2])
rec("gradient.tensorarray", F(3, 4), spacing=[x1, x0], dim=[1, 0])
rec("gradient.tensorarray", F(3, 4), spacing=[x1], dim=[1], edge_order=2)
rec("gradient.tensorarrayint", F(3, 4), spacing=[x0, x1], edge_order=1)
rec("gradient.array", F(2), dim=[0])
rec("cov", F(3, 5))
rec("cov", F(5))
rec("cov", I(2, 4))
rec("cov", F(2, 4), correction=0)
rec("cov", F(2, 4), fweights=torch.tensor([1, 2, 1, 3]))
rec("cov", F(2, 4), aweights=torch.tensor([0.5, 0.25, 1.0, 2]))
rec("cov", F(2, 4), correction=2, fweights=torch.tensor([1, 2, 1, 3]), aweights=torch.tensor([0.5, 0.25, 1.0, 2]))
rec("cov", C(2, 4), grad=False)
rec("corrcoef", F(3, 5))
rec("corrcoef", F(4), grad=False)
rec("corrcoef", C(2, 4), grad=False)
n = F(3, 4)
n[1, 2] = math.nan
rec("nanmean", n, grad=False)
rec("nanmean", n, [1])
rec("nanmean", F(2, 3), [0], True, dtype=torch.float64)
for it in ["linear", "lower", "higher", "midpoint", "nearest"]:
    rec("quantile.scalar", F(3, 5), 0.3, 1, interpolation=it)
    rec("quantile", F(3, 4), torch.tensor([0.1, 0.5, 1.0]), 0, True, interpolation=it)
    rec("nanquantile.scalar", n, 0.6, 1, interpolation=it)
rec("quantile", F(3, 4), torch.tensor(0.25))
rec("quantile.scalar", F(3, 4), 0.5, None, True)
rec("quantile", F(3, 4), torch.tensor([0.5, 0.75]), None, True)
rec("quantile.scalar", n, 0.5, 1, grad=False)
rec("nanquantile", n, torch.tensor([0.2, 0.9]), 1)
rec("nanquantile.scalar", torch.full((2,), math.nan), 0.5, grad=False)
rec("quantile.scalar", F(), 0.5)
rec("frobenius_norm.dim", F(2, 3), [0, 1])
rec("frobenius_norm.dim", F(2, 3), [1], True)
rec("frobenius_norm.dim", F(2, 3), [])
rec("norm_except_dim", F(2, 3, 2))
rec("norm_except_dim", F(2, 3, 2), 2, 1)
rec("norm_except_dim", F(2, 3), 2, -1)
rec("norm_except_dim", F(2, 3), 3, 0)
rec("_weight_norm", F(2, 3), F(2, 1))
rec("_weight_norm", F(2, 3), F(1, 3), 1)
rec("_weight_norm", F(2, 3), F(), -1)
rec("_weight_norm_interface", F(2, 3), F(2, 1), grad=False)
v = F(2, 3)
gg = F(2, 1).abs()
nn = v.norm(dim=1, keepdim=True)
rec("_weight_norm_interface_backward", F(2, 3), v, gg, nn, 0, grad=False)
rec("_weight_norm_differentiable_backward", F(2, 3), v, gg, nn, 0)
rec("sum_to_size", F(2, 3, 4), [3, 1])
rec("sum_to_size", F(2, 3), [2, 3])
rec("_grad_sum_to_size", F(2, 3), [3])
rec("_grad_sum_to_size", F(2, 3), None)
for a in [(1, 4), (0, 3.5), (-1, 1)]:
    rec("range", *a)
rec("range", 0.5, 3, dtype=torch.int64)
rec("range.step", 0, 1, 0.3)
rec("range.step", 5, -1, -2, dtype=torch.int32)
rec("range.step", 0, 7, 3, dtype=torch.float64)
for w in ["hann_window", "hamming_window", "bartlett_window", "blackman_window"]:
    for L in (0, 1, 2, 5, 8):
        rec(w, L)
    rec(w, 6, dtype=torch.float64)
    rec(w + ".periodic", 5, False)
    rec(w + ".periodic", 1, False)
    rec(w + ".periodic", 4, True)
rec("hamming_window.periodic_alpha", 5, True, 0.6)
rec("hamming_window.periodic_alpha_beta", 5, False, 0.6, 0.3)
for s, o in [("hsplit", "int"), ("vsplit", "int")]:
    rec(s + ".int", F(4, 2), 2)
rec("hsplit.int", F(4), 2)
rec("hsplit.array", F(2, 5), [1, 3])
rec("vsplit.array", F(4, 2), [1])
rec("dsplit.int", F(2, 2, 4), 2)
rec("dsplit.array", F(2, 2, 4), [1, 2])
rec("hsplit.array", F(5), [2])
rec("tensor_split.tensor_indices_or_sections", F(5, 2), torch.tensor(2))
rec("tensor_split.tensor_indices_or_sections", F(2, 5), torch.tensor([1, 3]), 1)
rec("narrow.Tensor", F(5), 0, torch.tensor(-3), 2)
rec("nonzero_numpy", torch.tensor([[0, 1], [2, 0]]))
rec("where", torch.tensor([True, False, True]))
rec("nonzero_numpy", torch.tensor(3.0), grad=False)
rec("flatten_dense_tensors", [F(2, 3), F(2)])
rec("unflatten_dense_tensors", F(8), [torch.zeros(2, 3), torch.zeros(2)])
rec("cartesian_prod", [F(2), F(3)])
rec("cartesian_prod", [I(3)])
rec("combinations", F(4))
rec("combinations", I(3), 3)
rec("combinations", F(3), 2, True)
rec("combinations", I(3), 4)
rec("combinations", I(3), 0)
rec("pad_sequence", [F(3, 2), F(1, 2), F(2, 2)])
rec("pad_sequence", [F(3), F(1)], True, 9.0, "left")
rec("std", F(5))
rec("std", F(2, 3), False)
rec("std.dim", F(2, 3), [1], False, True)
rec("std.dim", F(2, 3), None)
rec("var_mean", F(5))
rec("var_mean.dim", F(2, 3), [0], True, True)
rec("std_mean", F(5), False)
rec("std_mean.dim", F(2, 3), [1])
rec("max.other", F(3), F(2, 3))
rec("min.other", I(3), F(2, 3))
rec("msort", F(4, 2))
rec("diagflat", F(2, 2), 1)
rec("diagflat", F(3), -2)
rec("diagflat", F(), 0)
rec("adjoint", C(2, 3), grad=False)
rec("mH", F(2, 2, 3))
rec("matrix_H", C(2, 3), grad=False)
rec("linalg_diagonal", F(2, 3, 3), offset=1)
rec("isreal", torch.tensor([1 + 1j, 2]))
rec("isreal", F(2), grad=False)
rec("resolve_conj", F(2))
rec("resolve_neg", F(2))
rec("view_as_real_copy", C(2), grad=False)
rec("view_as_complex_copy", F(3, 2), grad=False)
rec("lift_fresh_copy", F(2))
rec("_stack", [F(2), F(2)], 1, grad=False)
rec("is_floating_point", F(1), grad=False)
rec("is_complex", C(1))
rec("is_signed", torch.ones(1, dtype=torch.uint8))
rec("is_signed", F(1), grad=False)
rec("is_same_size", F(2), F(2, 1), grad=False)
rec("can_cast", torch.float32, torch.int64)
rec("can_cast", torch.int64, torch.float64)
rec("dim", F(2, 3), grad=False)
rec("element_size", D(1), grad=False)
rec("is_contiguous", F(2, 3), grad=False)
rec("_index_put_impl", F(4), [torch.tensor([0, 2])], F(2))
rec("put", F(2, 2), torch.tensor([3, 0]), F(2))
