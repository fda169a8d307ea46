"""Records what PyTorch's samples of its operators call below autograd, in every dtype: `python3 record_samples.py` writes
samples.jsonl.gz, in the form of ops.jsonl.gz. That one has mostly the dtypes that networks are made of.
"""

import json
import random
import warnings
from pathlib import Path

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from recorder import LINES, NAMES, encoded, tensors, write

warnings.filterwarnings("ignore")
LARGEST = 200
SAMPLES = 6
# What comes out is no tensor that there is here, or is nobody's promise.
LEFT_OUT = ("linalg", "fft", "cholesky", "sparse", "empty", "resize", "jiterator")


def is_kept(function):
    name = function._schema.name
    is_random = torch.Tag.nondeterministic_seeded in function.tags
    return name.startswith("aten::") and not is_random and not any(word in name for word in LEFT_OUT)


def is_stride_of_one(function, given):
    """Magnitudes of complex numbers keep strides along single elements, which nothing reads and nothing else keeps."""
    return function is torch.ops.aten.abs.default and given[0].is_complex() and 1 in given[0].shape


class Recording(TorchDispatchMode):
    """The first call of each operator for each set of dtypes."""

    known = set()

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        named = named or {}
        given = tensors([*arguments, *named.values()])
        kind = function, frozenset(tensor.dtype for tensor in given)
        is_new = kind not in self.known and is_kept(function) and all(
            tensor.layout == torch.strided and tensor.dtype in NAMES and tensor.numel() <= LARGEST
            and not tensor.is_conj() and not tensor.is_neg() for tensor in given
        ) and not is_stride_of_one(function, given)
        if not is_new:
            return function(*arguments, **named)
        overload = function._schema.overload_name
        line = {"op": function._schema.name + ("." + overload if overload else ""), "args": [encoded(one) for one in arguments]}
        line["kwargs"] = {name: encoded(value) for name, value in named.items()}
        results = function(*arguments, **named)
        if all(result.numel() <= LARGEST for result in tensors([results])):
            self.known.add(kind)
            line["out"] = encoded(results)
            LINES.append(json.dumps(line) + "\n")
        return results


def samples_of(operator, dtype):
    torch.manual_seed(31)
    random.seed(31)
    samples = list(operator.sample_inputs("cpu", dtype))
    return random.sample(samples, min(SAMPLES, len(samples)))


for operator in op_db:
    for dtype in NAMES:
        if dtype not in operator.supported_dtypes("cpu") or any(word in operator.name for word in LEFT_OUT):
            continue
        for sample in samples_of(operator, dtype):
            try:
                with Recording():
                    operator(sample.input, *sample.args, **sample.kwargs)
            except (RuntimeError, ValueError, TypeError, NotImplementedError, KeyError) as refused:
                print(f"{operator.name} of {dtype}: {str(refused).splitlines()[0]}")

LINES.sort()
write(Path(__file__).with_name("samples.jsonl.gz"))
