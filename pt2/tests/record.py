"""Writes the programs in `programs/`, with the results of PyTorch beside them in `programs/expected.safetensors`.

    python3 record.py                    (needs torch 2.15 and safetensors)
    python3 record.py --broken FOLDER    packs a folder of broken programs, with its notes, into `golden/broken.zip.gz`

Weights are small numbers that are exact in every dtype, so that tests can name them. Traces of the Python stack are left out.
"""

import gzip
import io
import json
import os
import sys
import zipfile

import torch
from safetensors.torch import save_file
from torch._higher_order_ops.map import map as torch_map
from torch.export import Dim, export
from torch.export.pt2_archive._package import package_pt2

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
EXPECTED = {}


def path(name):
    return os.path.join(FOLDER, f"{name}.pt2")


def without_traces(program):
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                for key in ("stack_trace", "from_node", "torch_fn", "source_fn_stack"):
                    node.meta.pop(key, None)
    return program


def record(name, model, args, core=False, **options):
    """Exports a model, saves it, and notes the outputs for these arguments as `NAME.0`, `NAME.1` and so on."""
    program = export(model.eval(), args, **options)
    program = without_traces(program.run_decompositions() if core else program)
    torch.export.save(program, path(name))
    # The export of a model that writes its buffers leaves them as they were.
    outputs = program.module()(*args)
    for at, output in enumerate(outputs if isinstance(outputs, (tuple, list)) else [outputs]):
        EXPECTED[f"{name}.{at}"] = output.detach().clone().contiguous()
    return program


def rewrite(name, source, change=None, method=zipfile.ZIP_STORED, entries=()):
    """Writes the archive of another program again: after `change(name, record)` of its JSON, with more entries, or compressed."""
    with zipfile.ZipFile(path(source)) as old, zipfile.ZipFile(path(name), "w") as new:
        root = old.namelist()[0].split("/")[0]
        kept = [(entry.removeprefix(f"{root}/"), old.read(entry)) for entry in old.namelist()]
        for entry, data in [*kept, *entries]:
            if change and entry.endswith(".json"):
                record = json.loads(data)
                change(entry, record)
                data = json.dumps(record).encode()
            # A `ZipInfo` has a fixed time, so a repeated recording is the same file.
            new.writestr(zipfile.ZipInfo(f"{name}/{entry}"), data, method)


def numbers(*sizes, dtype=torch.float32, start=1):
    count = torch.Size(sizes).numel()
    return torch.arange(start, start + count).remainder(17).sub(8).div(4).reshape(sizes).to(dtype)


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(4, 8)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(torch.relu(self.hidden(x)))


class Scaled(torch.nn.Module):
    """A block with a layer of its own, for the paths of modules."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(torch.relu(self.layer(x)))


class Nested(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.Sequential(Scaled(), Scaled())

    def forward(self, x):
        return torch.sigmoid(self.blocks(x))


class Tied(torch.nn.Module):
    """An embedding whose weight is also that of the last layer."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(5, 3)
        self.head = torch.nn.Linear(3, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


class Views(torch.nn.Module):
    """Buffers that share memory: a write to `tail` is a write to the end of `whole`."""

    def __init__(self):
        super().__init__()
        self.register_buffer("whole", numbers(6))
        self.register_buffer("tail", self.whole[4:])
        self.register_buffer("columns", self.whole.view(2, 3).t())

    def forward(self, x):
        self.tail.add_(x)
        return self.whole * 1, self.columns * 1


class Constants(torch.nn.Module):
    """Tensors that are no part of the state dict: a buffer that is not persistent, an attribute, and a literal."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(numbers(3))
        self.register_buffer("persistent", numbers(3, start=4))
        self.register_buffer("transient", numbers(3, start=7), persistent=False)
        self.attribute = numbers(4, start=10)
        self.end = self.attribute[1:]

    def forward(self, x):
        return x * self.weight + self.persistent + self.transient + self.attribute[:3] + self.end + torch.tensor([1.0, 2.0, 3.0])


class SharedWithBuffer(torch.nn.Module):
    """A buffer that has the memory of a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(numbers(3))
        self.register_buffer("copy", self.weight.detach())

    def forward(self, x):
        return x * self.weight * self.copy


class Frozen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen = torch.nn.Linear(3, 3)
        self.trained = torch.nn.Linear(3, 1)
        self.frozen.requires_grad_(False)

    def forward(self, x):
        return self.trained(self.frozen(x))


DTYPES = [
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
    torch.bool,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
]


def buffer_name(dtype):
    return str(dtype).replace("torch.", "of_")


class Dtypes(torch.nn.Module):
    """A buffer of each dtype. All are added as float64."""

    def __init__(self):
        super().__init__()
        for dtype in DTYPES:
            values = torch.tensor([1.0, 0.5, 2.0, 4.0, 0.25]) if dtype.is_floating_point or dtype.is_complex else torch.arange(5)
            self.register_buffer(buffer_name(dtype), values.to(dtype))

    def forward(self, x):
        for dtype in DTYPES:
            buffer = getattr(self, buffer_name(dtype))
            x = x + (buffer.real if dtype.is_complex else buffer).to(torch.float64)
        return x


class Strided(torch.nn.Module):
    """Tensors of unusual geometry."""

    def __init__(self):
        super().__init__()
        self.transposed = torch.nn.Parameter(numbers(2, 3).t())
        self.register_buffer("expanded", numbers(3, 1).expand(3, 4))
        self.register_buffer("every_second", numbers(8)[1::2])
        self.register_buffer("scalar", torch.tensor(2.5))
        self.register_buffer("empty", torch.empty(0, 4))

    def forward(self, x):
        return x @ self.transposed.t() + self.scalar, self.expanded * 1, self.every_second * 1, torch.cat([self.empty, self.expanded])


class Structured(torch.nn.Module):
    """Arguments of every kind that sample inputs can have."""

    def forward(self, pair, options, scale, *, bias=None, flag=True):
        first, second = pair
        result = first * scale + second - options["shift"]
        return {"result": result if bias is None else result + bias, "flag": result * 1 if flag else result * 2}


class HigherOrder(torch.nn.Module):
    """A branch, a loop over slices, a region without gradients, and arithmetic of sizes."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(numbers(4))

    def forward(self, x):
        with torch.no_grad():
            largest = x.amax(dim=1, keepdim=True)
        x = torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
        x = torch_map(lambda row, weight: row * weight + row.sum(), x, self.weight)
        rows = x.shape[0]
        return (x - largest).reshape(rows * 2, 2) + x.new_zeros(rows * 2, 1)


def record_two():
    """Two programs in one archive, of one model, so that both have data of the same values."""
    weight = torch.nn.Parameter(numbers(3, 3))

    class Half(torch.nn.Module):
        def __init__(self, double):
            super().__init__()
            self.weight, self.double = weight, double
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count.add_(1)
            y = x @ self.weight
            return y * 2 if self.double else y

    x = numbers(2, 3)
    programs = {name: without_traces(export(Half(name == "double"), (x,))) for name in ("plain", "double")}
    package_pt2(path("two_programs"), exported_programs=programs)
    EXPECTED.update({f"two_programs.{name}": program.module()(x).detach() for name, program in programs.items()})


def main():
    os.makedirs(FOLDER, exist_ok=True)
    torch.manual_seed(0)
    record("mlp", Mlp(), (numbers(3, 4),), dynamic_shapes=({0: Dim("n", min=1)},))
    record("mlp_core", Mlp(), (numbers(3, 4),), core=True, dynamic_shapes=({0: Dim("n", min=1)},))
    record("nested", Nested(), (numbers(2, 4),))
    record("tied", Tied(), (torch.tensor([[0, 1, 1], [4, 2, 0]]),))
    record("views", Views(), (numbers(2, start=3),))
    record("constants", Constants(), (numbers(3),))
    record("higher_order", HigherOrder(), (numbers(3, 4),), dynamic_shapes=({0: Dim("n", min=1)},))
    record("shared_with_buffer", SharedWithBuffer(), (torch.full((3,), 2.0),))
    record("frozen", Frozen(), (numbers(2, 3),))
    record("dtypes", Dtypes(), (torch.zeros(5, dtype=torch.float64),))
    record("strided", Strided(), (numbers(2, 2),))
    tensors = (numbers(2), numbers(2, start=5))
    args, kwargs = (tensors, {"shift": numbers(2, start=9)}, 3), {"bias": numbers(2, start=11)}
    structured = without_traces(export(Structured(), args, kwargs))
    torch.export.save(structured, path("structured"))
    EXPECTED["structured.0"] = structured.module()(*args, **kwargs)["result"]
    record_two()

    targets = {"relu.default": "aten.relux.default", "tanh.default": "mylib.squash.default", "sigmoid.default": "aten.sigmoid.Other"}

    def unknown(entry, record):
        if entry.startswith("models/"):
            for node in record["graph_module"]["graph"]["nodes"]:
                known = node["target"].removeprefix("torch.ops.aten.")
                node["target"] = f"torch.ops.{targets[known]}" if known in targets else node["target"]

    def shared(entry, record):
        if entry == "data/weights/double_weights_config.json":
            for at, payload in enumerate(record["config"].values()):
                payload["path_name"] = f"weight_{at}"

    rewrite("unknown_operator", "nested", unknown)
    rewrite("shared_data", "two_programs", shared)
    rewrite("deflated", "mlp", method=zipfile.ZIP_DEFLATED)
    extras = [("extra/notes.txt", "trained for 3 epochs"), ("extra/labels/names.json", '["cat", "dog"]'), ("data/mtia/code", b"\0\1")]
    rewrite("extra_entries", "mlp", entries=extras)
    save_file(EXPECTED, os.path.join(FOLDER, "expected.safetensors"))


def pack_broken(folder):
    """Most of these files are nearly equal, so they are compressed as one stream."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                archive.writestr(zipfile.ZipInfo(name), file.read())
    golden = os.path.join(os.path.dirname(FOLDER), "golden")
    os.makedirs(golden, exist_ok=True)
    with open(os.path.join(golden, "broken.zip.gz"), "wb") as file:
        file.write(gzip.compress(data.getvalue(), 9, mtime=0))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--broken"]:
        pack_broken(sys.argv[2])
    else:
        main()
