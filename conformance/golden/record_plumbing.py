"""Records calls of operators that change or query a tensor's memory, sizes and gradient state, and of lazy conjugates and negatives:
`python3 record_plumbing.py` writes plumbing.jsonl.gz, in the format of ops.jsonl.gz."""

import itertools
from pathlib import Path

import torch

from recorder import record, write

torch.manual_seed(263)

REAL = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
SPECIAL = [0.0, -0.0, 1.5, -2.25, float("inf"), float("-inf"), float("nan")]


def numbers(dtype, *sizes):
    if dtype == torch.bool:
        return torch.rand(sizes) > 0.5
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(sizes, dtype=torch.complex128 if dtype.is_complex else torch.float64).to(dtype)
    return torch.randint(0, 100, sizes).to(dtype)


def layouts(dtype):
    whole = numbers(dtype, 4, 6)
    image = numbers(dtype, 2, 3, 2, 2)
    return [numbers(dtype), numbers(dtype, 0, 3), whole, whole.t(), image, image.to(memory_format=torch.channels_last), numbers(dtype, 4),
            numbers(dtype, 2, 1, 3).transpose(0, 2)]


# Lazy conjugates and negatives, their copies, and parts of complex tensors.
special = torch.tensor([complex(real, imaginary) for real, imaginary in itertools.product(SPECIAL, SPECIAL)], dtype=torch.complex128)
for dtype in COMPLEX:
    for tensor in [*layouts(dtype), special.to(dtype)]:
        for name in ("_conj", "conj", "_conj_physical", "_conj_copy", "_neg_view", "_neg_view_copy", "resolve_conj", "resolve_neg", "real", "imag",
                     "view_as_real", "mH" if tensor.dim() == 2 else "conj", "adjoint" if tensor.dim() == 2 else "conj"):
            record(name, tensor)
        out = torch.empty_like(tensor, memory_format=torch.contiguous_format)
        record("_conj_physical.out", tensor, out=out, with_gradients=False)
        record("_conj_copy.out", tensor, out=out, with_gradients=False)
        record("_neg_view_copy.out", tensor, out=out, with_gradients=False)
for dtype in REAL:
    for tensor in [*layouts(dtype), torch.tensor(SPECIAL).to(dtype) if dtype.is_floating_point else torch.tensor([0, 1, 127, -128]).to(dtype)]:
        for name in ("conj", "_conj_physical", "_neg_view", "_neg_view_copy", "resolve_conj", "resolve_neg", "real"):
            record(name, tensor)
        record("_neg_view_copy.out", tensor, out=torch.empty_like(tensor, memory_format=torch.contiguous_format), with_gradients=False)
record("_conj_physical", numbers(torch.bool, 3))

# Queries.
QUERIES = ("is_conj", "is_neg", "is_inference", "is_distributed", "_is_zerotensor", "is_leaf", "output_nr", "_version", "retains_grad",
           "_debug_has_internal_overlap")
for dtype in (torch.float32, torch.complex64, torch.bool, torch.int64):
    for tensor in layouts(dtype):
        for name in QUERIES:
            record(name, tensor, with_gradients=False)
        for name in ("lift", "_lazy_clone", "data"):
            record(name, tensor, with_gradients=name != "data")
        record("lift.out", tensor, out=torch.empty_like(tensor, memory_format=torch.contiguous_format), with_gradients=False)
for one, other in itertools.product((torch.float32, torch.int64, torch.complex64, torch.bool), repeat=2):
    record("_has_compatible_shallow_copy_type", numbers(one, 2), numbers(other, 3, 1), with_gradients=False)
for value in ([], [True], [True, True], [False], [False, True], [[True, True], [True, False]], [[False, False]]):
    for name in ("_is_all_true", "_is_any_true"):
        record(name, torch.tensor(value, dtype=torch.bool))
        record(name, torch.tensor(value, dtype=torch.bool).t() if len(value) == 2 and value[0] is not True and value[0] is not False else torch.tensor(True))

# Conversions.
for dtype in (*REAL, *COMPLEX, torch.bool):
    tensor = numbers(dtype, 2, 3)
    record("_to_cpu", [tensor, tensor.t()], with_gradients=False)
    for cuda, cpu in itertools.product((True, False), repeat=2):
        record("_autocast_to_full_precision", tensor, cuda, cpu)
        for low in (torch.float16, torch.bfloat16):
            record("_autocast_to_reduced_precision", tensor, cuda, cpu, torch.float16, low, with_gradients=False)
record("_to_cpu", [])

# Memory and sizes.
for dtype in (torch.float32, torch.float64, torch.complex64, torch.int64, torch.int8, torch.bool, torch.float16):
    for tensor in layouts(dtype):
        source = numbers(dtype, 3, 4)
        record("set_", tensor, with_gradients=False)
        record("set", tensor, with_gradients=False)
        for given in (source, source.t(), numbers(dtype, 2, 0), numbers(dtype)):
            record("set_.source_Tensor", tensor, given, with_gradients=False)
            record("set.source_Tensor", tensor, given, with_gradients=False)
            record("shallow_copy_data_", tensor, given, with_gradients=False)
        for options in ((0, [12]), (3, [2, 3]), (1, [2, 2], [4, 1]), (2, [2, 5], [0, 1]), (0, [0, 3]), (5, [], [])):
            record("set_.source_Tensor_storage_offset", tensor, source, *options, with_gradients=False)
        for sizes in ([tensor.numel()], [1, tensor.numel(), 1], list(tensor.shape), [0], [0, 2], [tensor.numel() // 2]):
            # More elements than the tensor shows are in its memory or arbitrary, so these calls keep or reduce the number.
            record("resize", tensor, sizes, with_gradients=False)
            template = torch.empty(sizes)
            record("resize_as", tensor, template, with_gradients=False)
            if tensor.is_contiguous() or sizes == list(tensor.shape):
                record("resize_", tensor, sizes, with_gradients=False)
                record("resize_as_", tensor, template, with_gradients=False)
    image = numbers(dtype, 2, 3, 2, 2)
    for sizes, memory_format in itertools.product(([2, 3, 2, 2], [1, 2, 2, 3], [2, 2, 1, 1]), (torch.channels_last, torch.contiguous_format)):
        for name in ("resize", "resize_"):
            record(name, image, sizes, memory_format=memory_format, with_gradients=False)
        for template_format in (torch.channels_last, torch.contiguous_format):
            template = torch.empty(sizes).to(memory_format=template_format)
            for name in ("resize_as", "resize_as_"):
                for option in ({}, {"memory_format": memory_format}, {"memory_format": torch.preserve_format}):
                    record(name, image, template, **option, with_gradients=False)
    record("resize.out", image, [6, 4], out=torch.empty(6, 4, dtype=dtype), with_gradients=False)
    record("resize_as.out", image, torch.empty(4, 6), out=torch.empty(4, 6, dtype=dtype), with_gradients=False)
    record("set.source_Tensor_out", image, image[0], out=torch.empty(3, 2, 2, dtype=dtype), with_gradients=False)
    record("set.out", image, out=torch.empty(0, dtype=dtype), with_gradients=False)

# The gradient state. These calls change no elements.
for dtype in (torch.float32, torch.complex64):
    for tensor in layouts(dtype):
        record("detach_", tensor.clone(), with_gradients=False)
        record("requires_grad_", tensor, False, with_gradients=False)
        record("requires_grad_", tensor, with_gradients=False)

write(Path(__file__).with_name("plumbing.jsonl.gz"))
