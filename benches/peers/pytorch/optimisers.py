"""Steps of AdamW on 48 parameters, and a copy of as much memory, as in ../opdispatch/src/optimisers.rs."""

import torch

PARAMETER_COUNT = 48
MILLION = 1_000_000


def step(size, **options):
    params = [torch.rand(size) for _ in range(PARAMETER_COUNT)]
    for param in params:
        param.grad = torch.rand(size) - 0.5
    optimiser = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01, **options)
    return optimiser.step


def job_for(name):
    if name.startswith("AdamW"):
        size = 1000 if name.endswith("1k") else MILLION
        return step(size, fused=True) if "fused" in name else step(size, foreach=True)
    if name == "copy of 48M":
        source, target = torch.rand(PARAMETER_COUNT * MILLION), torch.rand(PARAMETER_COUNT * MILLION)
        return lambda: target.copy_(source)
    return None
