"""How a call is recorded: its arguments, its results and its gradients, as a line of JSON.

Numbers are written in full, so that the same calls and the same PyTorch give the same bytes.
"""

import gzip
import json
import math

import torch

LINES = []
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.complex64: "c64",
         torch.complex128: "c128", torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
         torch.bool: "bool"}


def number(value):
    if isinstance(value, complex):
        return [number(value.real), number(value.imag)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def encoded(value):
    if value is None:
        return {"none": True}
    if isinstance(value, torch.Tensor):
        data = [number(element) for element in value.detach().flatten().tolist()]
        sizes, strides = list(value.shape), list(value.stride())
        return {"tensor": {"dtype": NAMES[value.dtype], "shape": sizes, "strides": strides, "data": data}}
    if isinstance(value, torch.dtype):
        return {"dtype": NAMES[value]}
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return {type(value).__name__: str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        return {"list": [encoded(element) for element in value]}
    return {type(value).__name__: number(value)}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in tensors(part)] if isinstance(value, (list, tuple)) else []


def changed(value, change):
    """The same value with other tensors."""
    if isinstance(value, torch.Tensor):
        return change(value)
    return [changed(part, change) for part in value] if isinstance(value, (list, tuple)) else value


def leaf(tensor):
    is_leaf = tensor.dtype in (torch.float32, torch.float64)
    return tensor.detach().double().clone().requires_grad_() if is_leaf else tensor


def gradients(function, arguments, named):
    """By each tensor with a fraction, in double precision, of the results times the cosines of 1, 2 and so on."""
    arguments, named = changed(arguments, leaf), {name: changed(value, leaf) for name, value in named.items()}
    leaves = [tensor for tensor in tensors([*arguments, *named.values()]) if tensor.requires_grad]
    results = [result for result in tensors(function(*arguments, **named)) if result.requires_grad]
    if not results:
        return None
    seeds = [torch.arange(1, result.numel() + 1).double().cos().reshape(result.shape).to(result.dtype) for result in results]
    found = torch.autograd.grad(results, leaves, seeds, allow_unused=True)
    return [None if gradient is None else [number(x) for x in gradient.flatten().tolist()] for gradient in found]


def record(name, *arguments, graded=True, **named):
    """An operator with its overload, and what it is called with."""
    base, _, overload = name.partition(".")
    function = getattr(getattr(torch.ops.aten, base), overload or "default")
    line = {"op": "aten::" + name, "args": [encoded(argument) for argument in arguments]}
    line["kwargs"] = {name: encoded(value) for name, value in named.items()}
    own = changed(arguments, torch.clone), {name: changed(value, torch.clone) for name, value in named.items()}
    line["out"] = encoded(function(*own[0], **own[1]))
    if graded and (found := gradients(function, arguments, named)) is not None:
        line["grad_f64"] = found
    LINES.append(json.dumps(line) + "\n")



def write(path):
    path.write_bytes(gzip.compress("".join(LINES).encode(), 9, mtime=0))
