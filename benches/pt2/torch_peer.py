"""Runs one exported model in PyTorch: `torch_peer.py load|eager|compile FOLDER NAME eval|train THREADS`. src/peer.rs has the protocol."""

import sys
import time
from pathlib import Path

import torch

import export


def load(folder, name, mode):
    """Returns the seconds that PyTorch takes to load the exported program."""
    start = time.perf_counter()
    torch.export.load(Path(folder) / f"{name}.{mode}.pt2").module()
    return time.perf_counter() - start


def peak_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def job_for(variant, name, mode):
    """Returns a function that makes one forward pass, or one training step. The model is the original one, not the exported program."""
    model = export.build(name).train(mode == "train")
    example = export.example_input(name, 2 if mode == "train" else 1)
    called = torch.compile(model) if variant == "compile" else model
    if mode == "eval":
        return torch.no_grad()(lambda: called(example))
    optimiser = export.sgd(model)
    return lambda: export.training_step(called, optimiser, example)


def serve(variant, folder, name, mode, threads):
    torch.set_num_threads(int(threads))
    if variant == "load":
        return print(load(folder, name, mode))
    job = job_for(variant, name, mode)
    # The first calls compile, or allocate.
    for _ in range(3):
        job()
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "memory":
            print(peak_memory(), flush=True)
            continue
        start = time.perf_counter()
        for _ in range(int(line)):
            job()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
