"""Records outputs and gradients of PyTorch's layers: python record.py layers.npz

A case is a layer with random parameters and inputs in float64. It is run in training and in evaluation, and evaluation is
recorded only if it differs. The cotangents of an output are cos(1), cos(2), ... Inputs and parameters are exact in float32, so the same
recording serves both dtypes.

The file has three arrays: `values`, all elements; `shapes`, for each tensor its rank and its sizes; and `names`, a line for each tensor:
group, case, kind and name, separated by tabs, and `f`, `i` or `b` for the dtype.
"""

import sys

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
names, shapes, values = [], [], []
seen = set()


def x(*sizes, scale=1.0):
    """Random numbers that are never 0 or another kink of an activation."""
    return torch.round(torch.randn(sizes, dtype=torch.float64) * 64 * scale) / 64 + 1 / 128


def distinct(*sizes):
    """Random numbers without ties."""
    count = int(np.prod(sizes))
    return ((torch.randperm(count).double() - count / 2) / 16 + 1 / 128).reshape(sizes)


def probabilities(*sizes):
    """Numbers from 1/16 to 15/16."""
    return (torch.randint(8, 121, sizes).double()) / 128


def classes(count, *sizes):
    return torch.randint(0, count, sizes)


def signs(*sizes):
    return torch.randint(0, 2, sizes).double() * 2 - 1


def rounded(tensor):
    """Keeps 32 bits of the mantissa, so that the file is small."""
    mantissa, exponent = np.frexp(tensor.detach().double().numpy())
    return np.ldexp(np.round(mantissa * 2.0**33) / 2.0**33, exponent)


def put(case, kind, name, tensor):
    letter = "f" if tensor.is_floating_point() else "b" if tensor.dtype == torch.bool else "i"
    names.append("\t".join([*case, kind, name, letter]))
    shapes.extend([tensor.dim(), *tensor.shape])
    values.append(rounded(tensor).reshape(-1))


def run(module, inputs, call):
    module.zero_grad()
    buffers = {n: b.clone() for n, b in module.named_buffers()}
    try:
        leaves = [i.clone().requires_grad_() if i.is_floating_point() else i for i in inputs]
        outputs = call(module, *leaves)
    except RuntimeError as error:
        # Some losses refuse gradients of the target.
        assert "not differentiable" in str(error) and not buffers, error
        leaves = [i.clone().requires_grad_() if j == 0 else i for j, i in enumerate(inputs)]
        outputs = call(module, *leaves)
    inputs = leaves
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    loss = 0
    for output in outputs:
        if output.is_floating_point():
            seeds = torch.cos(torch.arange(1, output.numel() + 1, dtype=torch.float64)).reshape(output.shape)
            loss = loss + (output * seeds).sum()
    if loss.requires_grad:
        loss.backward()
    found = {("output", str(j)): output for j, output in enumerate(outputs)}
    found |= {("grad_input", str(j)): i.grad for j, i in enumerate(inputs) if i.is_floating_point() and i.grad is not None}
    found |= {("grad", n): p.grad for n, p in module.named_parameters() if p.grad is not None}
    found |= {("buffer", n): b.clone() for n, b in module.named_buffers()}
    return found


def case(group, name, module, *inputs, call=lambda module, *inputs: module(*inputs)):
    assert (group, name) not in seen, name
    seen.add((group, name))
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.round((torch.randn_like(parameter) * 0.5) * 64) / 64 + 1 / 128)
        for key, buffer in module.named_buffers():
            if key == "running_var":
                buffer.copy_(probabilities(*buffer.shape) + 0.5)
            elif key == "running_mean":
                buffer.copy_(x(*buffer.shape))
            elif key == "num_batches_tracked":
                buffer.fill_(3)
    key = (group, name)
    for n, tensor in module.state_dict().items():
        put(key, "state", n, tensor)
    for j, tensor in enumerate(inputs):
        put(key, "input", str(j), tensor)
    trained = run(module.train(), inputs, call)
    evaluated = run(module.eval(), inputs, call)
    for (kind, n), tensor in trained.items():
        put(key, "train." + kind, n, tensor)
    for what, tensor in evaluated.items():
        if what not in trained or not torch.equal(trained[what], tensor):
            put(key, "eval." + what[0], what[1], tensor)
    assert set(trained) == set(evaluated)


# Products and convolutions.
case("conv", "Linear", nn.Linear(3, 2), x(2, 2, 3))
case("conv", "Linear without bias", nn.Linear(3, 2, bias=False), x(2, 3))
case("conv", "Bilinear", nn.Bilinear(2, 3, 2), x(2, 2), x(2, 3))
case("conv", "Bilinear without bias", nn.Bilinear(2, 3, 2, bias=False), x(2, 2), x(2, 3))
for rank, (conv, transpose) in enumerate(
    [(nn.Conv1d, nn.ConvTranspose1d), (nn.Conv2d, nn.ConvTranspose2d), (nn.Conv3d, nn.ConvTranspose3d)], 1
):
    first = lambda *numbers: numbers[:rank]
    size = first(5, 4, 3)
    n, t = conv.__name__, transpose.__name__
    case("conv", n, conv(2, 3, first(2, 3, 2)), x(2, 2, *size))
    case("conv", n + " without items", conv(2, 3, 2), x(2, *size))
    options = dict(stride=first(2, 1, 2), padding=first(1, 2, 1), dilation=first(2, 1, 1), groups=2, bias=False)
    case("conv", n + " options", conv(2, 4, first(3, 2, 2), **options), x(2, 2, *size))
    case("conv", n + " same", conv(1, 2, first(4, 3, 2), padding="same", dilation=first(1, 2, 1)), x(1, 1, *size))
    case("conv", n + " valid", conv(1, 2, 2, padding="valid"), x(1, 1, *size))
    for mode in ["reflect", "replicate", "circular"]:
        case("conv", f"{n} {mode}", conv(1, 2, 2, padding=first(2, 1, 1), padding_mode=mode), x(1, 1, *size))
        case("conv", f"{n} {mode} same", conv(1, 1, first(4, 3, 2), padding="same", padding_mode=mode), x(1, 1, *size))
    size = first(3, 2, 2)
    case("conv", t, transpose(2, 3, first(2, 3, 2)), x(2, 2, *size))
    case("conv", t + " without items", transpose(2, 3, 2), x(2, *size))
    options = dict(stride=first(3, 2, 2), padding=first(1, 0, 1), output_padding=first(1, 1, 0), dilation=first(2, 1, 1), groups=2)
    case("conv", t + " options", transpose(2, 4, first(3, 2, 2), bias=False, **options), x(1, 2, *size))
    case("conv", t + " output size", transpose(1, 1, 2, stride=2), x(1, 1, *size),
         call=lambda m, a: m(a, output_size=first(7, 4, 5)))

# Normalisation.
for rank, norm in enumerate([nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d], 1):
    n, size = norm.__name__, (3, 2, 2)[:rank]
    case("norm", n, norm(2), x(3, 2, *size))
    case("norm", n + " cumulative", norm(2, momentum=None), x(3, 2, *size))
    case("norm", n + " options", norm(2, eps=0.125, momentum=0.25, bias=False), x(3, 2, *size))
    case("norm", n + " plain", norm(2, affine=False, track_running_stats=False), x(3, 2, *size))
case("norm", "BatchNorm1d without length", nn.BatchNorm1d(3), x(4, 3))
for rank, norm in enumerate([nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d], 1):
    n, size = norm.__name__, (3, 2, 2)[:rank]
    case("norm", n, norm(2), x(3, 2, *size))
    case("norm", n + " without items", norm(2), x(2, *size))
    case("norm", n + " options", norm(2, eps=0.125, momentum=0.25, affine=True, track_running_stats=True), x(3, 2, *size))
    case("norm", n + " without bias", norm(2, affine=True, bias=False), x(3, 2, *size))
case("norm", "GroupNorm", nn.GroupNorm(2, 4), x(2, 4, 3))
case("norm", "GroupNorm options", nn.GroupNorm(2, 4, eps=0.125, bias=False), x(2, 4, 2, 2))
case("norm", "GroupNorm plain", nn.GroupNorm(4, 4, affine=False), x(2, 4, 3))
case("norm", "LayerNorm", nn.LayerNorm(4), x(2, 3, 4))
case("norm", "LayerNorm of two dimensions", nn.LayerNorm([3, 4]), x(2, 3, 4))
case("norm", "LayerNorm options", nn.LayerNorm(4, eps=0.125, bias=False), x(2, 4))
case("norm", "LayerNorm plain", nn.LayerNorm(4, elementwise_affine=False), x(2, 4))
case("norm", "RMSNorm", nn.RMSNorm(4), x(2, 3, 4))
case("norm", "RMSNorm of two dimensions", nn.RMSNorm([3, 4]), x(2, 3, 4))
case("norm", "RMSNorm options", nn.RMSNorm(4, eps=0.125, elementwise_affine=False), x(2, 4))
case("norm", "LocalResponseNorm", nn.LocalResponseNorm(2), x(2, 4, 3))
case("norm", "LocalResponseNorm options", nn.LocalResponseNorm(3, alpha=0.5, beta=0.5, k=2.0), x(2, 4, 2, 2))
case("norm", "LocalResponseNorm of volumes", nn.LocalResponseNorm(3, alpha=0.5), x(1, 4, 2, 2, 2))

# Activations.
for name in """ReLU ReLU6 SELU SiLU Mish Sigmoid LogSigmoid Tanh Tanhshrink Softsign Hardsigmoid Hardswish LeakyReLU ELU CELU GELU Softplus
    Softshrink Hardshrink Hardtanh GLU PReLU""".split():
    case("activation", name, getattr(nn, name)(), x(3, 4, scale=3.0))
case("activation", "Softmax2d", nn.Softmax2d(), x(2, 3, 2, 1))
case("activation", "Softmax2d without items", nn.Softmax2d(), x(3, 2, 1))
case("activation", "LeakyReLU options", nn.LeakyReLU(0.5), x(3, 4))
case("activation", "ELU options", nn.ELU(0.5), x(3, 4))
case("activation", "CELU options", nn.CELU(0.5), x(3, 4))
case("activation", "GELU options", nn.GELU("tanh"), x(3, 4))
case("activation", "Softplus options", nn.Softplus(2.0, 1.0), x(3, 4))
case("activation", "Softshrink options", nn.Softshrink(0.25), x(3, 4))
case("activation", "Hardshrink options", nn.Hardshrink(0.25), x(3, 4))
case("activation", "Hardtanh options", nn.Hardtanh(-0.5, 0.75), x(3, 4))
case("activation", "GLU options", nn.GLU(0), x(4, 3))
case("activation", "PReLU options", nn.PReLU(3), x(2, 3, 2))
case("activation", "Threshold", nn.Threshold(0.25, 9.0), x(3, 4))
case("activation", "Softmax", nn.Softmax(1), x(2, 3, 2))
case("activation", "Softmin", nn.Softmin(-1), x(2, 3))
case("activation", "LogSoftmax", nn.LogSoftmax(0), x(2, 3))

# Pooling.
for rank in (1, 2, 3):
    first = lambda *numbers: numbers[:rank]
    layer = lambda name: getattr(nn, f"{name}{rank}d")
    size = first(7, 6, 5)
    case("pooling", f"MaxPool{rank}d", layer("MaxPool")(2), distinct(1, 2, *size))
    options = dict(stride=first(2, 1, 2), padding=1, dilation=first(2, 1, 1), ceil_mode=True)
    case("pooling", f"MaxPool{rank}d options", layer("MaxPool")(first(2, 3, 2), **options), distinct(1, *size))
    case("pooling", f"MaxPool{rank}d indices", layer("MaxPool")(first(2, 3, 2), return_indices=True), distinct(1, 1, *size))
    small = first(4, 3, 2)
    pooled, indices = layer("MaxPool")(2, return_indices=True)(distinct(1, 2, *first(8, 6, 4)))
    case("pooling", f"MaxUnpool{rank}d", layer("MaxUnpool")(2), distinct(*pooled.shape), indices)
    pooled, indices = layer("MaxPool")(3, stride=2, padding=1, return_indices=True)(distinct(1, *first(8, 6, 4)))
    case("pooling", f"MaxUnpool{rank}d options", layer("MaxUnpool")(3, stride=2, padding=1), distinct(*pooled.shape), indices,
         call=lambda m, a, i: m(a, i, output_size=list(first(8, 6, 4))))
    case("pooling", f"AvgPool{rank}d", layer("AvgPool")(2), x(1, 2, *size))
    options = dict(stride=first(2, 1, 2), padding=1, ceil_mode=True, count_include_pad=False)
    case("pooling", f"AvgPool{rank}d options", layer("AvgPool")(first(2, 3, 2), **options), x(1, *size))
    if rank > 1:
        case("pooling", f"AvgPool{rank}d divisor", layer("AvgPool")(2, divisor_override=3), x(1, *size))
    case("pooling", f"LPPool{rank}d", layer("LPPool")(2.0, 2), x(1, 2, *size).abs())
    case("pooling", f"LPPool{rank}d options", layer("LPPool")(3.0, 2, stride=1, ceil_mode=True), x(1, *size).abs())
    case("pooling", f"LPPool{rank}d negative", layer("LPPool")(3.0, 2), x(1, *size))
    case("pooling", f"LPPool{rank}d zero", layer("LPPool")(2.0, 2), torch.zeros(1, *size).double())
    case("pooling", f"AdaptiveAvgPool{rank}d", layer("AdaptiveAvgPool")(first(3, 2, 2)), x(1, 2, *size))
    case("pooling", f"AdaptiveAvgPool{rank}d without items", layer("AdaptiveAvgPool")(1), x(1, *size))
    case("pooling", f"AdaptiveMaxPool{rank}d", layer("AdaptiveMaxPool")(first(3, 2, 2)), distinct(1, 2, *size))
    case("pooling", f"AdaptiveMaxPool{rank}d indices", layer("AdaptiveMaxPool")(2, return_indices=True), distinct(1, *size))

# Padding.
for rank in (1, 2, 3):
    size, sides = (4, 3, 3)[:rank], (1, 2, 0, 1, 2, 1)[: 2 * rank]
    for name in ["ReflectionPad", "ReplicationPad", "CircularPad", "ZeroPad"]:
        case("padding", f"{name}{rank}d", getattr(nn, f"{name}{rank}d")(sides), x(1, 1, *size))
        case("padding", f"{name}{rank}d one number", getattr(nn, f"{name}{rank}d")(1), x(1, *size))
    case("padding", f"ConstantPad{rank}d", getattr(nn, f"ConstantPad{rank}d")(sides, 3.5), x(1, 1, *size))
    case("padding", f"ConstantPad{rank}d negative", getattr(nn, f"ConstantPad{rank}d")(-1, 3.5), x(1, 1, *size))

# Shapes.
case("shape", "Identity", nn.Identity(), x(2, 3))
case("shape", "Flatten", nn.Flatten(), x(2, 3, 2))
case("shape", "Flatten options", nn.Flatten(0, 1), x(2, 3, 2))
case("shape", "Unflatten", nn.Unflatten(1, (2, -1)), x(2, 6))
case("shape", "PixelShuffle", nn.PixelShuffle(2), x(1, 8, 2, 1))
case("shape", "PixelUnshuffle", nn.PixelUnshuffle(2), x(1, 2, 4, 2))
case("shape", "ChannelShuffle", nn.ChannelShuffle(3), x(1, 6, 2))
case("shape", "Unfold", nn.Unfold(2), x(1, 2, 4, 3))
case("shape", "Unfold options", nn.Unfold((2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2)), x(1, 1, 4, 3))
case("shape", "Fold", nn.Fold((4, 3), 2), x(1, 8, 6))
case("shape", "Fold options", nn.Fold((4, 3), (2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2)), x(1, 6, 12))

# Resizing.
for mode, rank in [("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 1), ("nearest-exact", 2), ("linear", 1),
                   ("bilinear", 2), ("trilinear", 3), ("bicubic", 2), ("area", 1), ("area", 2)]:
    size = (4, 3, 2)[:rank]
    case("upsample", f"size {mode} {rank}", nn.Upsample(size=(6, 5, 3)[:rank], mode=mode), x(1, 2, *size))
    case("upsample", f"factor {mode} {rank}", nn.Upsample(scale_factor=(2.0, 1.5, 1.5)[:rank], mode=mode), x(1, 1, *size))
for mode, rank in [("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2)]:
    case("upsample", f"corners {mode} {rank}", nn.Upsample(scale_factor=2.0, mode=mode, align_corners=True), x(1, 1, *(4, 3, 2)[:rank]))
case("upsample", "UpsamplingNearest2d", nn.UpsamplingNearest2d(scale_factor=2), x(1, 1, 3, 2))
case("upsample", "UpsamplingNearest2d size", nn.UpsamplingNearest2d(size=(4, 5)), x(1, 1, 3, 2))
case("upsample", "UpsamplingBilinear2d", nn.UpsamplingBilinear2d(scale_factor=2), x(1, 1, 3, 2))
case("upsample", "UpsamplingBilinear2d size", nn.UpsamplingBilinear2d(size=(4, 5)), x(1, 1, 3, 2))

# Losses and distances.
reductions = ["none", "mean", "sum"]


def losses(name, build, *inputs):
    for reduction in reductions:
        case("loss", f"{name} {reduction}", build(reduction), *inputs)


losses("L1Loss", lambda r: nn.L1Loss(reduction=r), x(2, 3), x(2, 3) + 1 / 64)
losses("MSELoss", lambda r: nn.MSELoss(reduction=r), x(2, 3), x(2, 3))
losses("SmoothL1Loss", lambda r: nn.SmoothL1Loss(reduction=r), x(2, 3), x(2, 3) + 1 / 256)
losses("SmoothL1Loss beta", lambda r: nn.SmoothL1Loss(reduction=r, beta=0.5), x(2, 3), x(2, 3) + 1 / 256)
losses("HuberLoss", lambda r: nn.HuberLoss(reduction=r), x(2, 3), x(2, 3) + 1 / 256)
losses("HuberLoss delta", lambda r: nn.HuberLoss(reduction=r, delta=0.5), x(2, 3), x(2, 3) + 1 / 256)
case("loss", "SmoothL1Loss zero", nn.SmoothL1Loss(beta=0.0), x(2, 3), x(2, 3) + 1 / 256)
weights = probabilities(4)
some = classes(4, 5)
some[1] = -100
losses("CrossEntropyLoss", lambda r: nn.CrossEntropyLoss(reduction=r), x(5, 4), some)
losses("CrossEntropyLoss weight", lambda r: nn.CrossEntropyLoss(weight=weights, reduction=r, ignore_index=2), x(5, 4), classes(4, 5))
losses("CrossEntropyLoss smooth", lambda r: nn.CrossEntropyLoss(weight=weights, reduction=r, label_smoothing=0.25), x(5, 4), some)
losses("CrossEntropyLoss images", lambda r: nn.CrossEntropyLoss(reduction=r, label_smoothing=0.25), x(2, 4, 2, 1), classes(4, 2, 2, 1))
losses("CrossEntropyLoss probabilities", lambda r: nn.CrossEntropyLoss(weight=weights, reduction=r, label_smoothing=0.25),
       x(2, 4), probabilities(2, 4))
losses("CrossEntropyLoss one", lambda r: nn.CrossEntropyLoss(reduction=r), x(4), classes(4))
losses("NLLLoss", lambda r: nn.NLLLoss(reduction=r), x(5, 4), some)
losses("NLLLoss weight", lambda r: nn.NLLLoss(weight=weights, reduction=r, ignore_index=2), x(2, 4, 2, 1), classes(4, 2, 2, 1))
losses("BCELoss", lambda r: nn.BCELoss(reduction=r), probabilities(2, 3), probabilities(2, 3))
weights3 = probabilities(3)
losses("BCELoss weight", lambda r: nn.BCELoss(weight=weights3, reduction=r), probabilities(2, 3), probabilities(2, 3))
losses("BCEWithLogitsLoss", lambda r: nn.BCEWithLogitsLoss(reduction=r), x(2, 3), probabilities(2, 3))
losses("BCEWithLogitsLoss weights", lambda r: nn.BCEWithLogitsLoss(weight=weights3, pos_weight=weights3 * 2, reduction=r),
       x(2, 3), probabilities(2, 3))
losses("MultiLabelSoftMarginLoss", lambda r: nn.MultiLabelSoftMarginLoss(reduction=r), x(2, 3), probabilities(2, 3).round())
losses("MultiLabelSoftMarginLoss weight", lambda r: nn.MultiLabelSoftMarginLoss(weight=weights3, reduction=r), x(2, 3), probabilities(2, 3))
reductions = ["none", "mean", "batchmean", "sum"]
losses("KLDivLoss", lambda r: nn.KLDivLoss(reduction=r), x(2, 3), probabilities(2, 3))
losses("KLDivLoss log", lambda r: nn.KLDivLoss(reduction=r, log_target=True), x(2, 3), x(2, 3))
reductions = ["none", "mean", "sum"]
losses("PoissonNLLLoss", lambda r: nn.PoissonNLLLoss(reduction=r), x(2, 3), x(2, 3).abs())
losses("PoissonNLLLoss options", lambda r: nn.PoissonNLLLoss(log_input=False, full=True, eps=0.125, reduction=r),
       probabilities(2, 3), x(2, 3, scale=3.0).abs())
losses("GaussianNLLLoss", lambda r: nn.GaussianNLLLoss(reduction=r), x(2, 3), x(2, 3), probabilities(2, 3))
losses("GaussianNLLLoss options", lambda r: nn.GaussianNLLLoss(full=True, eps=0.5, reduction=r), x(2, 3), x(2, 3), probabilities(2, 1))
losses("SoftMarginLoss", lambda r: nn.SoftMarginLoss(reduction=r), x(2, 3), signs(2, 3))
losses("HingeEmbeddingLoss", lambda r: nn.HingeEmbeddingLoss(reduction=r), x(2, 3), signs(2, 3))
losses("HingeEmbeddingLoss margin", lambda r: nn.HingeEmbeddingLoss(margin=0.5, reduction=r), x(2, 3), signs(2, 3))
losses("MultiMarginLoss", lambda r: nn.MultiMarginLoss(reduction=r), x(3, 4), classes(4, 3))
losses("MultiMarginLoss options", lambda r: nn.MultiMarginLoss(p=2, margin=0.5, weight=weights, reduction=r), x(3, 4), classes(4, 3))
labels = torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0]])
losses("MultiLabelMarginLoss", lambda r: nn.MultiLabelMarginLoss(reduction=r), x(2, 4), labels)
losses("MarginRankingLoss", lambda r: nn.MarginRankingLoss(reduction=r), x(4), x(4) + 1 / 256, signs(4))
losses("MarginRankingLoss margin", lambda r: nn.MarginRankingLoss(margin=0.5, reduction=r), x(4), x(4) + 1 / 256, signs(4))
losses("CosineEmbeddingLoss", lambda r: nn.CosineEmbeddingLoss(reduction=r), x(3, 4), x(3, 4), torch.tensor([1, -1, 1]))
losses("CosineEmbeddingLoss margin", lambda r: nn.CosineEmbeddingLoss(margin=-0.5, reduction=r), x(3, 4), x(3, 4), torch.tensor([1, -1, -1]))
losses("TripletMarginLoss", lambda r: nn.TripletMarginLoss(reduction=r), x(3, 4), x(3, 4), x(3, 4))
losses("TripletMarginLoss options", lambda r: nn.TripletMarginLoss(margin=2.0, p=3.0, eps=0.125, swap=True, reduction=r),
       x(3, 4), x(3, 4), x(3, 4))
lengths = torch.tensor([5, 4]), torch.tensor([2, 3])
losses("CTCLoss", lambda r: nn.CTCLoss(reduction=r), torch.round(x(5, 2, 3).log_softmax(-1) * 64) / 64, torch.tensor([[1, 2, 0], [1, 1, 2]]),
       *lengths)
losses("CTCLoss options", lambda r: nn.CTCLoss(blank=2, zero_infinity=True, reduction=r),
       torch.round(x(5, 2, 3).log_softmax(-1) * 64) / 64, torch.tensor([0, 1, 1, 1, 1]), torch.tensor([5, 4]), torch.tensor([2, 3]))
case("loss", "CosineSimilarity", nn.CosineSimilarity(), x(2, 3), x(2, 3))
case("loss", "CosineSimilarity options", nn.CosineSimilarity(dim=0, eps=0.5), x(2, 3, scale=0.25), x(2, 3, scale=0.25))
case("loss", "PairwiseDistance", nn.PairwiseDistance(), x(2, 3), x(2, 3))
case("loss", "PairwiseDistance options", nn.PairwiseDistance(p=1.0, eps=0.125, keepdim=True), x(2, 3), x(2, 3) + 1 / 256)

# Layers with random numbers in training: only evaluation is deterministic.
for name in ["Dropout", "AlphaDropout"]:
    module = getattr(nn, name)(0.5)
    module.train = lambda mode=True, module=module: nn.Module.train(module, False)
    case("random", name, module, x(2, 3))
for name, rank in [("Dropout1d", 3), ("Dropout2d", 4), ("Dropout3d", 5), ("FeatureAlphaDropout", 4), ("RReLU", 2)]:
    module = getattr(nn, name)() if name == "RReLU" else getattr(nn, name)(0.5)
    module.train = lambda mode=True, module=module: nn.Module.train(module, False)
    case("random", name, module, x(*[2] * rank))

np.savez_compressed(
    sys.argv[1],
    values=np.concatenate(values),
    shapes=np.array(shapes, dtype=np.int64),
    names=np.frombuffer("\n".join(names).encode(), dtype=np.uint8),
)
print(len(seen), "cases", len(names), "tensors", sum(len(v) for v in values), "values")
