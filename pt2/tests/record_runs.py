"""Records programs with higher-order operators, regions of vmap, devices and state, and what PyTorch computes for them.

Run with PyTorch 2.15: `python tests/record_runs.py`, in the folder of the crate. Writes tests/runs/programs.pt2 with all
programs, and tests/runs/expected.safetensors with, for each run of a program,

    PROGRAM/RUN/in/I    input I
    PROGRAM/RUN/out/I   output I
    PROGRAM/RUN/grad/I  the gradient of sum(outputs * cos(0, 1, 2, ..)) for input I, if the input is a floating-point tensor
    PROGRAM/RUN/grad/N  the same for the parameter N

The outputs of programs with random numbers have no values that a test can compare, so they are recorded as zeros.
"""

import io
import json
import warnings
import zipfile
from typing import Optional

import torch
from safetensors.torch import save_file
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as hop_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim
from torch.export.pt2_archive._package import package_pt2
from torch.utils import _pytree

warnings.filterwarnings("ignore")
torch.manual_seed(0)
FOLDER = "tests/runs"
programs, expected = {}, {}


class Function(nn.Module):
    def __init__(self, forward, **parameters):
        super().__init__()
        self.function = forward
        for name, value in parameters.items():
            self.register_parameter(name, nn.Parameter(value))

    def forward(self, *args):
        return self.function(self, *args)


def record(name, module, *runs, dynamic=None, core=False, random=False, no_gradients=False, reference=None):
    if not isinstance(module, nn.Module):
        module = Function(module)
    program = torch.export.export(module, runs[0], dynamic_shapes={"args": dynamic} if dynamic else None)
    programs[name] = program
    if core:
        programs[name + "_core"] = program.run_decompositions()
    for at, args in enumerate(runs):
        prefix = f"{name}/{at}"
        for parameter in module.parameters():
            parameter.grad = None
        args = [x.clone().requires_grad_(not no_gradients) if x.is_floating_point() else x for x in args]
        for i, x in enumerate(args):
            expected[f"{prefix}/in/{i}"] = x.detach().clone()
        outputs = _pytree.tree_leaves((reference or module)(*args))
        for i, output in enumerate(outputs):
            expected[f"{prefix}/out/{i}"] = torch.zeros_like(output) if random else output.detach().contiguous().clone()
        differentiable = [output for output in outputs if output.requires_grad]
        if random or not differentiable:
            continue
        cotangent = lambda x: torch.arange(x.numel(), dtype=torch.float64).cos().to(x.dtype).reshape(x.shape)
        sum((output * cotangent(output)).sum() for output in differentiable).backward()
        named = [(str(i), x) for i, x in enumerate(args)] + list(module.named_parameters())
        for key, x in named:
            if x.grad is not None:
                expected[f"{prefix}/grad/{key}"] = x.grad.contiguous().clone()


n = Dim("n", min=2, max=64)
vector, square, positive = torch.randn(4), torch.randn(3, 4), torch.rand(3, 4)

# Regions of vmap.
record("vmap_in_dims", lambda _, x, y: torch.vmap(lambda a, b: (a * b).sum() + a.mean(), in_dims=(0, 1))(x, y),
       (torch.randn(6, 4), torch.randn(4, 6)))
record("vmap_two_results", lambda _, x: torch.vmap(lambda a: (a.softmax(-1), a.cumsum(0)), in_dims=1)(x), (torch.randn(4, 6),))
record("vmap_same_for_all", lambda _, x: torch.vmap(lambda a: (a * 2, torch.full((3,), 0.5), a.sum()), out_dims=(0, None, 0))(x), (square,))
record("vmap_nested", lambda _, x, y: torch.vmap(lambda a: torch.vmap(lambda b: (a - b).pow(2).sum())(y))(x),
       (torch.randn(3, 4), torch.randn(5, 4)))
record("vmap_ensemble", Function(lambda m, x: torch.vmap(lambda w, b: torch.tanh(x @ w + b))(m.w, m.b),
                                 w=torch.randn(5, 4, 3), b=torch.randn(5, 3)), (torch.randn(2, 4),))
record("vmap_dynamic", lambda _, x, y: torch.vmap(lambda a, b: a * b.sum() + a.shape[0], in_dims=(0, 1))(x, y),
       (torch.randn(6, 4), torch.randn(4, 6)), (torch.randn(3, 5), torch.randn(5, 3)), dynamic=({0: n, 1: Dim("m", min=2)}, {0: Dim("m", min=2), 1: n}))
record("vmap_empty", Function(lambda m, x: torch.vmap(lambda a: (a @ m.w, a.sum()))(x), w=torch.randn(4, 3)), (square,), (torch.randn(0, 4),), dynamic=({0: Dim("b", min=0)},))
record("vmap_indexing", lambda _, x, i: torch.vmap(lambda a, j: a[j] * a.max())(x, i),
       (torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])))
record("vmap_constant", lambda _, x: torch.vmap(lambda a: (a * torch.tensor(2.0) + torch.zeros(4), torch.ones(2)))(x), (square,))
record("vmap_chunks", lambda _, x: torch.vmap(lambda a: a.sin().sum(), chunk_size=2)(x), (torch.randn(5, 4),))
record("vmap_random_different", lambda _, x: torch.vmap(lambda a: a * 0 + torch.rand(4), randomness="different")(x), (square,), random=True)
record("vmap_random_same", lambda _, x: torch.vmap(lambda a: a * 0 + torch.rand(4), randomness="same")(x), (square,), random=True)
record("vmap_norm", Function(lambda m, x: torch.vmap(lambda a: nn.functional.layer_norm(a @ m.w, (3,)).relu())(x), w=torch.randn(4, 3)),
       (torch.randn(5, 2, 4),))


def mask(_, padding):
    allowed = lambda b, q, k: (k <= q) & padding[b, k].bool()
    for dims in [(None, None, 0), (None, 0, None), (0, None, None)]:
        allowed = torch.vmap(allowed, in_dims=dims, out_dims=0)
    length = torch.arange(padding.shape[1])
    return allowed(torch.arange(padding.shape[0]), length, length)


record("vmap_attention_mask", mask, (torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]]),))

# Conditions. The gradient of an operand that the chosen graph does not read is zero in PyTorch.
record("cond_tensor", lambda _, x, y: torch.cond(x.sum() > 0, lambda x, y: x.sin() * y, lambda x, y: x.cos() + y, (x, y)),
       (positive, square), (-positive, square), core=True)
record("cond_size", lambda _, x: torch.cond(x.shape[0] > 4, lambda x: x.sin() * x.shape[0], lambda x: x.cos(), (x,)),
       (torch.randn(5, 2),), (torch.randn(3, 2),), dynamic=({0: n},), core=True)
record("cond_tuple", lambda _, x: torch.cond(x.sum() > 0, lambda x: (x.sin(), x.sum()), lambda x: (x.cos(), x.mean()), (x,)), (positive,))
record("cond_parameters", Function(lambda m, x: torch.cond(x.sum() > 0, lambda x: x @ m.a, lambda x: (x @ m.b).relu(), (x,)),
                                   a=torch.randn(4, 2), b=torch.randn(4, 2)), (positive,), (-positive,), core=True)
record("cond_in_cond", lambda _, x: torch.cond(
    x.sum() > 0, lambda x: torch.cond(x.max() > 0.5, lambda x: x * 2, lambda x: x * 3, (x,)), lambda x: x * 5, (x,)),
       (positive,), (positive * 0.1,), (-positive,))

# Loops.
record("while_count", lambda _, x, steps: while_loop(lambda i, x: i > 0, lambda i, x: (i - 1, x * 1.5), (steps, x)),
       (square, torch.tensor(3)), (square, torch.tensor(0)), core=True,
       # PyTorch's own gradient of a loop without a run has the factor of one run.
       reference=lambda x, steps: (torch.zeros_like(steps), x * 1.5 ** steps.item()))
record("while_size", lambda _, x: while_loop(lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x + x.shape[0]), (torch.zeros((), dtype=torch.int64), x))[1],
       (torch.randn(3, 2),), (torch.randn(5, 2),), dynamic=({0: n},))
record("map_tree", Function(lambda m, x, y: hop_map(lambda d: {"a": d[0] @ m.w, "b": d[1].sum()}, (x, y)), w=torch.randn(4, 2)),
       (square, torch.randn(3, 2)), core=True)
record("map_dynamic", lambda _, x: hop_map(lambda x: x * 2, x), (square,), (torch.randn(5, 4),), dynamic=({0: n},))


def cond_in_while_in_map(_, xs):
    def body(x):
        step = lambda i, v: (i + 1, torch.cond(v.sum() > 0, lambda v: v * 0.5, lambda v: v + 1.0, (v,)))
        return while_loop(lambda i, v: i < 3, step, (torch.zeros((), dtype=torch.int64), x))[1]

    return hop_map(body, xs)


def halve_or_increment(x):
    for _ in range(3):
        x = x * 0.5 if x.sum() > 0 else x + 1.0
    return x


# PyTorch has no gradient of this nesting, so the expected values come from plain Python.
record("cond_in_while_in_map", cond_in_while_in_map, (torch.cat([square, -positive]),), core=True,
       reference=lambda xs: torch.stack([halve_or_increment(x) for x in xs]))

# Scans.
recurrence = Function(lambda m, init, xs: scan(lambda c, x: (torch.tanh(c @ m.w + x), (c * 2, x.sum())), init, xs), w=torch.randn(3, 3))
record("scan", recurrence, (torch.zeros(3), torch.randn(5, 3)), (torch.ones(3), torch.randn(2, 3)), (torch.ones(3), torch.randn(0, 3)),
       dynamic=(None, {0: Dim("steps", min=0, max=64)}), core=True)
record("scan_reverse", lambda _, init, xs: scan(lambda c, x: (c * 0.5 + x, c.sum()), init, xs, dim=1, reverse=True),
       (torch.zeros(3), torch.randn(3, 5)))
for length in [1, 2, 5, 8]:
    record(f"associative_scan_{length}", lambda _, xs: associative_scan(lambda a, b: a + b + a * b, xs, dim=0, combine_mode="pointwise"),
           (torch.randn(length, 3),))
record("associative_scan_unrolled", lambda _, xs: associative_scan(lambda a, b: a * b, xs, dim=1, combine_mode="generic"), (torch.randn(2, 5),))


# Modes.
def no_grad(_, x):
    with torch.no_grad():
        a = x.sin()
        with torch.enable_grad():
            b = x.cos()
        c = a * b
    return c + b


def autocast(_, x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = x @ y
        with torch.autocast("cpu", enabled=False):
            b = x @ y
    return a, b


record("no_grad", no_grad, (square,))
record("autocast", autocast, (torch.randn(4, 4), torch.randn(4, 4)), core=True)


# Devices. The nodes name the CPU, where they were exported.
record("positions", Function(lambda m, x: x + m.table[torch.arange(x.shape[1], device=x.device)] * torch.ones(4), table=torch.randn(8, 4)),
       (torch.randn(2, 3, 4),), dynamic=({1: Dim("length", min=2, max=8)},), core=True)
record("mask", lambda _, x: torch.ones(x.shape[0], x.shape[0]).tril() @ x.to("cpu"), (torch.randn(3, 4),), (torch.randn(5, 4),), dynamic=({0: n},))


# State. These have no recorded runs.
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count[0].add_(1)
        return x + self.count


class Swap(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.tensor([1.0]))
        self.register_buffer("b", torch.tensor([2.0]))

    def forward(self, x):
        a = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(a)
        return x + self.a


for name, module in [("counter", Counter()), ("swap", Swap()), ("statistics", nn.BatchNorm1d(4))]:
    program = torch.export.export(module, (torch.randn(3, 4),))
    programs[name], programs[f"{name}_core"] = program, program.run_decompositions()


# A call of an operator that writes, in a functional program. The operator is one of the test's, too.
@torch.library.custom_op("recorded::accumulate_", mutates_args=("row", "others", "unused"))
def accumulate_(row: torch.Tensor, factor: float, others: list[torch.Tensor], unused: Optional[torch.Tensor], times: int = 3) -> torch.Tensor:
    row.add_(factor)
    others[0].mul_(2)
    others[1].add_(row.sum())
    return row * times


@accumulate_.register_fake
def _(row, factor, others, unused, times=3):
    return torch.empty_like(row)


@torch.library.custom_op("recorded::increment_", mutates_args=("x",))
def increment_(x: torch.Tensor) -> None:
    x.add_(1)


increment_.register_fake(lambda x: None)


def writes(_, x):
    rows, other, zeros = x.clone(), x + 1, torch.zeros(2, 2)
    result = torch.ops.recorded.accumulate_(rows[1:], 0.5, [other, zeros], None)
    torch.ops.recorded.increment_(other.t()[1])
    return rows * 2 + result.sum(), other, zeros


record("writes", writes, (square,), core=True, no_gradients=True)


def shorten(graph):
    """Removes the stack traces, which are most of a file."""
    for node in graph["nodes"]:
        node["metadata"] = {}
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                shorten(argument["arg"]["as_graph"]["graph"])


written = io.BytesIO()
package_pt2(written, exported_programs=programs)
with zipfile.ZipFile(written) as source, zipfile.ZipFile(f"{FOLDER}/programs.pt2", "w") as target:
    for name in source.namelist():
        data = source.read(name)
        if "/models/" in name:
            program = json.loads(data)
            shorten(program["graph_module"]["graph"])
            data = json.dumps(program, separators=(",", ":"))
        elif "/sample_inputs/" in name:
            data = b""
        target.writestr(zipfile.ZipInfo(name), data)
save_file(expected, f"{FOLDER}/expected.safetensors")
print(len(programs), "programs,", len(expected), "tensors")
