"""Writes the files of this folder, which tests/safetensors_files.rs reads: `python write.py`, with the packages torch and safetensors."""

import json

import torch
from safetensors.torch import save_file, save_model


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = torch.nn.Embedding(3, 2)
        self.ln = torch.nn.LayerNorm(2)
        self.lm_head = torch.nn.Linear(2, 3, bias=False)
        self.lm_head.weight = self.wte.weight


model = Tied()
with torch.no_grad():
    model.wte.weight.copy_(torch.arange(6.0).reshape(3, 2))
save_model(model, "tied.safetensors", {"format": "pt", "epoch": "3"})

# A model in two files with an index, as the library transformers writes it.
shards = [
    {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.tensor([0.5, 1.5])},
    {"b.weight": torch.ones(3, 2, dtype=torch.bfloat16), "b.steps": torch.tensor(7)},
]
weight_map = {}
for i, tensors in enumerate(shards, 1):
    name = f"model-{i:05}-of-{len(shards):05}.safetensors"
    save_file(tensors, f"sharded/{name}", {"format": "pt"})
    weight_map.update(dict.fromkeys(tensors, name))
size = sum(x.nbytes for tensors in shards for x in tensors.values())
with open("sharded/model.safetensors.index.json", "w") as file:
    json.dump({"metadata": {"total_size": size}, "weight_map": weight_map}, file, indent=2, sort_keys=True)
