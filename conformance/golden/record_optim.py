"""Records calls of operators over lists of tensors, of optimiser steps and of the scale of a loss: `python3 record_optim.py` writes
optim.jsonl.gz, in the format of ops.jsonl.gz."""

from pathlib import Path

import torch

from recorder import record, write

torch.manual_seed(2605)

UNARY = (
    "abs neg sign ceil floor round trunc frac reciprocal sqrt rsqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
    "sigmoid erf erfc lgamma"
).split()


def lists(dtype=torch.float64, low=0.1, high=0.9):
    return [torch.rand(sizes, dtype=torch.float64).mul(high - low).add(low).to(dtype) for sizes in ((3,), (), (2, 2), (0, 2))]


def record_with_gradients(name, *arguments, **options):
    """Records a call with its gradients if PyTorch can compute them: it fails for lists of which a part has no gradient."""
    try:
        record(name, *arguments, **options)
    except (RuntimeError, IndexError):
        record(name, *arguments, with_gradients=False, **options)


def both(name, *arguments, **options):
    """Records the functional operator, and the form that writes its first argument."""
    base, _, overload = name.partition(".")
    record_with_gradients(name, *arguments, **options)
    written = [tensor.clone() for tensor in arguments[0]] if isinstance(arguments[0], list) else arguments[0]
    record(f"{base}_.{overload}" if overload else base + "_", written, *arguments[1:], with_gradients=False, **options)


for name in UNARY:
    both("_foreach_" + name, lists())
    both("_foreach_" + name, [lists()[2].t(), torch.tensor([0.25], dtype=torch.float32)])
    record("_foreach_" + name, [torch.tensor([float("nan"), float("inf"), 0.5])], with_gradients=False)
    record("_foreach_" + name, [torch.tensor([0.25, 0.5], dtype=torch.bfloat16)], with_gradients=False)
for name in ("abs", "neg", "sign"):
    record("_foreach_" + name, [torch.tensor([-3, 4]), torch.tensor([2], dtype=torch.int8)], with_gradients=False)

for name in ("add", "sub", "mul", "div"):
    alpha = {"alpha": 0.5} if name in ("add", "sub") else {}
    both(f"_foreach_{name}.List", lists(), lists())
    if alpha:
        both(f"_foreach_{name}.List", lists(), lists(), **alpha)
    both(f"_foreach_{name}.Scalar", lists(), 1.5)
    both(f"_foreach_{name}.ScalarList", lists(), [1.5, -2, 3.0, 1])
    record(f"_foreach_{name}.Scalar", [torch.tensor([3, -4]), torch.tensor([2.5])], 2, with_gradients=False)
    record(f"_foreach_{name}.ScalarList", [torch.tensor([3, -4]), torch.tensor([2.5])], [1.5, 2], with_gradients=False)
    record(f"_foreach_{name}.List", [torch.tensor([3, -4])], [torch.tensor([[0.5], [2.0]])], with_gradients=False)
    if name != "sub":
        both(f"_foreach_{name}.Tensor", lists(), torch.tensor(1.5, dtype=torch.float64))
both("_foreach_add.Tensor", lists(), torch.tensor(1.5, dtype=torch.float64), alpha=2)
for name in ("addcmul", "addcdiv"):
    both(f"_foreach_{name}.Scalar", lists(), lists(), lists())
    both(f"_foreach_{name}.Scalar", lists(), lists(), lists(), 0.5)
    both(f"_foreach_{name}.ScalarList", lists(), lists(), lists(), [0.5, 2.0, -1.0, 3.0])
    record(f"_foreach_{name}.Tensor", lists(), lists(), lists(), torch.tensor([0.5, 2.0, -1.0, 3.0]), with_gradients=False)
    record(f"_foreach_{name}_.Tensor", lists(), lists(), lists(), torch.tensor([0.5, 2.0, -1.0, 3.0]), with_gradients=False)
both("_foreach_lerp.List", lists(), lists(), lists())
both("_foreach_lerp.Scalar", lists(), lists(), 0.25)
both("_foreach_lerp.ScalarList", lists(), lists(), [0.25, 0.75, 1.0, 0.5])
for name in ("clamp_min", "clamp_max", "maximum", "minimum"):
    both(f"_foreach_{name}.List", lists(), lists())
    record_with_gradients(f"_foreach_{name}.Scalar", lists(), 0.5)
    record(f"_foreach_{name}_.Scalar", lists(), 0.5, with_gradients=False)
    record_with_gradients(f"_foreach_{name}.ScalarList", lists(), [0.5, 0.2, 0.8, 0.5])
    record(f"_foreach_{name}_.ScalarList", lists(), [0.5, 0.2, 0.8, 0.5], with_gradients=False)
    record(f"_foreach_{name}.Scalar", [torch.tensor([3, -4])], 0.5, with_gradients=False)
both("_foreach_pow.List", lists(), lists())
both("_foreach_pow.Scalar", lists(), 1.5)
both("_foreach_pow.ScalarList", lists(), [1.5, 2, 0.5, 3])
record_with_gradients("_foreach_pow.ScalarAndTensor", 2.0, lists())

record_with_gradients("_foreach_clone", lists())
record_with_gradients("_foreach_clone", [lists()[2].t()], memory_format=torch.contiguous_format)
record("_foreach_copy", lists(), lists(torch.float32), with_gradients=False)
record("_foreach_copy_", lists(torch.float32), lists(), with_gradients=False)
record("_foreach_copy_", [torch.zeros(2, 3)], [torch.tensor([1, 2, 3])], True, with_gradients=False)
record("_foreach_zero", lists(), with_gradients=False)
record("_foreach_zero_", lists(), with_gradients=False)
record_with_gradients("_foreach_mm", [torch.randn(2, 3, dtype=torch.float64), torch.randn(1, 2, dtype=torch.float64)], [torch.randn(3, 2, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)])
record_with_gradients("_foreach_max", lists()[:3])
record("_foreach_max", [torch.tensor([1, 5, 2]), torch.tensor([float("nan"), 1.0])], with_gradients=False)
for order in (2, 1, 0, 3.5, float("inf")):
    record_with_gradients("_foreach_norm.Scalar", lists()[:3], order)
    if order < float("inf"):
        record("_foreach_powsum.Scalar", lists()[:3], order, with_gradients=False)
record("_foreach_norm.Scalar", lists(torch.float32)[:3], 2, torch.float64, with_gradients=False)
record("_foreach_powsum.Scalar", lists(torch.float32), 2, torch.float64, with_gradients=False)
record("_foreach_norm.Scalar", [torch.tensor([3 + 4j, 1j])], 2, with_gradients=False)
record("linalg__powsum", torch.randn(2, 3, dtype=torch.float64), 3, [1], True, with_gradients=False)

# Steps of optimisers.
SIZES = ((3, 2), (4,), (), (2, 3))


def state(dtype=torch.float32, positive=False):
    tensors = [torch.randn(sizes, dtype=torch.float64) for sizes in SIZES]
    tensors[3] = torch.randn(3, 2, dtype=torch.float64).t()
    return [(tensor.abs() if positive else tensor).to(dtype) for tensor in tensors]


def steps(count=2.0):
    return [torch.tensor(count + i) for i in range(len(SIZES))]


SCALES = ({}, {"grad_scale": torch.tensor(4.0)}, {"grad_scale": torch.tensor(4.0), "found_inf": torch.tensor(1.0)}, {"found_inf": torch.tensor(0.0)})
for name in ("_fused_adam", "_fused_adamw"):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        for amsgrad, maximize, decay in ((False, False, 0.0), (True, True, 0.1), (False, True, 0.1), (True, False, 0.0)):
            for scales in SCALES if dtype == torch.float32 else SCALES[:2]:
                options = {"beta1": 0.9, "beta2": 0.99, "weight_decay": decay, "eps": 1e-6, "amsgrad": amsgrad, "maximize": maximize, **scales}
                lists_of_state = state(dtype), state(dtype), state(dtype), state(dtype, True), state(dtype, True) if amsgrad else []
                for form, lr in (("", 0.1), ("_", 0.1), ("_.tensor_lr", torch.tensor(0.1)), (".tensor_lr", torch.tensor(0.1))):
                    copies = [[tensor.clone() for tensor in one] for one in lists_of_state]
                    record(name + form, *copies, steps(), lr=lr, with_gradients=False, **options)
    options = {"beta1": 0.3, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-6, "amsgrad": False, "maximize": False}
    record(name + "_", state(), state(), state(), state(positive=True), [], steps(1.0), lr=0.1, with_gradients=False, **options)
for momentum, nesterov, dampening, first in ((0.0, False, 0.0, False), (0.9, False, 0.5, False), (0.9, True, 0.0, False), (0.9, True, 0.0, True), (0.9, False, 0.5, True)):
    for maximize, decay, scales in ((False, 0.0, SCALES[0]), (True, 0.1, SCALES[1]), (False, 0.1, SCALES[2]), (False, 0.1, SCALES[3])):
        options = {"weight_decay": decay, "momentum": momentum, "dampening": dampening, "nesterov": nesterov, "maximize": maximize, "is_first_step": first, **scales}
        for form, lr in (("", 0.1), ("_", 0.1), ("_.tensor_lr", torch.tensor(0.1)), (".tensor_lr", torch.tensor(0.1))):
            for dtype in (torch.float32, torch.bfloat16):
                record("_fused_sgd" + form, state(dtype), state(dtype), state(dtype) if momentum else [], lr=lr, with_gradients=False, **options)
for maximize, decay, lr_decay, scales in ((False, 0.0, 0.0, SCALES[0]), (True, 0.1, 0.2, SCALES[1]), (False, 0.1, 0.2, SCALES[2]), (False, 0.1, 0.2, SCALES[3])):
    options = {"lr_decay": lr_decay, "weight_decay": decay, "eps": 1e-6, "maximize": maximize, **scales}
    for dtype in (torch.float32, torch.float64, torch.float16):
        for form, lr in (("", 0.1), ("_", 0.1), ("_.tensor_lr", torch.tensor(0.1)), (".tensor_lr", torch.tensor(0.1))):
            record("_fused_adagrad" + form, state(dtype), state(dtype), state(dtype, True), steps(), lr=lr, with_gradients=False, **options)

# The scale of a loss.
for values in ([1.0, -2.0], [1.0, float("inf")], [float("nan"), 0.5]):
    for form in ("", "_"):
        record("_amp_foreach_non_finite_check_and_unscale" + form, [torch.tensor(values), torch.tensor([[3.0]])], torch.tensor(0.0), torch.tensor(0.5), with_gradients=False)
for scale, tracker, found in ((4.0, 0, 0.0), (4.0, 1, 0.0), (4.0, 1, 1.0), (3e38, 1, 0.0), (0.0, 5, 0.0)):
    for form in ("", "_"):
        record("_amp_update_scale" + form, torch.tensor(scale), torch.tensor(tracker, dtype=torch.int32), torch.tensor(found), 2.0, 0.5, 2, with_gradients=False)

# Undefined parts of complex numbers, sums of powers of integers, and flags and counters at their limits.
undefined = torch.tensor([complex(float("nan"), 0), complex(0, float("nan")), complex(-0.0, 3), complex(float("inf"), 1)], dtype=torch.complex128)
for name in ("sqrt", "rsqrt", "asin", "acos"):
    record("_foreach_" + name, [undefined, undefined.to(torch.complex64)], with_gradients=False)
for order in (2, 0, -1, float("inf")):
    record("_foreach_powsum.Scalar", [torch.tensor([1, -2, 3]), torch.zeros(0, 2)], order, torch.float32, with_gradients=False)
for form in ("", "_"):
    record("_foreach_addcmul" + form + ".Tensor", [torch.tensor([3, -4])], [torch.tensor([2, 3])], [torch.tensor([2, 3])], torch.tensor([1.5]), with_gradients=False)
    for tracker, found in ((1, 0.5), (1, float("nan")), (2**31 - 1, 0.0)):
        record("_amp_update_scale" + form, torch.tensor(4.0), torch.tensor(tracker, dtype=torch.int32), torch.tensor(found), 2.0, 0.5, 2, with_gradients=False)
    record("_amp_foreach_non_finite_check_and_unscale" + form, [torch.tensor(2.0)], torch.tensor(0.0), torch.tensor([0.5]), with_gradients=False)

# Numbers beside undefined and equal elements, exponents that are truth values, magnitudes in a real dtype, and layouts.
for name in ("_foreach_maximum", "_foreach_minimum"):
    compared = [torch.tensor([float("nan"), 1.0, 2.0, 3.0], dtype=torch.float64)]
    record(name + ".Scalar", compared, 2)
    record(name + ".ScalarList", compared, [2.0])
for form in ("", "_"):
    record("_foreach_maximum" + form + ".Scalar", [torch.tensor([0, 200], dtype=torch.uint8)], -1, with_gradients=False)
for exponent in (True, False):
    record("_foreach_pow.Scalar", [torch.tensor([1.5, 2.0], dtype=torch.float64)], exponent)
record("_foreach_powsum.Scalar", [torch.tensor([3 + 4j, 1j])], 2, torch.float64, with_gradients=False)
record("_foreach_pow.ScalarAndTensor", 2, [torch.arange(6.0).reshape(3, 2).t()], with_gradients=False)
record("_foreach_norm.Scalar", [torch.zeros(0)], float("nan"), with_gradients=False)

write(Path(__file__).with_name("optim.jsonl.gz"))
