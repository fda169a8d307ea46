"""Records calls of operators with PyTorch: `python3 record.py` writes more.jsonl.gz, in the format of ops.jsonl.gz.

ops.jsonl.gz has the calls that PyTorch's own tests make below autograd. more.jsonl.gz has the operators that are not among them, and
composite operators, which autograd replaces by their parts.
"""

import math
from pathlib import Path

import torch

from recorder import record, write


def f64(*sizes):
    return torch.randn(sizes, dtype=torch.float64)


def f32(*sizes):
    return torch.randn(sizes)


def c64(*sizes):
    return torch.complex(f32(*sizes), f32(*sizes))


def i64(*sizes):
    return torch.randint(-9, 10, sizes)


def integers(*numbers):
    return torch.tensor(numbers)


torch.manual_seed(20)

# Distances.
for p in (0.0, 1.0, 1.5, 2.0, 3.0, float("inf")):
    record("cdist", f64(2, 3, 4), f64(5, 4), p, None)
    record("pdist", f64(4, 3), p)
record("cdist", f64(30, 4), f64(3, 4), 2.0, None)
record("cdist", f64(3, 4).float(), f64(2, 4).float(), 2.0, 1)
record("_euclidean_dist", f64(3, 4), f64(2, 4))
record("pairwise_distance", f64(3, 4), f64(3, 4), 3.0, 1e-6, True)
record("pairwise_distance", f64(4).float(), f64(3, 4).float())
record("cosine_similarity", f64(3, 4), f64(1, 4), 1, 1e-8)
record("cosine_similarity", f64(3, 4, 2).float(), f64(3, 4, 2).float(), 0, 1e-8)
for p in (0.5, 1.0, 2.0, 3.0, float("inf")):
    x1, x2 = f64(3, 4), f64(2, 4)
    record("_cdist_backward", f64(3, 2), x1, x2, p, torch.cdist(x1, x2, p))
    record("_pdist_backward", f64(3), x1, p, torch.pdist(x1, p))

# Embedding bags. The overloads differ in the rows that a sum leaves out.
table, rows = f64(6, 3), integers(0, 2, 2, 5, 1, 0, 3)
for mode in (0, 1, 2):
    for offsets, last in ((integers(0, 3, 3, 5), False), (integers(0, 2, 7), True)):
        for padding in (-1, 2):
            record("_embedding_bag", table, rows, offsets, False, mode, False, None, last, padding)
            record("_embedding_bag", table, rows, offsets, True, mode, False, None, last, padding, with_gradients=mode < 2)
    record("embedding_bag", table.float(), rows, integers(0, 4), False, mode, False)
    record("embedding_bag.padding_idx", table, rows, integers(0, 4), False, mode, False, None, False, -4)
record("_embedding_bag", table, rows, integers(0, 3, 5), False, 0, False, f64(7), False, 2)
record("_embedding_bag", table, rows.int(), integers(0, 3, 5).int(), False, 0, False, f64(7), False, -1)
record("_embedding_bag", table.bfloat16(), rows, integers(0, 3, 5), False, 1, False, None, False, -1)

# Gated and leaky activations, and their backwards.
record("glu_backward", f64(3, 2), f64(3, 4), 1)
record("glu_backward", f64(2, 5).float(), f64(4, 5).float(), 0)
for weight in (f64(3), f64(1), f64()):
    record("prelu", f64(2, 3, 2), weight)
record("prelu", f64(4).float(), f64(1).float())
record("hardshrink_backward", f64(2, 3), f64(2, 3), 0.5)
record("softshrink_backward", f64(2, 3), f64(2, 3), 0.5)
record("rrelu", f64(2, 3), 0.1, 0.3, False)
record("rrelu_with_noise_backward", f64(2, 3), f64(2, 3), f64(2, 3), 0.1, 0.3, True, False, with_gradients=False)
record("rrelu_with_noise_backward", f64(2, 3), f64(2, 3), f64(2, 3), 0.1, 0.3, False, False, with_gradients=False)
record("alpha_dropout", f64(2, 3), 0.5, False)
record("feature_alpha_dropout", f64(2, 3), 0.5, False)

# Losses.
signs = integers(1, -1, 1)
for reduction in (0, 1, 2):
    record("cosine_embedding_loss", f64(3, 4), f64(3, 4), signs, 0.2, reduction)
    record("hinge_embedding_loss", f64(3, 3), signs, 1.0, reduction)
    record("margin_ranking_loss", f64(3), f64(3), signs, 0.5, reduction)
    record("triplet_margin_loss", f64(3, 4), f64(3, 4), f64(3, 4), 1.0, 2.0, 1e-6, reduction == 1, reduction)
    for log, full in ((True, True), (False, False)):
        record("poisson_nll_loss", f64(2, 3).abs() + 0.1, integers(1, 2, 4).double(), log, full, 1e-8, reduction)
    record("multilabel_margin_loss", f64(2, 4), torch.tensor([[1, 3, -1, 0], [2, -1, 0, 0]]), reduction)
    grad = f64(3) if reduction == 0 else f64()
    record("multi_margin_loss_backward", grad, f64(3, 4), integers(1, 3, 0), 2, 1.0, f64(4), reduction, with_gradients=False)
record("cosine_embedding_loss", f64(4).float(), f64(4).float(), torch.tensor(1), 0.0, 1)
target = torch.tensor([[1, 3, -1, 0], [2, -1, 0, 0]])
is_target = torch.tensor([[0.0, 1, 0, 1], [0, 0, 1, 0]], dtype=torch.float64)
record("multilabel_margin_loss_backward", f64(2), f64(2, 4), target, 0, is_target, with_gradients=False)

# Normalisation.
record("rms_norm", f64(2, 3, 4), [4], f64(4), 1e-3)
record("rms_norm", f64(2, 3, 4).float(), [3, 4])
record("_fused_rms_norm", f64(2, 3, 4), [3, 4], f64(3, 4), 1e-3)
record("rms_norm", f64(2, 4).bfloat16(), [4], f64(4).bfloat16(), None)

# Grid sampling.
for mode in (0, 1, 2):
    for padding in (0, 1, 2):
        for align in (False, True):
            record("grid_sampler_2d", f64(2, 2, 4, 3), f64(2, 3, 2, 2), mode, padding, align)
            if mode < 2:
                record("grid_sampler_3d", f64(1, 2, 3, 4, 3), f64(1, 2, 2, 2, 3), mode, padding, align)
record("grid_sampler", f64(1, 2, 4, 3), f64(1, 3, 2, 2), 0, 0, False)
record("grid_sampler_2d_backward", f64(1, 2, 3, 2), f64(1, 2, 4, 3), f64(1, 3, 2, 2), 2, 1, False, [True, True])
record("affine_grid_generator", f64(2, 2, 3), [2, 1, 3, 4], False)
record("affine_grid_generator", f64(2, 3, 4), [2, 1, 2, 1, 3], True)
record("affine_grid_generator_backward", f64(2, 3, 4, 2), [2, 1, 3, 4], False)
record("bilinear", f64(2, 3), f64(2, 4), f64(5, 3, 4), f64(5))
record("bilinear", f64(2, 3, 2).float(), f64(2, 3, 4).float(), f64(5, 2, 4).float(), None)

# CTC loss.
logs = f64(6, 3, 5).log_softmax(-1)
for labels in (torch.tensor([[1, 2, 2], [3, 0, 0], [4, 3, 0]]), integers(1, 2, 2, 3, 4, 3)):
    for reduction in (0, 1, 2):
        record("ctc_loss.IntList", logs, labels, [6, 6, 6], [3, 1, 2], 0, reduction, False)
record("ctc_loss.Tensor", logs, torch.tensor([[1, 2, 2], [3, 0, 0], [4, 3, 0]]), integers(5, 1, 0), integers(3, 1, 2), 0, 2, True)
record("ctc_loss.IntList", logs[:, 0], integers(1, 2), [6], [2], 4, 0, False)
record("ctc_loss.IntList", logs, integers(1, 2, 2, 3, 4, 3), [6, 6, 6], [3, 3, 0], 0, 1, False)
# All label sequences have one length, because PyTorch leaves the elements after a shorter sequence uninitialised.
record("_ctc_loss", logs, integers(1, 2, 2, 3, 4, 3), [6, 6, 6], [2, 2, 2], 0, False)

# Resizing.
for base in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
    for sizes in ([2, 3], [7, 9], [3, 7]):
        for align in (False, True):
            record(base, f64(1, 2, 5, 6), sizes, align, None, None)
    record(base + ".vec", f64(1, 1, 6, 6).float(), None, False, [0.5, 0.4])
    record(base + "_backward", f64(1, 2, 2, 3), [2, 3], [1, 2, 5, 6], False, None, None)

# Recurrent layers.
hidden_size, input_size = 3, 2


def layer_weights(gates, count, bidirectional=False, biases=True, projected=None):
    out, width = [], input_size
    for _ in range(count):
        for _ in range(2 if bidirectional else 1):
            out += [f64(gates * hidden_size, width), f64(gates * hidden_size, projected or hidden_size)]
            out += [f64(gates * hidden_size), f64(gates * hidden_size)] if biases else []
            out += [f64(projected, hidden_size)] if projected else []
        width = (projected or hidden_size) * (2 if bidirectional else 1)
    return out


def initial_states(count, batch, width=hidden_size):
    return f64(count, batch, width)


record("lstm_cell", f64(2, input_size), [f64(2, hidden_size), f64(2, hidden_size)], *layer_weights(4, 1))
for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    record(name + "_cell", f64(2, input_size), f64(2, hidden_size), *layer_weights(gates, 1, biases=name != "rnn_tanh"))
for bidirectional in (False, True):
    count = 4 if bidirectional else 2
    for first in (False, True):
        data = f64(2, 4, input_size) if first else f64(4, 2, input_size)
        record("lstm.input", data, [initial_states(count, 2), initial_states(count, 2)], layer_weights(4, 2, bidirectional), True, 2, 0.0, False, bidirectional, first)
        for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
            record(name + ".input", data, initial_states(count, 2), layer_weights(gates, 2, bidirectional, False), False, 2, 0.0, False, bidirectional, first)
    steps = integers(3, 2, 2, 1)
    hx = [initial_states(count, 3), initial_states(count, 3)]
    record("lstm.data", f64(8, input_size), steps, hx, layer_weights(4, 2, bidirectional), True, 2, 0.0, True, bidirectional)
    for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        record(name + ".data", f64(8, input_size), steps, hx[0], layer_weights(gates, 2, bidirectional), True, 2, 0.0, True, bidirectional)
hx = [initial_states(1, 2, 2), initial_states(1, 2)]
record("lstm.input", f64(4, 2, input_size), hx, layer_weights(4, 1, projected=2), True, 1, 0.0, False, False, False)
for first in (False, True):
    record("_pack_padded_sequence", f64(3, 4, 2) if first else f64(4, 3, 2), integers(4, 2, 1), first)
    record("_pad_packed_sequence", f64(7, 2), integers(3, 2, 1, 1), first, 0.5, 5)
    for side in ("left", "right"):
        record("pad_sequence", [f64(3, 2), f64(1, 2), f64(2, 2)], first, 0.5, side)

# Composed operators.
torch.manual_seed(5)

# Products: einsum, matrix products, cross and Kronecker products, Vandermonde matrices.
for equation, *sizes in (
    ("ij,jk->ik", (2, 3), (3, 4)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("i,j->ij", (3,), (2,)), ("ij->ji", (2, 3)), ("ii->i", (3, 3)),
    ("ii", (3, 3)), ("ij", (2, 3)), ("ba", (2, 3)), ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)),
    ("...i,...i", (2, 3), (3,)), ("i...->...", (3, 2)), ("ijk,jil,lm->km", (2, 3, 4), (3, 2, 2), (2, 3)),
    ("bn,anm,bm->ba", (2, 3), (4, 3, 2), (2, 2)), ("ij,ij->", (2, 3), (2, 1)), ("iij,jk->ik", (2, 2, 3), (3, 2)),
    ("a...b,b...->...a", (2, 3, 4), (4, 1)), ("i,i,i->i", (3,), (3,), (3,)), (" i j , j -> i ", (2, 3), (3,)),
    ("ij,kl->", (2, 3), (2, 2)), ("Aa,aB->BA", (2, 3), (3, 2)), ("...", (2, 3)), ("->", ()), ("ij,jk", (1, 3), (3, 0)),
):
    record("einsum", equation, [f32(*size) for size in sizes])
record("einsum", "ij,jk,kl->il", [f32(2, 3), f32(3, 4), f32(4, 2)], path=[1, 2, 0, 1])
record("einsum", "ij,jk->ik", [i64(2, 3), i64(3, 2)])
record("einsum", "ij,jk->ik", [c64(2, 3), c64(3, 2)], with_gradients=False)
record("linalg_multi_dot", [f32(2, 3), f32(3, 5), f32(5, 1), f32(1, 4)])
record("linalg_multi_dot", [f32(3), f32(3, 2), f32(2)])
record("linalg_multi_dot", [f32(3, 2), f32(2)])
record("chain_matmul", [f32(2, 3), f32(3, 4), f32(4, 2)])
record("chain_matmul", [f32(2, 3)])
for power in (0, 1, 3, 6):
    record("linalg_matrix_power", f32(2, 3, 3), power)
record("matrix_power", i64(2, 2), 3)
record("linalg_cross", f32(2, 3), f32(2, 3))
record("linalg_cross", f32(3, 2), f32(3, 1), dim=0)
record("linalg_cross", i64(3), i64(3))
record("cross", f32(2, 3, 3), f32(2, 3, 3))
record("cross", f32(2, 3, 3), f32(2, 3, 3), 2)
record("linalg_cross", c64(3), c64(3), with_gradients=False)
record("kron", f32(2, 2), f32(3, 1, 2))
record("kron", f32(3), f32())
record("kron", i64(2), f32(1, 2))
record("linalg_vander", f32(2, 3))
record("linalg_vander", f32(3), N=5)
record("vander", f32(3), with_gradients=False)
record("vander", i64(4).int(), 3, True)
record("vander", f32(3), 0)
record("vander", f32(3), 1)

# Differences, trapezoidal integrals and gradients.
record("diff", f32(5))
record("diff", f32(3, 4), 2, 0)
record("diff", i64(5), 7)
record("diff", torch.tensor([True, False, False]))
record("diff", f32(2, 3), 1, -1, f32(2, 1), f32(2, 2))
record("diff", f32(4), 0)
record("trapezoid.dx", f32(2, 4))
record("trapezoid.dx", i64(4), dx=0.5)
record("trapezoid.dx", f32(3, 2), dx=2, dim=0)
record("trapezoid.dx", f32(0, 2), dim=0)
record("trapezoid.x", f32(2, 4), f32(4))
record("trapezoid.x", f32(3, 2), f32(3), dim=0)
record("trapezoid.x", f32(2, 3, 2), f32(3, 2), dim=1)
record("trapz.dx", f32(4))
record("trapz.x", f32(4), f32(4))
record("cumulative_trapezoid.dx", f32(2, 4), dx=3)
record("cumulative_trapezoid.x", f32(2, 4), f32(2, 4))
record("cumulative_trapezoid.x", f32(2, 4), f32(2), dim=0)
record("gradient.scalarint", f32(4, 3))
record("gradient.scalarint", i64(4), spacing=2)
record("gradient.scalarint", f32(4, 3), dim=1, edge_order=2)
record("gradient.array", f32(3, 4), dim=[1, 0], edge_order=2)
record("gradient.scalararray", f32(3, 4), spacing=0.5, dim=[-1])
record("gradient.scalarrayarray", f32(3, 4), spacing=[0.5, 2], dim=[0, 1])
record("gradient.scalarrayint", f32(3, 4), spacing=[2.0, 3.0])
column_coordinates, row_coordinates = torch.tensor([0.0, 1, 3, 4.5]), torch.tensor([-1.0, 0, 2])
record("gradient.tensorarray", f32(3, 4), spacing=[column_coordinates, row_coordinates], dim=[1, 0])
record("gradient.tensorarray", f32(3, 4), spacing=[column_coordinates], dim=[1], edge_order=2)
record("gradient.tensorarrayint", f32(3, 4), spacing=[row_coordinates, column_coordinates], edge_order=1)
record("gradient.array", f32(2), dim=[0])

# Statistics.
record("cov", f32(3, 5))
record("cov", f32(5))
record("cov", i64(2, 4))
record("cov", f32(2, 4), correction=0)
record("cov", f32(2, 4), fweights=torch.tensor([1, 2, 1, 3]))
record("cov", f32(2, 4), aweights=torch.tensor([0.5, 0.25, 1.0, 2]))
record("cov", f32(2, 4), correction=2, fweights=torch.tensor([1, 2, 1, 3]), aweights=torch.tensor([0.5, 0.25, 1.0, 2]))
record("cov", c64(2, 4), with_gradients=False)
record("corrcoef", f32(3, 5))
record("corrcoef", f32(4), with_gradients=False)
record("corrcoef", c64(2, 4), with_gradients=False)
with_nan = f32(3, 4)
with_nan[1, 2] = math.nan
record("nanmean", with_nan, with_gradients=False)
record("nanmean", with_nan, [1])
record("nanmean", f32(2, 3), [0], True, dtype=torch.float64)
for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
    record("quantile.scalar", f32(3, 5), 0.3, 1, interpolation=interpolation)
    record("quantile", f32(3, 4), torch.tensor([0.1, 0.5, 0.9]), 0, True, interpolation=interpolation)
    record("nanquantile.scalar", with_nan, 0.6, 1, interpolation=interpolation)
record("quantile", f32(3, 4), torch.tensor(0.25))
record("quantile.scalar", f32(3, 4), 0.5, None, True)
record("quantile", f32(3, 4), torch.tensor([0.5, 0.75]), None, True)
record("quantile.scalar", with_nan, 0.5, 1, with_gradients=False)
record("nanquantile", with_nan, torch.tensor([0.2, 0.9]), 1)
record("nanquantile.scalar", torch.full((2,), math.nan), 0.5, with_gradients=False)
record("quantile.scalar", f32(), 0.5)

# Norms and sums.
record("frobenius_norm.dim", f32(2, 3), [0, 1])
record("frobenius_norm.dim", f32(2, 3), [1], True)
record("frobenius_norm.dim", f32(2, 3), [])
record("norm_except_dim", f32(2, 3, 2))
record("_weight_norm", f32(2, 3, 2), f32(1, 3, 1), 1)
record("norm_except_dim", f32(2, 3), 2, -1)
record("norm_except_dim", f32(2, 3), 3, 0)
record("_weight_norm", f32(2, 3), f32(2, 1))
record("_weight_norm", f32(2, 3), f32(1, 3), 1)
record("_weight_norm", f32(2, 3), f32(), -1)
record("_weight_norm_interface", f32(2, 3), f32(2, 1), with_gradients=False)
v, gain = f32(2, 3), f32(2, 1).abs()
norm = v.norm(dim=1, keepdim=True)
record("_weight_norm_interface_backward", f32(2, 3), v, gain, norm, 0, with_gradients=False)
record("_weight_norm_differentiable_backward", f32(2, 3), v, gain, norm, 0)
record("sum_to_size", f32(2, 3, 4), [3, 1])
record("sum_to_size", f32(2, 3), [2, 3])
record("_grad_sum_to_size", f32(2, 3), [3])
record("_grad_sum_to_size", f32(2, 3), None)

# Ranges and windows.
for start_and_end in ((1, 4), (0, 3.5), (-1, 1)):
    record("range", *start_and_end)
record("range", 0.5, 3, dtype=torch.int64)
record("range.step", 0, 1, 0.3)
record("range.step", 5, -1, -2, dtype=torch.int32)
record("range.step", 0, 7, 3, dtype=torch.float64)
for window in ("hann_window", "hamming_window", "bartlett_window", "blackman_window"):
    for length in (0, 1, 2, 5, 8):
        record(window, length)
    record(window, 6, dtype=torch.float64)
    record(window + ".periodic", 5, False)
    record(window + ".periodic", 1, False)
    record(window + ".periodic", 4, True)
record("hamming_window.periodic_alpha", 5, True, 0.6)
record("hamming_window.periodic_alpha_beta", 5, False, 0.6, 0.3)

# Splits, combinations, statistics by dimension, maxima and diagonals.
for name in ("hsplit", "vsplit"):
    record(name + ".int", f32(4, 2), 2)
record("hsplit.int", f32(4), 2)
record("hsplit.array", f32(2, 5), [1, 3])
record("vsplit.array", f32(4, 2), [1])
record("dsplit.int", f32(2, 2, 4), 2)
record("dsplit.array", f32(2, 2, 4), [1, 2])
record("hsplit.array", f32(5), [2])
record("tensor_split.tensor_indices_or_sections", f32(5, 2), torch.tensor(2))
record("tensor_split.tensor_indices_or_sections", f32(2, 5), torch.tensor([1, 3]), 1)
record("narrow.Tensor", f32(5), 0, torch.tensor(-3), 2)
record("nonzero_numpy", torch.tensor([[0, 1], [2, 0]]))
record("nonzero_numpy", torch.tensor(3.0), with_gradients=False)
record("flatten_dense_tensors", [f32(2, 3), f32(2)])
record("unflatten_dense_tensors", f32(8), [torch.zeros(2, 3), torch.zeros(2)])
record("cartesian_prod", [f32(2), f32(3)])
record("cartesian_prod", [i64(3)])
record("combinations", f32(4))
record("combinations", i64(3), 3)
record("combinations", f32(3), 2, True)
record("combinations", i64(3), 4)
record("combinations", i64(3), 0)
record("std", f32(5))
record("std", f32(2, 3), False)
record("std.dim", f32(2, 3), [1], False, True)
record("std.dim", f32(2, 3), None)
record("var_mean", f32(5))
record("var_mean.dim", f32(2, 3), [0], True, True)
record("std_mean", f32(5), False)
record("std_mean.dim", f32(2, 3), [1])
record("max.other", f32(3), f32(2, 3))
record("min.other", i64(3), f32(2, 3))
record("msort", f32(4, 2))
record("diagflat", f32(2, 2), 1)
record("diagflat", f32(3), -2)
record("diagflat", f32(), 0)
record("adjoint", c64(2, 3), with_gradients=False)
record("mH", f32(2, 2, 3))
record("matrix_H", c64(2, 3), with_gradients=False)
record("linalg_diagonal", f32(2, 3, 3), offset=1)

# Queries of tensors, and copies.
record("isreal", torch.tensor([1 + 1j, 2]))
record("isreal", f32(2), with_gradients=False)
record("resolve_conj", f32(2))
record("resolve_neg", f32(2))
record("view_as_real_copy", c64(2), with_gradients=False)
record("view_as_complex_copy", f32(3, 2), with_gradients=False)
record("lift_fresh_copy", f32(2))
record("_stack", [f32(2), f32(2)], 1, with_gradients=False)
record("is_floating_point", f32(1), with_gradients=False)
record("is_complex", c64(1))
record("is_signed", torch.ones(1, dtype=torch.uint8))
record("is_signed", f32(1), with_gradients=False)
record("can_cast", torch.float32, torch.int64)
record("can_cast", torch.int64, torch.float64)
record("dim", f32(2, 3), with_gradients=False)
record("element_size", f32(1).double(), with_gradients=False)
record("is_contiguous", f32(2, 3), with_gradients=False)
record("_index_put_impl", f32(4), [torch.tensor([0, 2])], f32(2))
record("put", f32(2, 2), torch.tensor([3, 0]), f32(2))

# Kaiser windows.
record("kaiser_window", 6)
record("kaiser_window.periodic", 5, False, dtype=torch.float64)
record("kaiser_window.beta", 4, True, 2.5)

# Gradients of gradients.
for p in (0.0, 1.5, 2.0, 2.5, math.inf):
    x1, x2 = f64(2, 1, 3, 2), f64(3, 4, 2)
    x2[0, 0], x2[0, 1, 0] = x1[0, 0, 0], x1[0, 0, 1, 0]
    record("_cdist_backward", f64(2, 3, 3, 4), x1, x2, p, torch.cdist(x1, x2, p))
    record("_pdist_backward", f64(6), x2[0], p, torch.pdist(x2[0], p))
for padding in (0, 1, 2):
    for align in (False, True):
        for mode in (0, 1, 2):
            grid = f64(2, 3, 2, 2)
            grid[0, 0] = torch.tensor([[-1.0, 1.0], [0.0, 0.5]])
            record("grid_sampler_2d_backward", f64(2, 2, 3, 2), f64(2, 2, 4, 3), grid, mode, padding, align, [True, True])
        for mode in (0, 1):
            sizes, grid = (1, 2, 3, 4, 3), f64(1, 2, 2, 2, 3)
            record("grid_sampler_3d_backward", f64(1, 2, 2, 2, 2), f64(*sizes), grid, mode, padding, align, [True, True])

# Special functions at and beyond the ends of their domains.
EDGE_VALUES = (0.0, -0.0, 1e-300, -1e-300, 1e-8, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, -2.5, 8.0, 30.0, -30.0, 100.0, -100.0, 1e300, -1e300)
EDGE_VALUES += (math.inf, -math.inf, math.nan)
BESSEL_FUNCTIONS = ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
          "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai")
OTHER_SPECIAL_FUNCTIONS = ("ndtri", "log_ndtr", "erfcx", "entr", "i0e", "i1", "i1e")
for name in (*("special_" + name for name in BESSEL_FUNCTIONS + OTHER_SPECIAL_FUNCTIONS), "i0", "lgamma", "digamma", "erfinv", "sinc"):
    for dtype in (torch.float32, torch.float64):
        record(name, torch.tensor(EDGE_VALUES, dtype=dtype), with_gradients=False)
for order in (1, 2, 5):
    record("polygamma", order, torch.tensor(EDGE_VALUES), with_gradients=False)
EDGE_VALUES = torch.tensor([0.0, -0.0, 0.5, 1.0, 1.5, 2.0, -1.0, -1.5, 10.0, 100.0, 1e5, math.inf, -math.inf, math.nan]).double()
for name in ("special_zeta", "igamma", "igammac", "special_xlog1py"):
    record(name, EDGE_VALUES.float()[:, None], EDGE_VALUES.float(), with_gradients=False)
    record(name, EDGE_VALUES[:, None], EDGE_VALUES, with_gradients=False)
CHEBYSHEV_POLYNOMIALS = ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w")
for name in (*CHEBYSHEV_POLYNOMIALS, *("shifted_" + name for name in CHEBYSHEV_POLYNOMIALS), "hermite_polynomial_h", "hermite_polynomial_he",
             "laguerre_polynomial_l", "legendre_polynomial_p"):
    record("special_" + name, EDGE_VALUES[:, None], torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, 5.0, 6.0, 7.0, 10.0, 20.0]).double(), with_gradients=False)

# PyTorch rounds a number to 16 bits before it is an operand of a 16-bit tensor, except a number that is a factor or a divisor.
for dtype in (torch.float16, torch.bfloat16):
    halves, tiny = torch.tensor([0.1, 1.0, 3.3, -2.7, 7.0, 2048.0], dtype=dtype), torch.tensor([1e-5, -1e-3, -2.0], dtype=dtype)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        for wide in (torch.tensor(0.1), torch.tensor(3.3).double(), integers(2049)[0]):
            record(name + ".Tensor", halves, wide, with_gradients=False)
            record(name + ".Tensor", wide, halves, with_gradients=False)
        record(name + ".Scalar", halves, 3.3, with_gradients=False)
        record(name + "_.Scalar", halves, 0.1, with_gradients=False)
        record(name + "_.Tensor", halves, torch.tensor(0.1).double(), with_gradients=False)
        record(name + ".Tensor", halves, integers(0, 1, 3, -3, 7, 2049), with_gradients=False)
    for name in ("add.Tensor", "remainder.Tensor", "fmod.Tensor", "maximum", "atan2", "hypot", "nextafter", "pow.Tensor_Tensor",
                 "xlogy.Tensor", "special_xlog1py"):
        for wide in (torch.tensor(2.7), torch.tensor(1e10), torch.tensor(-1e10).double()):
            record(name, halves, wide, with_gradients=False)
            record(name, wide, halves, with_gradients=False)
    for name in ("mul.Scalar", "div.Scalar", "floor_divide.Scalar"):
        record(name, tiny, 1e5, with_gradients=False)
    for mode in ("trunc", "floor"):
        record("div.Scalar_mode", halves, 0.1, rounding_mode=mode, with_gradients=False)
        record("div_.Scalar_mode", halves, 2.7, rounding_mode=mode, with_gradients=False)
    for name in ("remainder.Scalar", "fmod.Scalar", "fmod_.Scalar", "pow.Tensor_Scalar", "xlogy.Scalar_Other"):
        record(name, halves, 2.7, with_gradients=False)
    record("lerp.Scalar", tiny, tiny * 2, 70000.0, with_gradients=False)

# Sums that overflow only if the terms are squared or added without scaling, and elements at the limits of the dtype.
for dtype in (torch.float16, torch.bfloat16, torch.float32):
    largest = torch.finfo(dtype).max
    column = torch.tensor([[largest], [-largest], [1.0]], dtype=dtype)
    for order in (2, 3, 0, 0.5):
        record("linalg_vector_norm", column, order, [1], with_gradients=False)
    record("norm.Scalar", column[0, 0], 2, with_gradients=False)
    record("norm_except_dim", column, 2, 0, with_gradients=False)
    record("cumulative_trapezoid.dx", torch.tensor([1.0, 0.0, largest, 0.1], dtype=dtype), with_gradients=False)
    record("cumulative_trapezoid.x", torch.tensor([1.0, 0.0, largest, 0.1], dtype=dtype), torch.arange(4).to(dtype), with_gradients=False)
    record("gelu", torch.tensor([-math.inf, -0.0, 1.0], dtype=dtype), with_gradients=False)
for dtype in (torch.bfloat16, torch.float32, torch.float64):
    edge_values = torch.tensor([-math.inf, -0.0, 0.0, 4.0, -1.0, math.inf], dtype=dtype)
    for exponent in (0.5, -0.5):
        record("pow.Tensor_Scalar", edge_values, exponent, with_gradients=False)
        record("pow_.Scalar", edge_values, exponent, with_gradients=False)
record("pow.Tensor_Scalar", integers(4, 9), 0.5)
record("mT", f64())
for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    for sizes in ((), (2,), (2, 3)):
        record(name, f64(*sizes))

# Dtypes that operators have in addition to the usual ones.
COMPLEX128, FLOAT16 = torch.complex128, torch.float16
EDGE_VALUES = torch.tensor([3 + 4j, 0j, complex(math.inf, math.nan), complex(math.nan, 1), 1e300 + 1e300j, 1e-300j, complex(-math.inf, 1)], dtype=COMPLEX128)
for dtype in (torch.complex64, COMPLEX128):
    def numbers(*sizes):
        return torch.randn(sizes, dtype=dtype)

    for name in ("abs", "absolute", "silu", "sinc", "special_sinc", "log1p"):
        record(name, numbers(3, 2))
        record(name, numbers(2, 3).t())
    record("abs", EDGE_VALUES.to(dtype), with_gradients=False)
    record("nan_to_num", EDGE_VALUES.to(dtype), with_gradients=False)
    record("nan_to_num", EDGE_VALUES.to(dtype), 1.0, 2.0, -3.0, with_gradients=False)
    record("isclose", numbers(3), numbers(3))
    record("allclose", numbers(3), numbers(3))
    record("l1_loss", numbers(3), numbers(3))
    record("lerp.Scalar", numbers(3, 2), numbers(2), 0.3)
    record("lerp.Scalar", numbers(3), numbers(3), 0.4 - 0.9j)
    record("lerp.Tensor", numbers(3), numbers(3), numbers(3))
    record("logaddexp", numbers(3, 1), numbers(4))
    record("logaddexp", EDGE_VALUES.to(dtype), EDGE_VALUES.to(dtype)[-1:], with_gradients=False)
    for keepdim in (False, True):
        record("logsumexp", numbers(2, 3), [0], keepdim)
        record("logsumexp", numbers(2, 3), [0, 1], keepdim)
    record("logsumexp", numbers(0, 3), [0], False)
    record("logcumsumexp", numbers(2, 3), 0)
    record("logcumsumexp", numbers(4), 0)
    for name in ("sigmoid_backward", "tanh_backward", "silu_backward"):
        record(name, numbers(3), numbers(3))
record("im2col", torch.rand(1, 2, 3, 3) > 0.5, [2, 2], [1, 1], [1, 1], [1, 1])
mask = torch.tensor([True, False, True])
for dtype in (torch.uint8, torch.int32, torch.int64, torch.bool):
    record("native_dropout_backward", torch.tensor([2, 1, 0]).to(dtype), mask, 2.5)
picture = torch.randint(0, 256, (2, 3, 5, 4), dtype=torch.uint8)
for pixels in (picture, picture.contiguous(memory_format=torch.channels_last)):
    for name in ("upsample_bilinear2d", "upsample_bicubic2d"):
        for align in (False, True):
            for size in ([7, 9], [3, 2], [5, 8], [1, 4]):
                record(name, pixels, size, align, None, None)
        record(name + ".vec", pixels, None, False, [1.7, 0.6])
for dtype in (torch.uint8, torch.int8, torch.int16):
    record("repeat_interleave.self_Tensor", f32(3, 2), torch.tensor([2, 0, 3], dtype=dtype), 0)
    record("repeat_interleave.self_Tensor", f32(3), torch.tensor([2], dtype=dtype), None)
    record("repeat_interleave.Tensor", torch.tensor([2, 0, 3], dtype=dtype), with_gradients=False)
for dtype in (FLOAT16, torch.bfloat16, torch.float32, torch.float64):
    record("ldexp.Tensor", torch.tensor([1e-4, -3.0, 0.0]).to(dtype), torch.tensor([20, -3, 7]))
    record("ldexp.Tensor", torch.tensor(-1.5).to(dtype), torch.tensor([12, -3, 7]))
record("ldexp.Tensor", torch.tensor([1e-30, 2.0]), torch.tensor([200, -60], dtype=torch.int32), with_gradients=False)
record("ldexp.Tensor", f64(3), torch.tensor(200, dtype=torch.uint8), with_gradients=False)
record("cosine_similarity", f32(2, 3), i64(2, 3), 1)
record("cosine_similarity", torch.ones(3, dtype=torch.uint8), f64(2, 3), 1)
record("cosine_similarity", f32(2, 3).half(), f32(3), 1)
duplicates = torch.tensor([[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[5, 6], [7, 8]]])
for dim in (0, 1, 2):
    for with_indices in (False, True):
        record("unique_dim", duplicates, dim, True, with_indices, with_indices)
        record("unique_consecutive", duplicates, with_indices, with_indices, dim)
record("log_sigmoid", f32(3, 4).t())

# The strides of dimensions of size 1, of empty dimensions, and of new dimensions.
EXPAND_TARGETS = {
    ((), ()): ([1], [1, 1], [3, 1], [1, 3], [1, 2, 1, 3], [0], [1, 0], [0, 1], [2, 0, 1], []),
    ((1,), (7,)): ([1], [-1], [1, 1], [1, -1], [3, 1], [1, 3], [2, 1, 1], [1, 0], [0, 1], [1, 2, 0, 1]),
    ((1, 3), (7, 1)): ([1, -1], [2, -1, 3], [1, 2, 1, 3], [1, 0, 1, 3], [2, 2, 3]),
    ((3, 1), (1, 9)): ([3, 1], [-1, 1], [1, -1, 1], [2, -1, 3], [3, 0]),
    ((1, 1), (5, 6)): ([1, 1], [1, 3], [3, 1], [1, 1, 1], [1, 2, 1, 3], [0, 4, 1, 1], [1, 1, 0]),
    ((2, 1, 3), (3, 11, 1)): ([1, 2, 1, 3], [2, 2, 3], [0, 2, 1, 3], [1, 1, -1, -1, -1]),
    ((2, 0, 1), (4, 3, 9)): ([1, 2, 0, 1], [2, 0, 4], [2, -1, 1]),
}
for (sizes, strides), targets in EXPAND_TARGETS.items():
    source = torch.arange(1.0, 7.0).as_strided(sizes, strides)
    for target in targets:
        record("expand", source, target)
    record("broadcast_to", source, targets[0])

# Grid sampling in 16 bits, rounded after each operation. Some points are outside the image. The backward has two points: if more of them add to
# one element, the sum depends on the order, which is undefined on CUDA.
for dtype in (torch.float16, torch.bfloat16):
    for padding, align in ((0, False), (1, True), (2, False)):
        for mode in (0, 2):
            image, grid = f32(1, 2, 4, 3).to(dtype), (f32(1, 3, 2, 2) * 0.8).to(dtype)
            record("grid_sampler_2d", image, grid, mode, padding, align)
            record("grid_sampler_2d_backward", f32(1, 2, 1, 2).to(dtype), image, grid[:, :1], mode, padding, align, [True, True])
        image, grid = f32(1, 2, 2, 3, 4).to(dtype), (f32(1, 1, 3, 2, 3) * 0.8).to(dtype)
        record("grid_sampler_3d", image, grid, 0, padding, align)
        record("grid_sampler_3d_backward", f32(1, 2, 1, 1, 2).to(dtype), image, grid[:, :, :1], 0, padding, align, [True, True])

write(Path(__file__).with_name("more.jsonl.gz"))
