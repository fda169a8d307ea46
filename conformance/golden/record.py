"""Records calls of operators with PyTorch, in the form of ops.jsonl: `python3 record.py | gzip -9n > more.jsonl.gz`.

These are operators that ops.jsonl has no calls of. Each line is an operator with its overload, and what it is called with.
"""

import json
import math

import torch

torch.manual_seed(20)
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
         torch.bool: "bool"}


def number(x):
    return x if not isinstance(x, float) or math.isfinite(x) else str(x)


def encode(value):
    if value is None:
        return {"none": True}
    if isinstance(value, torch.Tensor):
        data = value.detach().reshape(-1).tolist()
        if value.dtype == torch.float32:
            data = [float("%.9g" % x) for x in data]
        shape, strides = list(value.shape), list(value.stride())
        return {"tensor": {"dtype": NAMES[value.dtype], "shape": shape, "strides": strides, "data": [number(x) for x in data]}}
    for kind, tag in ((bool, "bool"), (int, "int"), (float, "float"), (str, "str")):
        if isinstance(value, kind):
            return {tag: number(value)}
    return {"list": [encode(item) for item in value]}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors(item)] if isinstance(value, (list, tuple)) else []


def copied(value, floats):
    """The same value with tensors of its own, which are `floats` where they have a fraction."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().to(floats) if value.dtype == torch.float32 else value.detach().clone()
    return [copied(item, floats) for item in value] if isinstance(value, (list, tuple)) else value


def call(name):
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def gradients(name, arguments):
    """By each tensor with a fraction, with the cosines of 1, 2 and so on for each result."""
    arguments = copied(arguments, torch.float64)
    leaves = [tensor for tensor in tensors(arguments) if tensor.dtype == torch.float64]
    for leaf in leaves:
        leaf.requires_grad_(True)
    results = [result for result in tensors(call(name)(*arguments)) if result.requires_grad]
    if not results:
        return None
    seeds = [torch.arange(1, result.numel() + 1, dtype=torch.float64).cos().reshape(result.shape) for result in results]
    found = torch.autograd.grad(results, leaves, seeds, allow_unused=True)
    return [None if one is None else [number(x) for x in one.reshape(-1).tolist()] for one in found]


def record(name, *arguments, graded=True):
    arguments = list(arguments)
    given = [encode(argument) for argument in arguments]
    out = call(name)(*copied(arguments, torch.float32))
    line = {"op": "aten::" + name, "args": given, "kwargs": {}, "out": encode(out)}
    if graded and (grads := gradients(name, arguments)) is not None:
        line["grad_f64"] = grads
    print(json.dumps(line))


def t(*sizes, dtype=torch.float64):
    return torch.randn(sizes, dtype=torch.float64).to(dtype)


def ints(*numbers):
    return torch.tensor(numbers)


F32, BF16 = torch.float32, torch.bfloat16

# Distances.
for p in (0.0, 1.0, 1.5, 2.0, 3.0, float("inf")):
    record("cdist", t(2, 3, 4), t(5, 4), p, None)
    record("pdist", t(4, 3), p)
record("cdist", t(30, 4), t(3, 4), 2.0, None)
record("cdist", t(3, 4, dtype=F32), t(2, 4, dtype=F32), 2.0, 1)
record("_euclidean_dist", t(3, 4), t(2, 4))
record("pairwise_distance", t(3, 4), t(3, 4), 3.0, 1e-6, True)
record("pairwise_distance", t(4, dtype=F32), t(3, 4, dtype=F32))
record("cosine_similarity", t(3, 4), t(1, 4), 1, 1e-8)
record("cosine_similarity", t(3, 4, 2, dtype=F32), t(3, 4, 2, dtype=F32), 0, 1e-8)
for p in (0.5, 1.0, 2.0, 3.0, float("inf")):
    x1, x2 = t(3, 4), t(2, 4)
    record("_cdist_backward", t(3, 2), x1, x2, p, torch.cdist(x1, x2, p), graded=False)
    record("_pdist_backward", t(3), x1, p, torch.pdist(x1, p), graded=False)

# Bags. What a sum does not count differs by overload.
table, rows = t(6, 3), ints(0, 2, 2, 5, 1, 0, 3)
for mode in (0, 1, 2):
    for offsets, last in ((ints(0, 3, 3, 5), False), (ints(0, 2, 7), True)):
        for padding in (-1, 2):
            record("_embedding_bag", table, rows, offsets, False, mode, False, None, last, padding)
            record("_embedding_bag", table, rows, offsets, True, mode, False, None, last, padding, graded=mode < 2)
    record("embedding_bag", table.to(F32), rows, ints(0, 4), False, mode, False)
    record("embedding_bag.padding_idx", table, rows, ints(0, 4), False, mode, False, None, False, -4)
record("_embedding_bag", table, rows, ints(0, 3, 5), False, 0, False, t(7), False, 2)
record("_embedding_bag", table, rows.int(), ints(0, 3, 5).int(), False, 0, False, t(7), False, -1)
record("_embedding_bag", table.to(BF16), rows, ints(0, 3, 5), False, 1, False, None, False, -1)

# Gates.
record("glu_backward", t(3, 2), t(3, 4), 1)
record("glu_backward", t(2, 5, dtype=F32), t(4, 5, dtype=F32), 0)
for weight in (t(3), t(1), t()):
    record("prelu", t(2, 3, 2), weight)
record("prelu", t(4, dtype=F32), t(1, dtype=F32))
record("hardshrink_backward", t(2, 3), t(2, 3), 0.5)
record("softshrink_backward", t(2, 3), t(2, 3), 0.5)
record("rrelu", t(2, 3), 0.1, 0.3, False)
record("rrelu_with_noise_backward", t(2, 3), t(2, 3), t(2, 3), 0.1, 0.3, True, False, graded=False)
record("rrelu_with_noise_backward", t(2, 3), t(2, 3), t(2, 3), 0.1, 0.3, False, False, graded=False)
record("alpha_dropout", t(2, 3), 0.5, False)
record("feature_alpha_dropout", t(2, 3), 0.5, False)

# Losses.
signs = ints(1, -1, 1)
for reduction in (0, 1, 2):
    record("cosine_embedding_loss", t(3, 4), t(3, 4), signs, 0.2, reduction)
    record("hinge_embedding_loss", t(3, 3), signs, 1.0, reduction)
    record("margin_ranking_loss", t(3), t(3), signs, 0.5, reduction)
    record("triplet_margin_loss", t(3, 4), t(3, 4), t(3, 4), 1.0, 2.0, 1e-6, reduction == 1, reduction)
    for log, full in ((True, True), (False, False)):
        record("poisson_nll_loss", t(2, 3).abs() + 0.1, ints(1, 2, 4).double(), log, full, 1e-8, reduction)
    record("multilabel_margin_loss", t(2, 4), torch.tensor([[1, 3, -1, 0], [2, -1, 0, 0]]), reduction)
    grad = t(3) if reduction == 0 else t()
    record("multi_margin_loss_backward", grad, t(3, 4), ints(1, 3, 0), 2, 1.0, t(4), reduction, graded=False)
record("cosine_embedding_loss", t(4, dtype=F32), t(4, dtype=F32), torch.tensor(1), 0.0, 1)
target = torch.tensor([[1, 3, -1, 0], [2, -1, 0, 0]])
known = torch.tensor([[0.0, 1, 0, 1], [0, 0, 1, 0]], dtype=torch.float64)
record("multilabel_margin_loss_backward", t(2), t(2, 4), target, 0, known, graded=False)

# Normalisation.
record("rms_norm", t(2, 3, 4), [4], t(4), 1e-3)
record("rms_norm", t(2, 3, 4, dtype=F32), [3, 4])
record("_fused_rms_norm", t(2, 3, 4), [3, 4], t(3, 4), 1e-3)
record("rms_norm", t(2, 4, dtype=BF16), [4], t(4, dtype=BF16), None)

# Grids.
for mode in (0, 1, 2):
    for padding in (0, 1, 2):
        for align in (False, True):
            record("grid_sampler_2d", t(2, 2, 4, 3), t(2, 3, 2, 2), mode, padding, align)
            if mode < 2:
                record("grid_sampler_3d", t(1, 2, 3, 4, 3), t(1, 2, 2, 2, 3), mode, padding, align)
record("grid_sampler", t(1, 2, 4, 3), t(1, 3, 2, 2), 0, 0, False)
record("grid_sampler_2d_backward", t(1, 2, 3, 2), t(1, 2, 4, 3), t(1, 3, 2, 2), 2, 1, False, [True, True], graded=False)
record("affine_grid_generator", t(2, 2, 3), [2, 1, 3, 4], False)
record("affine_grid_generator", t(2, 3, 4), [2, 1, 2, 1, 3], True)
record("affine_grid_generator_backward", t(2, 3, 4, 2), [2, 1, 3, 4], False)
record("bilinear", t(2, 3), t(2, 4), t(5, 3, 4), t(5))
record("bilinear", t(2, 3, 2, dtype=F32), t(2, 3, 4, dtype=F32), t(5, 2, 4, dtype=F32), None)

# Sequences of labels.
logs = t(6, 3, 5).log_softmax(-1)
for labels in (torch.tensor([[1, 2, 2], [3, 0, 0], [4, 3, 0]]), ints(1, 2, 2, 3, 4, 3)):
    for reduction in (0, 1, 2):
        record("ctc_loss.IntList", logs, labels, [6, 6, 6], [3, 1, 2], 0, reduction, False)
record("ctc_loss.Tensor", logs, torch.tensor([[1, 2, 2], [3, 0, 0], [4, 3, 0]]), ints(5, 1, 0), ints(3, 1, 2), 0, 2, True)
record("ctc_loss.IntList", logs[:, 0], ints(1, 2), [6], [2], 4, 0, False)
record("_ctc_loss", logs, ints(1, 2, 2, 3, 4, 3), [6, 6, 6], [3, 3, 0], 0, False)

# Resizing.
for base in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
    for sizes in ([2, 3], [7, 9], [3, 7]):
        for align in (False, True):
            record(base, t(1, 2, 5, 6), sizes, align, None, None)
    record(base + ".vec", t(1, 1, 6, 6, dtype=F32), None, False, [0.5, 0.4])
    record(base + "_backward", t(1, 2, 2, 3), [2, 3], [1, 2, 5, 6], False, None, None)

# Recurrent layers.
hidden, inner = 3, 2


def layers(gates, count, both=False, biases=True, projected=None):
    out, width = [], inner
    for _ in range(count):
        for _ in range(2 if both else 1):
            out += [t(gates * hidden, width), t(gates * hidden, projected or hidden)]
            out += [t(gates * hidden), t(gates * hidden)] if biases else []
            out += [t(projected, hidden)] if projected else []
        width = (projected or hidden) * (2 if both else 1)
    return out


def states(count, batch, width=hidden):
    return t(count, batch, width)


record("lstm_cell", t(2, inner), [t(2, hidden), t(2, hidden)], *layers(4, 1))
for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    record(name + "_cell", t(2, inner), t(2, hidden), *layers(gates, 1, biases=name != "rnn_tanh"))
for both in (False, True):
    count = 4 if both else 2
    for first in (False, True):
        data = t(2, 4, inner) if first else t(4, 2, inner)
        record("lstm.input", data, [states(count, 2), states(count, 2)], layers(4, 2, both), True, 2, 0.0, False, both, first)
        for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
            record(name + ".input", data, states(count, 2), layers(gates, 2, both, False), False, 2, 0.0, False, both, first)
    steps = ints(3, 2, 2, 1)
    hx = [states(count, 3), states(count, 3)]
    record("lstm.data", t(8, inner), steps, hx, layers(4, 2, both), True, 2, 0.0, True, both)
    for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        record(name + ".data", t(8, inner), steps, hx[0], layers(gates, 2, both), True, 2, 0.0, True, both)
hx = [states(1, 2, 2), states(1, 2)]
record("lstm.input", t(4, 2, inner), hx, layers(4, 1, projected=2), True, 1, 0.0, False, False, False)
for first in (False, True):
    record("_pack_padded_sequence", t(3, 4, 2) if first else t(4, 3, 2), ints(4, 2, 1), first)
    record("_pad_packed_sequence", t(7, 2), ints(3, 2, 1, 1), first, 0.5, 5)
    for side in ("left", "right"):
        record("pad_sequence", [t(3, 2), t(1, 2), t(2, 2)], first, 0.5, side)
