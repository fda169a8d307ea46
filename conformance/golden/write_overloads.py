"""Writes the names of PyTorch's overloads that run on a CPU, by a kernel of the CPU or a composite, to overloads.txt.gz:
`python3 write_overloads.py`. The test `coverage` lists those that are missing here."""

import gzip
from pathlib import Path

import torch

KEYS = "CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional"

names = []
for name in torch._C._dispatch_get_all_op_names():
    namespace, _, overload = name.partition("::")
    if namespace == "aten" and any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in KEYS):
        base, _, variant = overload.partition(".")
        try:
            torch._C._get_schema("aten::" + base, variant)
        except RuntimeError:
            continue  # An operator of Python's interpreter, which has no schema in the dispatcher.
        names.append(overload)
text = "".join(name + "\n" for name in sorted(names))
Path(__file__).with_name("overloads.txt.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
