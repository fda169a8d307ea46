"""The benchmark programs in PyTorch, from Python. ../peer/src/lib.rs has the protocol.

Large tensors are measured here, for which Python's own microsecond is negligible, and small ones if calls.cpp cannot be built.
`peer.py flags` prints the version, and the compiler flags for that file.
"""

import itertools
import os
import sys
import time
from functools import partial

import torch

import data
import gpt
import optimisers
import parts
import train
import transforms


def small_calls():
    a, b, out = torch.tensor([1.5]), torch.tensor([2.5]), torch.zeros(1)
    leaf = torch.tensor([1.5], requires_grad=True)
    target, row, column = a.clone(), a.view(1, 1), b.view(1, 1)
    return {
        "empty function": lambda: None,
        "add": lambda: torch.add(a, b),
        "add out=": lambda: torch.add(a, b, out=out),
        "add_": lambda: target.add_(b),
        "add, recorded": lambda: torch.add(leaf, b),
        "relu": lambda: torch.relu(a),
        "mm 1x1": lambda: torch.mm(row, column),
        "empty({1})": lambda: torch.empty(1),
        "view": lambda: a.view(1, 1),
    }


def large_call(operator, sizes):
    # Values around zero, as in the other programs.
    a, b = torch.rand(sizes) * 4 - 2, torch.rand(sizes) * 4 - 2
    weight, bias = torch.rand(sizes[-1]), torch.rand(sizes[-1])
    wide = [*sizes[:-1], 2 * sizes[-1]]
    c, d = torch.rand(wide)[..., ::2], torch.rand(wide)[..., ::2]
    transposed, row, column = b.mT, b[:1], b[..., :1]
    if operator in DECOMPOSITIONS:
        return DECOMPOSITIONS[operator](a, b)
    return {
        "matmul": lambda: torch.mm(a, b),
        "bmm": lambda: torch.bmm(a, b),
        "softmax": lambda: torch.softmax(a, 1),
        "layer_norm": lambda: torch.nn.functional.layer_norm(a, a.shape[-1:], weight, bias),
        "exp": lambda: torch.exp(a),
        "gelu": lambda: torch.nn.functional.gelu(a),
        "add": lambda: torch.add(a, b),
        "mul": lambda: torch.mul(a, b),
        "add, transposed": lambda: torch.add(a, transposed),
        "add, every second": lambda: torch.add(c, d),
        "add a row": lambda: torch.add(a, row),
        "add a column": lambda: torch.add(a, column),
        "sum, rows": lambda: torch.sum(a, 0),
        "sum, columns": lambda: torch.sum(a, 1),
        "max, rows": lambda: torch.max(a, 0),
        "max, columns": lambda: torch.max(a, 1),
    }.get(operator)


def shifted(matrices):
    """Adds a multiple of the identity, so that the matrices are far from singular."""
    size = matrices.shape[-1]
    return matrices + 4 * size * torch.eye(size)


DECOMPOSITIONS = {
    "cholesky": lambda a, b: partial(torch.linalg.cholesky_ex, shifted(a @ a.mT)),
    "lu": lambda a, b: partial(torch.linalg.lu_factor_ex, a),
    "qr": lambda a, b: partial(torch.linalg.qr, a),
    "symmetric eigenvectors": lambda a, b: partial(torch.linalg.eigh, a @ a.mT),
    "singular vectors": lambda a, b: partial(torch.linalg.svd, a, full_matrices=False),
    "eigenvalues": lambda a, b: partial(torch.linalg.eigvals, a),
    "inverse": lambda a, b: partial(torch.linalg.inv_ex, shifted(a)),
    "solve": lambda a, b: partial(torch.linalg.solve_ex, shifted(a), b),
}


def job_for(workload):
    job = small_calls().get(workload) or train.training_step(workload) or gpt.job_for(workload) or parts.job_for(workload) or data.job_for(workload) or optimisers.job_for(workload) or transforms.job_for(workload)
    if job is None and " " in workload:
        operator, sizes = workload.rsplit(" ", 1)
        job = large_call(operator, [int(size) for size in sizes.split("x")])
    return job


def serve():
    current, job = None, None
    for line in sys.stdin:
        count, workload = line.rstrip("\n").split(" ", 1)
        if workload != current:
            # Frees the memory of the last workload first.
            job = None
            current, job = workload, job_for(workload)
        if job is None:
            print("-", flush=True)
            continue
        start = time.perf_counter()
        for _ in itertools.repeat(None, int(count)):
            job()
        print(time.perf_counter() - start, flush=True)


def read_status(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def peak_memory(warm_up, workload):
    count = 10
    job = job_for(warm_up)
    for _ in range(count):
        job()
    job = None
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = read_status("VmRSS:")
    job = job_for(workload)
    if job is None:
        return print("-")
    for _ in range(count):
        job()
    print(read_status("VmHWM:") - before)


def print_flags():
    root = os.path.dirname(torch.__file__)
    print(torch.__version__)
    print(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}")
    print(f"-I{root}/include")
    print(f"-L{root}/lib")
    print(f"-Wl,-rpath,{root}/lib")


if __name__ == "__main__":
    if sys.argv[1:] == ["flags"]:
        print_flags()
    else:
        torch.set_num_threads(int(os.environ.get("PEER_THREADS", "1")))
        if sys.argv[1:2] == ["memory"]:
            peak_memory(*sys.argv[2:])
        else:
            serve()
