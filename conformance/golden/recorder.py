"""Encodes a call with its arguments, results and gradients as a line of JSON.

Numbers are written with all digits, so that the same calls with the same PyTorch give the same bytes.
"""

import gzip
import json
import math

import torch

LINES = []
DTYPE_NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.complex64: "c64",
         torch.complex128: "c128", torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
         torch.bool: "bool", torch.float8_e5m2: "f8e5m2", torch.float8_e4m3fn: "f8e4m3fn", torch.float8_e5m2fnuz: "f8e5m2fnuz",
         torch.float8_e4m3fnuz: "f8e4m3fnuz", torch.float8_e8m0fnu: "f8e8m0fnu"}


def encoded_number(value):
    if isinstance(value, complex):
        return [encoded_number(value.real), encoded_number(value.imag)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def encoded(value):
    if value is None:
        return {"none": True}
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.uint64:
            # This dtype does not exist here. Signed integers have the same bits.
            value = value.view(torch.int64)
        data = [encoded_number(element) for element in value.detach().flatten().tolist()]
        sizes, strides = list(value.shape), list(value.stride())
        return {"tensor": {"dtype": DTYPE_NAMES[value.dtype], "shape": sizes, "strides": strides, "data": data}}
    if isinstance(value, torch.dtype):
        return {"dtype": DTYPE_NAMES[value]}
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return {type(value).__name__: str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        return {"list": [encoded(element) for element in value]}
    return {type(value).__name__: encoded_number(value)}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in tensors(part)] if isinstance(value, (list, tuple)) else []


def map_tensors(value, change):
    """Returns the value with each tensor replaced by `change(tensor)`."""
    if isinstance(value, torch.Tensor):
        return change(value)
    return [map_tensors(part, change) for part in value] if isinstance(value, (list, tuple)) else value


def as_leaf(tensor):
    is_differentiated = tensor.dtype in (torch.float32, torch.float64)
    return tensor.detach().double().clone().requires_grad_() if is_differentiated else tensor


def gradients(function, arguments, named):
    """Returns the gradients of each `f32` and `f64` argument, computed in double precision. The gradients of the results are
    cos(1), cos(2) and so on."""
    arguments, named = map_tensors(arguments, as_leaf), {name: map_tensors(value, as_leaf) for name, value in named.items()}
    leaves = [tensor for tensor in tensors([*arguments, *named.values()]) if tensor.requires_grad]
    results = [result for result in tensors(function(*arguments, **named)) if result.requires_grad]
    if not results:
        return None
    result_gradients = [torch.arange(1, result.numel() + 1).double().cos().reshape(result.shape).to(result.dtype) for result in results]
    gradients_of_leaves = torch.autograd.grad(results, leaves, result_gradients, allow_unused=True)
    return [None if gradient is None else [encoded_number(x) for x in gradient.flatten().tolist()] for gradient in gradients_of_leaves]


def record(name, *arguments, with_gradients=True, **named):
    """Calls an operator, and adds the line of the call. `name` has the overload after a dot. Its namespace is `aten` unless it has another."""
    namespace, _, base = name.rpartition("::")
    namespace, (base, _, overload) = namespace or "aten", base.partition(".")
    function = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    line = {"op": f"{namespace}::{base}" + (overload and "." + overload), "args": [encoded(argument) for argument in arguments]}
    line["kwargs"] = {name: encoded(value) for name, value in named.items()}
    copies = map_tensors(arguments, torch.clone), {name: map_tensors(value, torch.clone) for name, value in named.items()}
    line["out"] = encoded(function(*copies[0], **copies[1]))
    if function._schema.is_mutable:
        line["args_after"] = [encoded(argument) for argument in copies[0]]
        line["kwargs_after"] = {name: encoded(value) for name, value in copies[1].items()}
    if with_gradients and (found := gradients(function, arguments, named)) is not None:
        line["grad_f64"] = found
    LINES.append(json.dumps(line) + "\n")


def write(path):
    path.write_bytes(gzip.compress("".join(LINES).encode(), 9, mtime=0))
