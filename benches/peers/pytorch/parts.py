"""Parts of networks, forward and backward, as in ../opdispatch/src/parts.rs."""

import torch
from torch.nn import functional


def convolution(pictures, channels, width, stride=1, groups=1):
    sizes = [pictures, (channels, pictures[1] // groups, width, width), (channels,)]
    return sizes, lambda x, weight, bias: functional.conv2d(x, weight, bias, stride, width // 2, 1, groups)


def attention(is_causal):
    return [(8, 8, 512, 64)] * 3, lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


def log_softmax(rows, columns):
    return [(rows, columns)], lambda x: functional.log_softmax(x, 1)


def cross_entropy(rows, columns):
    labels = torch.arange(rows) * 7 % columns
    return [(rows, columns)], lambda x: functional.cross_entropy(x, labels)


def batch_norm(sizes):
    mean, var = torch.ones(sizes[1]), torch.ones(sizes[1])
    return [sizes, sizes[1:2], sizes[1:2]], lambda x, w, b: functional.batch_norm(x, mean, var, w, b, True)


def group_norm(sizes):
    return [sizes, sizes[1:2], sizes[1:2]], lambda x, w, b: functional.group_norm(x, 32, w, b)


PARTS = {
    "conv2d stem": lambda: convolution((8, 3, 224, 224), 64, 7, 2),
    "conv2d 64 3x3": lambda: convolution((8, 64, 56, 56), 64, 3),
    "conv2d 256 3x3": lambda: convolution((8, 256, 14, 14), 256, 3),
    "conv2d 256 to 64 1x1": lambda: convolution((8, 256, 56, 56), 64, 1),
    "conv2d 64 to 256 1x1": lambda: convolution((8, 64, 56, 56), 256, 1),
    "conv2d 128 depthwise": lambda: convolution((8, 128, 56, 56), 128, 3, groups=128),
    "conv2d 512 depthwise": lambda: convolution((8, 512, 14, 14), 512, 3, groups=512),
    "attention": lambda: attention(False),
    "attention, causal": lambda: attention(True),
    "log_softmax 4096x1000": lambda: log_softmax(4096, 1000),
    "log_softmax 64x32000": lambda: log_softmax(64, 32000),
    "cross_entropy 4096x1000": lambda: cross_entropy(4096, 1000),
    "cross_entropy 64x32000": lambda: cross_entropy(64, 32000),
    "batch_norm 64x56x56": lambda: batch_norm((32, 64, 56, 56)),
    "batch_norm 256x14x14": lambda: batch_norm((32, 256, 14, 14)),
    "group_norm 64x56x56": lambda: group_norm((32, 64, 56, 56)),
    "group_norm 256x14x14": lambda: group_norm((32, 256, 14, 14)),
}


def job_for(name):
    forward = name.removesuffix(", backward")
    if forward not in PARTS:
        return None
    sizes, compute = PARTS[forward]()
    inputs = [torch.empty(size).uniform_(-1, 1).requires_grad_(name != forward) for size in sizes]
    if name == forward:
        return lambda: compute(*inputs)
    result = compute(*inputs)
    result_gradient = torch.ones_like(result)
    return lambda: torch.autograd.grad(result, inputs, result_gradient, retain_graph=True)
