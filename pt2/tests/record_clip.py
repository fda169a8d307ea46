"""Writes programs/clip.pt2, a program with an operator that PyTorch does not have, for the guide."""

from pathlib import Path

import torch


@torch.library.custom_op("guide::clip01", mutates_args=())
def clip01(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(0, 1)


@clip01.register_fake
def _(x):
    return torch.empty_like(x)


class Clip(torch.nn.Module):
    def forward(self, x):
        return clip01(x) * 2


program = torch.export.export(Clip(), (torch.rand(3),))
for node in program.graph.nodes:
    # It has the path of this file.
    node.meta.pop("stack_trace", None)
torch.export.save(program, Path(__file__).parent / "programs" / "clip.pt2")
