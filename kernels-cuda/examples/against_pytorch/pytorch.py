"""The benchmarks of benchmarks.rs, by PyTorch: its version, and then seconds and name of each."""

import statistics
import sys
import time

import torch
from torch.nn import functional as F

small = sys.argv[1] == "small"
only = sys.argv[2]
on = "cuda"
if not torch.cuda.is_available():
    sys.exit("PyTorch finds no CUDA device")
torch.manual_seed(1)
print(torch.__version__, torch.cuda.get_device_name())


def measure(name, work, calls=1, host_time=False):
    if only not in name:
        return

    def one_round(times):
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin = time.perf_counter()
        start.record()
        for _ in range(times):
            work()
        elapsed = time.perf_counter() - begin
        end.record()
        end.synchronize()
        return (elapsed if host_time else start.elapsed_time(end) / 1e3) / times

    one_round(2)
    times = 1 if host_time else int(min(max(4e-3 / one_round(1), 1), 100))
    print(statistics.median(one_round(times) for _ in range(7)) / calls, name)


def random(*sizes, dtype=torch.float32):
    return torch.randn(sizes, device=on, dtype=dtype)


def select_size(large, small_size):
    return small_size if small else large


DTYPES = ((torch.float32, "f32"), (torch.bfloat16, "bf16"))


def pointwise():
    for dtype, name in DTYPES:
        count = select_size(256 << 20, 1 << 20) // dtype.itemsize
        x, y = (random(count // 8192, 8192, dtype=dtype) for _ in range(2))
        row, square = random(8192, dtype=dtype), random(count // 4096, 4096, dtype=dtype)
        measure(f"clone {name}", lambda: x.clone())
        measure(f"add {name}", lambda: x + y)
        measure(f"relu {name}", lambda: torch.relu(x))
        measure(f"gelu {name}", lambda: F.gelu(x))
        measure(f"exp {name}", lambda: torch.exp(x))
        measure(f"add a row {name}", lambda: x + row)
        measure(f"transposed copy {name}", lambda: square.t().contiguous())
        image = x.view(-1, 64, 32, 32)
        last = torch.channels_last
        measure(f"channels first to last {name}", lambda: image.contiguous(memory_format=last))


def reductions():
    for dtype, name in DTYPES:
        count = select_size(256 << 20, 1 << 20) // dtype.itemsize
        x = random(count // 4096, 4096, dtype=dtype)
        weight, bias = random(4096, dtype=dtype), random(4096, dtype=dtype)
        measure(f"sum {name}", lambda: x.sum())
        for what, dim in (("rows", 1), ("columns", 0)):
            measure(f"sum of {what} {name}", lambda: x.sum(dim))
            measure(f"largest of {what} {name}", lambda: x.amax(dim))
        measure(f"softmax {name}", lambda: torch.softmax(x, -1))
        measure(f"layer_norm {name}", lambda: F.layer_norm(x, (4096,), weight, bias))


def products():
    for side in (512, 1024, 2048, 4096, 8192):
        for name, dtype, tf32 in (
            ("bf16", torch.bfloat16, False),
            ("f32", torch.float32, False),
            ("TF32", torch.float32, True),
        ):
            small_size = select_size(side, side // 64)
            a, b = random(small_size, small_size, dtype=dtype), random(small_size, small_size, dtype=dtype)
            torch.backends.cuda.matmul.allow_tf32 = tf32
            measure(f"matmul {name} {side}", lambda: a @ b)
            torch.backends.cuda.matmul.allow_tf32 = False


def attentions():
    for width in (64, 128):
        for length in (1024, 4096, 16384):
            sizes = (16384 // length, 16, select_size(length, 64), width)
            q, k, v, grads = (random(*sizes, dtype=torch.bfloat16) for _ in range(4))
            for causal in (False, True):
                name = f"{width} x {length}{' causal' if causal else ''}"

                def attend(q, k, v):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

                measure(f"attention {name}", lambda: attend(q, k, v))
                leaves = [tensor.detach().requires_grad_() for tensor in (q, k, v)]
                measure(
                    f"attention and its gradients {name}",
                    lambda: torch.autograd.grad(attend(*leaves), leaves, grads),
                )


CONVOLUTIONS = (
    (3, 64, 224, 7, 2),
    (64, 64, 56, 1, 1),
    (64, 64, 56, 3, 1),
    (64, 256, 56, 1, 1),
    (128, 128, 28, 3, 1),
    (256, 512, 56, 1, 2),
    (256, 256, 14, 3, 1),
    (1024, 256, 14, 1, 1),
    (512, 512, 7, 3, 1),
)


def convolutions():
    torch.backends.cudnn.allow_tf32 = False
    for dtype, name in DTYPES:
        for layout, format in (("first", torch.contiguous_format), ("last", torch.channels_last)):
            for in_channels, out_channels, image, window, stride in CONVOLUTIONS:
                side = select_size(image, max(window, 7))
                x = random(select_size(64, 1), in_channels, side, side, dtype=dtype).contiguous(memory_format=format)
                w = random(out_channels, in_channels, window, window, dtype=dtype).contiguous(memory_format=format)
                measure(
                    f"conv {name} {layout} {in_channels} to {out_channels} of {image} by {window} step {stride}",
                    lambda: F.conv2d(x, w, stride=stride, padding=window // 2),
                )


def indexing():
    count, wide = select_size(1 << 24, 1 << 12), select_size(1 << 14, 1 << 4)
    line = random(count)
    rows = line.view(wide, -1)
    measure("sort of a line", lambda: line.sort())
    measure("sort of rows", lambda: rows.sort())
    numbers = torch.randint(1 << 40, (count,), device=on)
    measure("sort of integers", lambda: numbers.sort())
    measure("topk 100 of a line", lambda: line.topk(100))
    measure("topk 10 of rows", lambda: rows.topk(10))
    measure("cumsum of a line", lambda: line.cumsum(0))
    measure("cumsum of rows", lambda: rows.cumsum(1))
    measure("cumsum of columns", lambda: rows.cumsum(0))
    few = torch.randint(100, (count,), device=on)
    measure("cumsum of integers", lambda: few.cumsum(0))
    places, of_rows = torch.randint(count, (count,), device=on), torch.randint(wide, (wide,), device=on)
    measure("index of elements", lambda: line[places])
    measure("index of rows", lambda: rows[of_rows])
    measure("gather", lambda: line.gather(0, places))
    measure("scatter_add", lambda: line.scatter_add(0, places, line))
    measure("index_add of rows", lambda: rows.index_add(0, of_rows, rows))
    words, width = select_size(50257, 100), select_size(768, 8)
    table = random(words, width)
    text = torch.randint(words, (select_size(8, 1), select_size(1024, 16)), device=on)
    grads = F.embedding(text, table)
    measure("embedding", lambda: F.embedding(text, table))
    measure(
        "gradient of embedding",
        lambda: torch.ops.aten.embedding_dense_backward(grads, text, words, -1, False),
    )


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


def small_calls():
    one = random(1)

    def chain():
        z = one
        for _ in range(500):
            z = z + one

    with torch.no_grad():
        measure("add of one element, in a chain", chain, calls=500, host_time=True)
    width = select_size(1024, 32)
    measure("training step of digits", Network([64, 128, 10], 64).step)
    network = Network([784, width, width, 10], 256)
    measure("training step of 784-1024-1024-10", network.step)
    with torch.no_grad():
        for _ in range(3):
            network.scores()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            network.scores()
        measure("replayed forward of 784-1024-1024-10", graph.replay)


with torch.no_grad():
    pointwise()
    reductions()
    products()
attentions()
with torch.no_grad():
    convolutions()
    indexing()
small_calls()
