"""The lines of lines.rs, by PyTorch: its version, and then seconds and name of each."""

import statistics
import sys
import time

import torch
from torch.nn import functional as F

small = sys.argv[1] == "small"
on = "cuda"
if not torch.cuda.is_available():
    sys.exit("it finds no device")
torch.manual_seed(1)
print(torch.__version__, torch.cuda.get_device_name())


def measured(name, times, work, calls=1):
    for _ in range(2):
        work()
    torch.cuda.synchronize()
    rounds = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(times):
            work()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - start) / times / calls)
    print(statistics.median(rounds), name)


def random(*sizes, dtype=torch.float32):
    return torch.randn(sizes, device=on, dtype=dtype)


count = (64 << 20) // (256 if small else 1)
with torch.no_grad():
    x, y = random(count), random(count)
    measured("clone 256 MiB", 20, lambda: x.clone())
    measured("add f32 256 MiB", 20, lambda: x + y)
    measured("relu f32 256 MiB", 20, lambda: torch.relu(y))
    half = random(2 * count, dtype=torch.bfloat16)
    measured("gelu bf16 256 MiB", 20, lambda: F.gelu(half))
    wide, bias = x.view(-1, 8192), random(8192)
    measured("add a row f32 256 MiB", 20, lambda: wide + bias)
    measured("sum f32 256 MiB", 20, lambda: x.sum())
    measured("sum of rows f32 256 MiB", 20, lambda: wide.sum(1))
    measured("sum of columns f32 256 MiB", 20, lambda: wide.sum(0))
    side = 64 if small else 8192
    for name, dtype in (("matmul bf16 8192", torch.bfloat16), ("matmul f32 8192", torch.float32)):
        a, b = random(side, side, dtype=dtype), random(side, side, dtype=dtype)
        measured(name, 5, lambda: a @ b)
    rows, width = (16, 256) if small else (16384, 4096)
    scores = random(rows, width, dtype=torch.bfloat16)
    weight, bias = random(width, dtype=torch.bfloat16), random(width, dtype=torch.bfloat16)
    measured("softmax bf16 16384 x 4096", 20, lambda: torch.softmax(scores, -1))
    measured("layer_norm bf16 16384 x 4096", 20, lambda: F.layer_norm(scores, (width,), weight, bias))
    q, k, v = (random(4, 16, 64 if small else 4096, 64, dtype=torch.bfloat16) for _ in range(3))
    measured("attention bf16 4 x 16 x 4096 x 64", 5, lambda: F.scaled_dot_product_attention(q, k, v))
    one = random(1)

    def chain():
        z = one
        for _ in range(1000):
            z = z + one

    measured("add of one element, in a chain", 3, chain, calls=1000)

width = 32 if small else 1024


class Network:
    def __init__(self, sizes, batch):
        bound = [a**-0.5 for a in sizes]
        self.layers = [
            tuple(torch.empty(s, device=on).uniform_(-c, c).requires_grad_() for s in ((b, a), (b,)))
            for a, b, c in zip(sizes, sizes[1:], bound)
        ]
        self.input = torch.empty(batch, sizes[0], device=on).uniform_(-1, 1)
        self.labels = torch.randint(sizes[-1], (batch,), device=on)

    def scores(self):
        x = self.input
        for at, (weight, bias) in enumerate(self.layers):
            x = F.linear(x, weight, bias)
            if at + 1 < len(self.layers):
                x = torch.relu(x)
        return x

    def step(self):
        F.cross_entropy(self.scores(), self.labels).backward()
        with torch.no_grad():
            for parameter in (p for layer in self.layers for p in layer):
                parameter.add_(parameter.grad, alpha=-0.01)
                parameter.grad = None


measured("training step of digits", 20, Network([64, 128, 10], 64).step)
network = Network([784, width, width, 10], 256)
measured("training step of 784-1024-1024-10", 20, network.step)
with torch.no_grad():
    for _ in range(3):
        network.scores()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        network.scores()
    measured("replayed forward of 784-1024-1024-10", 100, graph.replay)
