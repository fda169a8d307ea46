"""Steps of AdamW, and a copy of as many elements, as in ../opdispatch/src/optimisers.rs."""

import torch

MILLION = 1_000_000
PARAMETERS = {"48 x 1M": (48, MILLION), "48 x 1k": (48, 1000), "1 x 48M": (1, 48 * MILLION)}


def step(count, size, **options):
    params = [torch.rand(size) for _ in range(count)]
    for param in params:
        param.grad = torch.rand(size) - 0.5
    optimiser = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01, **options)
    return optimiser.step


def job_for(name):
    if name.startswith("AdamW "):
        parameters, _, fused = name.removeprefix("AdamW ").partition(", ")
        return step(*PARAMETERS[parameters], **({"fused": True} if fused else {"foreach": True}))
    if name == "copy of 48M":
        source, target = torch.rand(48 * MILLION), torch.rand(48 * MILLION)
        return lambda: target.copy_(source)
    return None
