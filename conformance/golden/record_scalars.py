"""Records how operators convert numbers that a dtype cannot represent: `python3 record_scalars.py` writes scalars.jsonl.gz.

Every operator of docs/coverage.md that takes a number is called in each dtype with each number of `NUMBERS`, for one argument at a
time. The first line has the numbers. Every other line is one operator, dtype and argument, with a cell for each number: a list of
results, each its dtype and its elements; "overflow" for a number that PyTorch refuses to convert; "error" for any other error; null
if there is nothing to compare. `with` has the arguments of a cell that differ from those of the line.
`meta` has the indices of the cells for which the device meta accepts a call that the CPU refuses, or the reverse.
"""

import json
import math
import re
import warnings
from pathlib import Path

import torch

from recorder import DTYPE_NAMES, LINES, encoded, encoded_number, tensors, write

warnings.filterwarnings("ignore")

NUMBERS = [
    True, 0, 1, -1, 127, 128, -128, -129, 255, 256, -255, -256, 300, 32767, 32768, -32768, -32769, 65504, 65519, 65520,
    2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63),
    0.5, 1.5, -0.5, -1.5, 127.5, 128.0, -128.5, -129.0, 255.5, 256.0, 65519.0, 65520.0, 1e5, 2.0**31, -(2.0**31) - 1, 2.0**63, -1e19,
    3.4028235e38, 3.4028235677973366e38, 1e300, -1e300, 1e-300, math.nan, math.inf, -math.inf,
    complex(1, 1), complex(300, 0), complex(0, 1e300), complex(math.nan, 0),
]


def vector(dtype, *values):
    return torch.tensor(values or (1, 2, 3)).to(dtype)


def square(dtype):
    return torch.tensor([[1, 2], [3, 4]]).to(dtype)


INDICES, FLAGS = torch.tensor([0, 2]), torch.tensor([True, False, True])

# The values of arguments by name: first for all operators, then for single operators.
COMMON_ARGUMENTS = {
    "mask": FLAGS, "condition": FLAGS, "index": INDICES, "dim": 0, "size": [2], "steps": 3, "pad": [1, 1], "reduce": "add",
    "is_result": False, "self_is_result": False, "training": False, "keepdim": False, "rounding_mode": "floor", "reduction": 1,
    "unsafe": False, "batch_first": False, "total_length": 3, "mode": 0,
}
OPERATOR_ARGUMENTS = {
    "addmm": lambda dtype: {name: square(dtype) for name in ("self", "mat1", "mat2")},
    "addmv": lambda dtype: {"self": vector(dtype, 1, 2), "mat": square(dtype), "vec": vector(dtype, 1, 2)},
    "addr": lambda dtype: {"self": square(dtype), "vec1": vector(dtype, 1, 2), "vec2": vector(dtype, 1, 2)},
    "addbmm": lambda dtype: {"self": square(dtype), "batch1": square(dtype)[None], "batch2": square(dtype)[None]},
    "baddbmm": lambda dtype: {name: square(dtype)[None] for name in ("self", "batch1", "batch2")},
    "index_add": lambda dtype: {"source": vector(dtype, 4, 5)},
    "fill_diagonal": lambda dtype: {"self": square(dtype)},
    "renorm": lambda dtype: {"self": square(dtype), "p": 2},
    "multi_margin_loss": lambda dtype: {"self": vector(dtype)[None], "target": torch.tensor([1])},
    "multi_margin_loss_backward": lambda dtype: {
        "self": vector(dtype)[None], "target": torch.tensor([1]), "grad_output": vector(dtype, 1)[0]},
    "segment_reduce": lambda dtype: {"reduce": "sum", "lengths": torch.tensor([2, 1])},
    "_segment_reduce_backward": lambda dtype: {
        "grad": vector(dtype, 1, 2), "output": vector(dtype, 3, 3), "reduce": "sum", "lengths": torch.tensor([2, 1])},
    "_pad_packed_sequence": lambda dtype: {"data": vector(dtype)[:, None], "batch_sizes": torch.tensor([2, 1])},
    "_unsafe_masked_index": lambda dtype: {"mask": torch.tensor([True, False]), "indices": [INDICES]},
    "norm": lambda dtype: {"dim": [0], "dtype": dtype if dtype.is_floating_point or dtype.is_complex else torch.float32},
    "nan_to_num": lambda dtype: {"self": vector(dtype, math.nan, math.inf, -math.inf) if dtype.is_floating_point else vector(dtype)},
    "pad": lambda dtype: {"mode": "constant"},
    "linspace": lambda dtype: {"start": vector(dtype, 1)[0], "end": vector(dtype, 3)[0]},
    "logspace": lambda dtype: {"start": vector(dtype, 1)[0], "end": vector(dtype, 3)[0]},
    "arange": lambda dtype: {"start": 0, "end": 3},
    "range": lambda dtype: {"start": 0, "end": 3},
}
# Arguments of single operators with which no element takes the number: tensors without elements, or masks that are false.
NO_INDICES = torch.tensor([], dtype=torch.int64)
EMPTY_ARGUMENTS = {
    "full": {"size": [0]}, "full_like": {"self": None}, "new_full": {"size": [0]}, "fill": {"self": None},
    "masked_fill": {"mask": torch.tensor([False] * 3)}, "index_fill": {"index": NO_INDICES}, "scatter": {"index": NO_INDICES},
    "constant_pad_nd": {"pad": [0, 0]}, "where": {"condition": torch.tensor([False] * 3)}, "add": {"self": None, "other": None},
    "clamp": {"self": None}, "eq": {"self": None},
}
# Arguments that take a number, but have the type `float` or are tensors of one element.
OTHER_NUMBER_ARGUMENTS = {"nan_to_num": ("nan", "posinf", "neginf"), "pad": ("value",), "fill.Tensor": ("value",),
                          "masked_fill.Tensor": ("value",), "index_fill.int_Tensor": ("value",)}


def schema_of(name):
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def functional_name(name):
    """Returns the name of the functional operator, without overload and underscores at the end."""
    base = name.partition(".")[0]
    return base if base.startswith("__") else base.rstrip("_")


def number_arguments(name, schema):
    """Returns the names of the arguments that take a number."""
    found = [argument for argument in schema.arguments if str(argument.type) in ("number", "Optional[number]", "List[number]")]
    base, _, overload = name.partition(".")
    key = functional_name(name) + ("." + overload.removesuffix("_out") if overload.startswith(("Tensor", "int_Tensor")) else "")
    return [argument.name for argument in found] or list(OTHER_NUMBER_ARGUMENTS.get(key, ()))


def call_arguments(name, schema, dtype, empty):
    """Returns the arguments of a call by name, without those that keep their defaults."""
    base = functional_name(name)
    own = OPERATOR_ARGUMENTS.get(base, lambda dtype: {})(dtype)
    if empty:
        own |= {key: vector(dtype)[:0] if value is None else value for key, value in EMPTY_ARGUMENTS.get(base, {}).items()}
    arguments = {}
    for argument in schema.arguments:
        name, kind = argument.name, str(argument.type)
        if name in own and isinstance(own[name], torch.Tensor) <= (kind == "Tensor"):
            arguments[name] = own[name]
        elif kind == "Tensor":
            arguments[name] = COMMON_ARGUMENTS.get(name, vector(dtype))
        elif "ScalarType" in str(argument.real_type) and "dtype" == name:
            arguments[name] = dtype
        elif kind in ("number", "List[number]") and not argument.has_default_value():
            arguments[name] = [1] if kind == "List[number]" else 1
        elif kind == "Optional[number]" and not argument.has_default_value():
            arguments[name] = None
        elif not argument.has_default_value():
            arguments[name] = COMMON_ARGUMENTS[name]
    if base == "gradient":
        arguments["dim"] = [0] if "array" in schema.overload_name.removeprefix("scalar") else 0
    return arguments


def call(function, arguments, device="cpu"):
    def copied(value):
        if isinstance(value, torch.Tensor):
            return value.clone() if device == "cpu" else torch.empty_like(value, device=device)
        return [copied(part) for part in value] if isinstance(value, list) else value

    arguments = {name: copied(value) for name, value in arguments.items()}
    if device != "cpu" and any(argument.name == "device" for argument in function._schema.arguments):
        arguments["device"] = device
    return function(**arguments)


def outcome_cell(function, arguments, device="cpu"):
    try:
        results = call(function, arguments, device)
    except Exception as error:
        is_overflow = "without overflow" in str(error) or "outside the representable range" in str(error)
        return "overflow" if is_overflow else "error"
    if device != "cpu":
        return []
    if any(result.dtype not in DTYPE_NAMES for result in tensors([results])):
        return None
    return [
        [DTYPE_NAMES[result.dtype], *(encoded_number(element) for element in result.flatten().tolist())]
        for result in tensors([results])
    ]


def with_number(arguments, at, value, kind):
    if kind == "List[number]":
        value = [value]
    elif kind == "Tensor":
        value = torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.complex128 if isinstance(value, complex) else None)
    return arguments | {at: value}


def range_ends(arguments, at, value):
    """Returns the other end of a range that starts or ends at the number, so that the range has few elements."""
    if at not in ("start", "end") or "steps" in arguments or isinstance(value, complex) or not abs(value) < 1e18:
        return {}
    return {"end": value + 2} if at == "start" else {"start": value - 2} if "start" in arguments else {}


def is_too_large(arguments, dtype):
    """Whether the call is a polynomial of very high degree, a range of very many elements, or a range whose step is zero as an integer, which
    kills the process."""
    if not isinstance(arguments.get("n", 1), (torch.Tensor, complex)) and not abs(arguments.get("n", 1)) < 100:
        return True
    if "end" not in arguments or "steps" in arguments or isinstance(arguments["end"], torch.Tensor):
        return False
    start, end, step = arguments.get("start", 0), arguments["end"], arguments.get("step", 1)
    if any(isinstance(one, complex) or not math.isfinite(one) for one in (start, end, step)):
        return False
    return step == 0 or abs(step) < 1 and not dtype.is_floating_point or not (end - start) / step < 1000


def record(name, dtype, empty):
    function = schema_of(name)
    schema = function._schema
    outs = [argument.name for argument in schema.arguments if argument.is_out]
    kinds = {argument.name: str(argument.type) for argument in schema.arguments}
    for at in number_arguments(name, schema):
        arguments = call_arguments(name, schema, dtype, empty)
        for out in outs:
            arguments[out] = vector(dtype)[:0]
        plain = with_number(arguments, at, 1, kinds[at])
        # Some operators have another dtype for `out` than for the arguments.
        for out in (dtype, torch.bool, torch.int64, torch.float32, torch.float64):
            if outcome_cell(function, plain) == "error" and outs:
                arguments |= {name: vector(out)[:0] for name in outs}
                plain = with_number(arguments, at, 1, kinds[at])
        if outcome_cell(function, plain) == "error":
            continue
        cells, meta, others = [], [], {}
        for i, value in enumerate(NUMBERS):
            if kinds[at] in ("float", "Optional[float]") and not isinstance(value, float):
                cells.append(None)
                continue
            other = range_ends(arguments, at, value)
            if other:
                others[i] = {key: encoded(value) for key, value in other.items()}
            with_value = with_number(arguments, at, value, kinds[at]) | other
            if is_too_large(with_value, dtype):
                cells.append(None)
                continue
            cells.append(outcome_cell(function, with_value))
            if isinstance(outcome_cell(function, with_value, "meta"), str) != isinstance(cells[-1], str):
                meta.append(i)
        line = {"op": schema.name + ("." + schema.overload_name if schema.overload_name else ""), "at": at, "dtype": DTYPE_NAMES[dtype]}
        line["kwargs"] = {key: encoded(value) for key, value in with_number(arguments, at, 1, kinds[at]).items()}
        LINES.append(json.dumps(line | {"cells": cells, "meta": meta, "with": others}) + "\n")


page = Path(__file__).parents[2] / "docs/coverage.md"
for name in re.findall(r"^\| `([^`]+)` \|", page.read_text(), re.M):
    if number_arguments(name, schema_of(name)._schema) and not name.startswith("result_type"):
        for dtype in DTYPE_NAMES:
            record(name, dtype, False)
            if functional_name(name) in EMPTY_ARGUMENTS:
                record(name, dtype, True)

LINES.insert(0, json.dumps({"numbers": [encoded(value) for value in NUMBERS]}) + "\n")
write(Path(__file__).with_name("scalars.jsonl.gz"))
