"""Training steps of a character-level GPT as PyTorch's users write them, equal to those in ../opdispatch/src/gpt.rs."""

import sys

import torch
from torch import nn
from torch.nn import functional

LAYERS, HEADS, WIDTH, BLOCK, BATCH, VOCABULARY = 4, 4, 128, 64, 12, 100


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        heads = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.input(x).split(WIDTH, dim=2))
        y = functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.output(y.transpose(1, 2).contiguous().view(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first_norm = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.second_norm = nn.LayerNorm(WIDTH)
        self.network = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.first_norm(x))
        return x + self.network(self.second_norm(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def job_for(name):
    """Returns the step of `train gpt`, or of its variants `train gpt, foreach` (the optimiser) and `train gpt, compiled`."""
    workload, _, variant = name.partition(", ")
    if workload != "train gpt":
        return None
    torch.manual_seed(0)
    model = Gpt()
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)
    text = torch.arange(BATCH * (BLOCK + 1)) * 7919 % 983 % VOCABULARY
    rows = text.view(BATCH, BLOCK + 1)
    tokens, targets = rows[:, :-1].contiguous(), rows[:, 1:].reshape(-1)
    fused = {"foreach": True} if variant == "foreach" else {"fused": True}
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, **fused)
    forward = torch.compile(model, mode="max-autotune") if variant == "compiled" else model

    def train_step():
        logits = forward(tokens)
        loss = functional.cross_entropy(logits.view(-1, VOCABULARY), targets)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        return loss

    if variant == "compiled":
        try:
            train_step()
        except Exception as error:
            print(f"torch.compile failed: {error}", file=sys.stderr)
            return None
    return train_step
