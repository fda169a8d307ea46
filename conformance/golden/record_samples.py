"""Records the calls below autograd that PyTorch's sample inputs of operators cause, in every dtype: `python3 record_samples.py` writes
samples.jsonl.gz, in the format of ops.jsonl.gz, which has mostly the dtypes of networks.
"""

import json
import random
import warnings
from pathlib import Path

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from recorder import DTYPE_NAMES, LINES, encoded, tensors, write

warnings.filterwarnings("ignore")
MAX_ELEMENTS = 200
SAMPLE_COUNT = 6
# Words in the names of operators that are not recorded: opdispatch lacks most of them, or their results are sparse or uninitialised.
SKIPPED_WORDS = ("linalg", "fft", "cholesky", "sparse", "empty", "resize", "jiterator")


def is_recorded(function):
    name = function._schema.name
    is_random = torch.Tag.nondeterministic_seeded in function.tags
    return name.startswith("aten::") and not is_random and not any(word in name for word in SKIPPED_WORDS)


def is_complex_abs_of_size_one(function, operands):
    """Whether the call is `abs` of a complex tensor with a dimension of size 1. Only `abs` keeps the stride of such a
    dimension, which has no effect."""
    return function is torch.ops.aten.abs.default and operands[0].is_complex() and 1 in operands[0].shape


class FirstCalls(TorchDispatchMode):
    """Records the first call of each operator for each set of dtypes."""

    recorded = set()

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        named = named or {}
        operands = tensors([*arguments, *named.values()])
        kind = function, frozenset(tensor.dtype for tensor in operands)
        is_new = kind not in self.recorded and is_recorded(function) and all(
            tensor.layout == torch.strided and tensor.dtype in DTYPE_NAMES and tensor.numel() <= MAX_ELEMENTS
            and not tensor.is_conj() and not tensor.is_neg() for tensor in operands
        ) and not is_complex_abs_of_size_one(function, operands)
        if not is_new:
            return function(*arguments, **named)
        overload = function._schema.overload_name
        line = {"op": function._schema.name + ("." + overload if overload else ""), "args": [encoded(argument) for argument in arguments]}
        line["kwargs"] = {name: encoded(value) for name, value in named.items()}
        results = function(*arguments, **named)
        if all(result.numel() <= MAX_ELEMENTS for result in tensors([results])):
            self.recorded.add(kind)
            line["out"] = encoded(results)
            LINES.append(json.dumps(line) + "\n")
        return results


def samples_of(operator, dtype):
    torch.manual_seed(31)
    random.seed(31)
    samples = list(operator.sample_inputs("cpu", dtype))
    return random.sample(samples, min(SAMPLE_COUNT, len(samples)))


for operator in op_db:
    for dtype in DTYPE_NAMES:
        if dtype not in operator.supported_dtypes("cpu") or any(word in operator.name for word in SKIPPED_WORDS):
            continue
        for sample in samples_of(operator, dtype):
            try:
                with FirstCalls():
                    operator(sample.input, *sample.args, **sample.kwargs)
            except (RuntimeError, ValueError, TypeError, NotImplementedError, KeyError) as error:
                print(f"{operator.name} of {dtype}: {str(error).splitlines()[0]}")

LINES.sort()
write(Path(__file__).with_name("samples.jsonl.gz"))
