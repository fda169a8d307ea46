"""Records models of PyTorch: state dicts, outputs, losses, gradients, and buffers after a step in training mode.

    python record.py

Each model gives one file, `<model>.npz`. Its state dict is in f32 (`state/..`), and the results were computed in f64 from these numbers:
`loss`, `output` in training mode, `grad/..`, `after/..` (the buffers), and `evaluated` (the output in evaluation mode). `order` has the names
of the parameters, in the order of `parameters()`.
"""

import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models.resnet import BasicBlock


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(4, 4))
        shortcut = nn.Sequential(nn.Conv2d(4, 8, 1, stride=2, bias=False), nn.BatchNorm2d(8))
        self.layer2 = nn.Sequential(BasicBlock(4, 8, stride=2, downsample=shortcut), BasicBlock(8, 8))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.avgpool(self.layer2(self.layer1(x)))
        return self.fc(torch.flatten(x, 1))


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.c_attn(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(*parts, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(batch, length, width))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = CausalSelfAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = MLP(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=11, block_size=6, layers=2, heads=2, width=8):
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(vocabulary, width),
                "wpe": nn.Embedding(block_size, width),
                "h": nn.ModuleList([Block(width, heads) for _ in range(layers)]),
                "ln_f": nn.LayerNorm(width),
            }
        )
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, tokens):
        x = self.transformer.wte(tokens) + self.transformer.wpe(torch.arange(tokens.shape[1]))
        for block in self.transformer.h:
            x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


class LSTMClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 5, padding_idx=0)
        self.lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(12, 3)

    def forward(self, tokens):
        _, (hidden, _) = self.lstm(self.embedding(tokens))
        return self.fc(torch.cat([hidden[-2], hidden[-1]], dim=1))


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        )

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.up = nn.ConvTranspose2d(inputs, inputs // 2, 2, stride=2)
        self.conv = DoubleConv(inputs, outputs)

    def forward(self, x, skipped):
        return self.conv(torch.cat([skipped, self.up(x)], dim=1))


class OutConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inc = DoubleConv(1, 4)
        self.down1 = Down(4, 8)
        self.up1 = Up(8, 4)
        self.outc = OutConv(4, 2)

    def forward(self, x):
        first = self.inc(x)
        return self.outc(self.up1(self.down1(first), first))


def record(name, model, x, loss, target):
    state = {key: tensor.clone().numpy() for key, tensor in model.state_dict().items()}
    model = model.double()
    output = model(x)
    value = loss(output, target)
    value.backward()
    arrays = {f"state/{key}": array for key, array in state.items()}
    arrays |= {"input": x.numpy(), "target": target.numpy(), "output": output.detach().numpy(), "loss": value.detach().numpy()}
    arrays |= {f"grad/{key}": parameter.grad.numpy() for key, parameter in model.named_parameters()}
    arrays |= {f"after/{key}": buffer.numpy() for key, buffer in model.named_buffers()}
    arrays["evaluated"] = model.eval()(x).detach().numpy()
    order = "\n".join(key for key, _ in model.named_parameters())
    arrays["order"] = numpy.frombuffer(order.encode(), dtype=numpy.uint8)
    numpy.savez_compressed(pathlib.Path(__file__).with_name(f"{name}.npz"), **arrays)


def tokens(rows, columns, most):
    return torch.randint(0, most, (rows, columns))


torch.manual_seed(0)
record("resnet", ResNet(), torch.randn(2, 3, 16, 16).double(), F.cross_entropy, torch.tensor([1, 4]))
next_token = lambda logits, target: F.cross_entropy(logits.flatten(0, 1), target.flatten())
record("gpt", GPT(), tokens(3, 6, 11), next_token, tokens(3, 6, 11))
record("lstm", LSTMClassifier(), tokens(4, 7, 12), F.cross_entropy, torch.tensor([0, 2, 1, 2]))
record("unet", UNet(), torch.randn(2, 1, 8, 8).double(), F.mse_loss, torch.randn(2, 2, 8, 8).double())
