"""Gather, scatter, sort, reductions and scans on a million elements and more, as in ../opdispatch/src/indexing_and_scans.rs."""

import torch

MILLION = 1_000_000
TABLE_SIZES = (100_000, 64)
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


def random(*sizes):
    return torch.empty(sizes).uniform_(-1, 1)


def job_for(name):
    table = lambda: random(*TABLE_SIZES)
    rows = lambda: torch.randint(TABLE_SIZES[0], (MILLION,))
    wide = lambda: rows().unsqueeze(1).expand(MILLION, TABLE_SIZES[1])
    source = lambda: random(MILLION, TABLE_SIZES[1])
    square = lambda: random(4096, 4096)
    row = lambda length=MILLION: random(1, length)
    workloads = {
        "mean over rows": ([square], lambda x: x.mean(0)),
        "mean over columns": ([square], lambda x: x.mean(1)),
        "var over rows": ([square], lambda x: x.var(0)),
        "var over columns": ([square], lambda x: x.var(1)),
        "copy of a transpose": ([square], lambda x: x.t().contiguous()),
        "sort 1M": ([row], lambda x: x.sort(-1)),
        "topk 100 of 1M": ([row], lambda x: x.topk(100)),
        "cumsum 16M": ([lambda: row(16 * MILLION)], lambda x: x.cumsum(-1)),
        "index_select 1M rows": ([table, rows], lambda t, r: t.index_select(0, r)),
        "gather 1M rows": ([table, wide], lambda t, r: t.gather(0, r)),
        "scatter_add 1M rows": ([table, wide, source], lambda t, r, s: t.scatter_add(0, r, s)),
        "index_add 1M rows": ([table, rows, source], lambda t, r, s: t.index_add(0, r, s)),
        "cat 16 x 1M": ([lambda: random(MILLION)] * 16, lambda *parts: torch.cat(parts)),
    }
    if name in workloads:
        create_inputs, compute = workloads[name]
        inputs = [create() for create in create_inputs]
        return lambda: compute(*inputs)
    return on_16_bit_floats(name)


def on_16_bit_floats(name):
    operator, _, dtype = name.rpartition(" ")
    operators = {
        "matmul 1024": torch.mm,
        "add 1024x1024": torch.add,
        "exp 1024x1024": lambda a, b: a.exp(),
        "gelu 1024x1024": lambda a, b: torch.nn.functional.gelu(a),
    }
    if operator not in operators or dtype not in DTYPES:
        return None
    compute = operators[operator]
    a, b = (random(1024, 1024).to(DTYPES[dtype]) for _ in range(2))
    return lambda: compute(a, b)
