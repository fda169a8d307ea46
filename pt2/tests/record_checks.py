"""Writes the programs in `checks/`, and what PyTorch says of calls with other arguments, in `checks/calls.json`.

    python3 record_checks.py          (needs torch 2.15)

A call is a list of one argument for each input: `[dtype, size, ..]` for a tensor of ones, or a number, a text or null. `refused` is the text
of PyTorch's error, or null. Traces of the Python stack are left out.
"""

import json
import os
import zipfile

import torch
from torch.export import Dim, export

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checks")
DTYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64}
RECORDS = []


def value(argument):
    if isinstance(argument, list):
        return torch.ones(argument[1:], dtype=DTYPES[argument[0]])
    return argument


def without_traces(program):
    """Removes the notes that have paths of this machine."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                for key in ("stack_trace", "from_node", "torch_fn", "source_fn_stack"):
                    node.meta.pop(key, None)
    return program


def record(name, model, example, calls, build=None, **options):
    """Exports a model, and records calls. `build` makes the arguments and keyword arguments from the leaves."""
    build = build or (lambda *leaves: (leaves, {}))
    args, kwargs = build(*map(value, example))
    program = without_traces(export(model.eval(), args, kwargs, **options))
    path = os.path.join(FOLDER, f"{name}.pt2")
    torch.export.save(program, path)
    module = torch.export.load(path).module()
    recorded = []
    for call in [example, *calls]:
        args, kwargs = build(*map(value, call))
        try:
            module(*args, **kwargs)
            refused = None
        except Exception as error:  # noqa: BLE001
            refused = str(error).splitlines()[0][:200]
        recorded.append({"arguments": call, "refused": refused})
    RECORDS.append({"program": name, "calls": recorded})


class Derived(torch.nn.Module):
    def forward(self, x, y, z):
        return x.sum() + y[1:].sum(-1) + z.view(-1, 2).sum(-1)


class Hidden(torch.nn.Module):
    """No size is the symbol itself."""

    def forward(self, x, y):
        return x.sum() + y.sum()


class Equal(torch.nn.Module):
    def forward(self, x, y):
        return x + y


class Specialised(torch.nn.Module):
    def forward(self, x, n, flag, mode, nothing, scale=2.5):
        y = x * n + scale
        if flag and nothing is None:
            y = y.relu()
        return y if mode == "relu" else -y


class Counts(torch.nn.Module):
    """A number of Python that may change."""

    def forward(self, x, n):
        return x.repeat(n, 1) + n


class Guarded(torch.nn.Module):
    def forward(self, parts, options):
        a, b = parts
        torch._check(a.shape[0] * 2 == b.shape[0])
        torch._check(options["mask"].shape[0] % 4 == 0)
        return torch.cat([a, a]) + b, options["mask"].view(-1, 4)


class Several(torch.nn.Module):
    def forward(self, *args, weight):
        return args[0] + args[1] * weight


n = Dim("n", min=3, max=12)
record(
    "derived",
    Derived(),
    [["f32", 5, 2], ["f32", 6, 3], ["f32", 10]],
    [
        [["f32", 3, 2], ["f32", 4, 3], ["f32", 6]],
        [["f32", 12, 2], ["f32", 13, 3], ["f32", 24]],
        [["f32", 13, 2], ["f32", 14, 3], ["f32", 26]],
        [["f32", 2, 2], ["f32", 3, 3], ["f32", 4]],
        [["f32", 5, 2], ["f32", 5, 3], ["f32", 10]],
        [["f32", 5, 2], ["f32", 6, 3], ["f32", 11]],
        [["f32", 5, 3], ["f32", 6, 3], ["f32", 10]],
        [["f32", 5, 2], ["f32", 6, 4], ["f32", 10]],
    ],
    dynamic_shapes={"x": {0: n}, "y": {0: n + 1}, "z": {0: 2 * n}},
)
m = Dim("m", min=2, max=9)
record(
    "hidden",
    Hidden(),
    [["f32", 8], ["f32", 10]],
    [[["f32", 10], ["f32", 12]], [["f32", 10], ["f32", 13]], [["f32", 18], ["f32", 20]], [["f32", 20], ["f32", 22]]],
    dynamic_shapes={"x": {0: 2 * m}, "y": {0: 2 * m + 2}},
)
record(
    "equal",
    Equal(),
    [["f32", 4, 6], ["f32", 4, 6]],
    [
        [["f32", 3, 5], ["f32", 3, 5]],
        [["f32", 4, 5], ["f32", 4, 7]],
        [["f32", 1, 6], ["f32", 4, 6]],
        [["f32", 0, 6], ["f32", 0, 6]],
        [["f32", 1, 1], ["f32", 1, 1]],
        [["f32", 4], ["f32", 4]],
        [["f64", 4, 6], ["f64", 4, 6]],
    ],
    dynamic_shapes={"x": {0: Dim.AUTO, 1: Dim.AUTO}, "y": {0: Dim.AUTO, 1: Dim.AUTO}},
)
record(
    "specialised",
    Specialised(),
    [["f32", 3], 3, True, "relu", None, 2.5],
    [
        [["f32", 3], 3.0, True, "relu", None, 2.5],
        [["f32", 3], 4, True, "relu", None, 2.5],
        [["f32", 3], True, True, "relu", None, 2.5],
        [["f32", 3], 3, False, "relu", None, 2.5],
        [["f32", 3], 3, 1, "relu", None, 2.5],
        [["f32", 3], 3, True, "gelu", None, 2.5],
        [["f32", 3], 3, True, "relu", None, 2.0],
        [["f32", 4], 3, True, "relu", None, 2.5],
        [1.5, 3, True, "relu", None, 2.5],
    ],
)
record(
    "counts",
    Counts(),
    [["f32", 2, 3], 4],
    [[["f32", 2, 3], 7], [["f32", 2, 3], 2], [["f32", 2, 4], 4]],
    dynamic_shapes={"x": None, "n": Dim.DYNAMIC},
)
record(
    "guarded",
    Guarded(),
    [["f32", 3, 2], ["f32", 6, 2], ["f32", 8]],
    [
        [["f32", 5, 2], ["f32", 10, 2], ["f32", 12]],
        [["f32", 5, 2], ["f32", 9, 2], ["f32", 12]],
        [["f32", 5, 2], ["f32", 10, 2], ["f32", 13]],
    ],
    build=lambda a, b, mask: (((a, b),), {"options": {"mask": mask}}),
    dynamic_shapes={"parts": ({0: Dim.AUTO}, {0: Dim.AUTO}), "options": {"mask": {0: Dim.AUTO}}},
)
record(
    "several",
    Several(),
    [["f32", 3], ["f32", 3], ["f32", 3]],
    [
        [["f32", 5], ["f32", 5], ["f32", 5]],
        [["f32", 5], ["f32", 5], ["f32", 4]],
        [["f32", 5], ["f32", 4], ["f32", 5]],
    ],
    build=lambda a, b, weight: ((a, b), {"weight": weight}),
    dynamic_shapes={"args": ({0: Dim.AUTO}, {0: Dim.AUTO}), "weight": {0: Dim.AUTO}},
)



def edit(name, model, args, change, **options):
    """Writes a program whose JSON differs from what torch.export recorded. `change(graph)` changes the graph."""
    path = os.path.join(FOLDER, f"{name}.pt2")
    torch.export.save(without_traces(export(model.eval(), args, **options)), path)
    with zipfile.ZipFile(path) as old:
        entries = [(entry, old.read(entry)) for entry in old.namelist()]
    with zipfile.ZipFile(path, "w") as new:
        for entry, data in entries:
            if "/models/" in entry:
                program = json.loads(data)
                for node in program["graph_module"]["graph"]["nodes"]:
                    node["metadata"] = {"nn_module_stack": node["metadata"].get("nn_module_stack", "")}
                change(program["graph_module"]["graph"])
                data = json.dumps(program).encode()
            # A `ZipInfo` has a fixed time, so a repeated recording is the same file.
            new.writestr(zipfile.ZipInfo(entry), data)


def wrong_size(graph):
    graph["tensor_values"]["linear"]["sizes"][1] = {"as_int": 9}


def wrong_dtype(graph):
    graph["tensor_values"]["relu"]["dtype"] = 8


def wrong_expression(graph):
    expression = graph["tensor_values"]["cat"]["sizes"][0]["as_expr"]
    expression["expr_str"] = expression["expr_str"].replace("Integer(2)", "Integer(3)")


def wrong_size_in_branch(graph):
    cond = next(node for node in graph["nodes"] if node["target"].endswith(".cond"))
    branch = cond["inputs"][1]["arg"]["as_graph"]["graph"]
    name = branch["nodes"][0]["outputs"][0]["as_tensor"]["name"]
    branch["tensor_values"][name]["sizes"][0] = {"as_int": 5}


class Doubled(torch.nn.Module):
    def forward(self, x):
        return torch.cat([x, x]).relu()


class Branches(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.relu() + 1, lambda x: x.neg() + 2, (x,))


layers = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
edit("wrong_size", layers, (torch.ones(2, 4),), wrong_size)
edit("wrong_dtype", layers, (torch.ones(2, 4),), wrong_dtype)
edit("wrong_expression", Doubled(), (torch.ones(3),), wrong_expression, dynamic_shapes={"x": {0: Dim.AUTO}})
edit("wrong_size_in_branch", Branches(), (torch.ones(3),), wrong_size_in_branch)

with open(os.path.join(FOLDER, "calls.json"), "w") as file:
    json.dump(RECORDS, file, indent=1)
    file.write("\n")
