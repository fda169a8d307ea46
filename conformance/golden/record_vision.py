"""Records calls of torchvision's operators: `python3 record_vision.py` writes vision.jsonl.gz, in the format of ops.jsonl.gz. It needs the
package torchvision."""

from pathlib import Path

import torch
import torchvision.extension

from recorder import record, write

FLOATS = (torch.float32, torch.float64, torch.float16)

torch.manual_seed(4)


def regions(*rows, dtype=torch.float64):
    return torch.tensor(rows, dtype=dtype).reshape(-1, 5)


def normal(*sizes, dtype):
    """Returns random numbers that every dtype represents, with few digits."""
    return ((torch.randn(sizes) * 32).round() / 32).to(dtype)


def distinct(*sizes, dtype):
    """Returns the multiples of 1/32 around zero in a random order, so that each maximum is unique."""
    count = torch.Size(sizes).numel()
    return ((torch.randperm(count) - count // 2) / 32).reshape(sizes).to(dtype)


def vision(name, *arguments, with_gradients=True):
    # Gradients are computed in double precision, so those of other dtypes are the same.
    record("torchvision::" + name, *arguments, with_gradients=with_gradients and arguments[0].dtype == torch.float32)


# Regions inside of the images, across their edges, outside of them, without area, and with exchanged edges.
REGIONS = [
    (0, 0.5, 0.75, 4.25, 5.5), (1, -1.3, -2.2, 3.1, 8.4), (0, 2.0, 3.0, 2.0, 3.0), (1, 4.6, 5.1, 1.2, 2.3), (1, 20.0, 21.0, 25.0, 24.5),
    (0, 0.0, 0.0, 5.0, 6.0), (0, -9.0, -9.0, -7.5, -7.25), (1, 1.05, 0.1, 1.15, 6.6),
]


# Boxes that overlap, equal scores, equal boxes, boxes without area, and infinite and undefined numbers.
def boxes(count, dtype):
    corner = torch.rand(count, 2, dtype=torch.float64) * 20
    return torch.cat([corner, corner + torch.rand(count, 2, dtype=torch.float64) * 15], 1).to(dtype)


for dtype in (torch.float32, torch.float64):
    for count in (0, 1, 2, 12, 40):
        for threshold in (0.5, 0.1):
            vision("nms", boxes(count, dtype), torch.rand(count, dtype=dtype), threshold)
    dets = boxes(12, dtype)
    for threshold in (0.0, 1.0, -1.0, 2.0, float("nan"), float("inf")):
        vision("nms", dets, torch.rand(12, dtype=dtype), threshold)
    vision("nms", dets, torch.tensor([1.0, 0.5, 0.5] * 4, dtype=dtype), 0.3)
    vision("nms", dets[[0, 0, 1, 1, 0, 2]], torch.tensor([1.0, 2.0, 1.0, 1.0, 2.0, -1.0], dtype=dtype), 0.7)
    vision("nms", dets[:, [2, 1, 0, 3]], torch.rand(12, dtype=dtype), 0.2)
    vision("nms", torch.rand(4, 12, dtype=dtype).t() * 9, torch.rand(24, dtype=dtype)[::2], 0.2)
    special = torch.tensor([[0, 0, 2, 2], [0, 0, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, float("inf"), 2], [float("nan"), 0, 2, 2]], dtype=dtype)
    vision("nms", special, torch.tensor([3.0, 2.0, float("inf"), float("-inf"), 0.0, 1.0], dtype=dtype), 0.5)
    vision("nms", special, torch.tensor([3.0, 2.0, float("nan"), 5.0, 0.0, float("nan")], dtype=dtype), 0.49)

for dtype in FLOATS:
    image, rois = distinct(2, 3, 7, 6, dtype=dtype), regions(*REGIONS, dtype=dtype)
    few = rois[[1, 0]]
    for aligned in (True, False):
        for sampling_ratio in (2, 0, -1, 1, 3):
            vision("roi_align", image, rois, 1.0, 2, 3, sampling_ratio, aligned)
        vision("roi_align", image, rois * torch.tensor([1, 2, 2, 2, 2], dtype=dtype), 0.5, 3, 2, 2, aligned)
        vision("roi_align", image.contiguous(memory_format=torch.channels_last), few, 0.7, 1, 1, -1, aligned)
        vision("roi_align", image, few, -1.0, 2, 2, 2, aligned)
    vision("roi_align", image, rois[:0], 1.0, 2, 2, 2, True)
    vision("roi_align", image[:, :0], few, 1.0, 2, 2, 2, True)
    vision("roi_align", image, few, 1.0, 0, 2, 2, True)
    vision("roi_align", image[:, :, :1, :1], few, 1.0, 2, 2, 2, True)
    vision("roi_align", image, regions((1.75, 0, 0, 3, 3), (0.25, 0, 0, 3, 3), dtype=dtype), 1.0, 2, 2, 2, True)

    for scale, pooled in ((1.0, (2, 3)), (0.5, (3, 2)), (2.0, (1, 1)), (1.0, (5, 4)), (-1.0, (2, 2))):
        vision("roi_pool", image, rois, scale, *pooled)
    vision("roi_pool", image.contiguous(memory_format=torch.channels_last), few, 0.7, 2, 2)
    vision("roi_pool", image, rois[:0], 1.0, 2, 2)
    vision("roi_pool", image[:, :0], few, 1.0, 2, 2)
    vision("roi_pool", image, few, 1.0, 2, 0)
    special = torch.tensor([[float("nan"), 1.0, float("-inf")], [float("nan"), float("inf"), float("nan")], [-1e4, float("-inf"), float("-inf")]], dtype=dtype)
    vision("roi_pool", special[None, None], regions((0, 0, 0, 2, 2), (0, 0, 0, 0, 1), (0, 1, 2, 2, 2), dtype=dtype), 1.0, 2, 1, with_gradients=False)
    vision("roi_pool", torch.ones(1, 1, 3, 3, dtype=dtype), regions((0, 0, 0, 2, 2), dtype=dtype), 1.0, 2, 2, with_gradients=False)

    image = normal(2, 12, 7, 6, dtype=dtype)
    for scale, pooled in ((1.0, (2, 3)), (0.5, (3, 2)), (2.0, (1, 1)), (1.0, (1, 4)), (-1.0, (2, 2))):
        for sampling_ratio in (2, 0, 1) if scale == 1.0 else (3,):
            vision("ps_roi_align", image, rois, scale, *pooled, sampling_ratio)
        vision("ps_roi_pool", image, rois, scale, *pooled)
    for name, more in (("ps_roi_align", (2,)), ("ps_roi_pool", ())):
        vision(name, image.contiguous(memory_format=torch.channels_last), few, 0.7, 2, 2, *more)
        vision(name, image, rois[:0], 1.0, 2, 2, *more)
        vision(name, image[:, :0], few, 1.0, 2, 2, *more)

    # The gradients as operators.
    size = (2, 3, 7, 6)
    gradient = normal(len(REGIONS), 3, 2, 3, dtype=dtype)
    for sampling_ratio, aligned in ((2, True), (0, False), (0, True)):
        vision("_roi_align_backward", gradient, rois, 1.0, 2, 3, *size, sampling_ratio, aligned, with_gradients=False)
    vision("_roi_align_backward", gradient[:2, :, :1].contiguous(), few, 0.5, 1, 3, *size, 2, False, with_gradients=False)
    vision("_roi_align_backward", gradient[:0], rois[:0], 0.5, 2, 3, *size, 2, False, with_gradients=False)
    argmax = torch.randint(-1, 42, gradient.shape, dtype=torch.int32)
    vision("_roi_pool_backward", gradient, rois, argmax, 1.0, 2, 3, *size, with_gradients=False)
    vision("_roi_pool_backward", gradient[:0], rois[:0], argmax[:0], 1.0, 2, 3, *size, with_gradients=False)
    size = (2, 18, 7, 6)
    for channels in (torch.arange(18, dtype=torch.int32).reshape(3, 2, 3).repeat(len(REGIONS), 1, 1, 1), torch.randint(0, 18, gradient.shape, dtype=torch.int32)):
        vision("_ps_roi_align_backward", gradient, rois, channels, 1.0, 2, 3, 2, *size, with_gradients=False)
        vision("_ps_roi_align_backward", gradient, rois, channels, 0.5, 2, 3, 0, *size, with_gradients=False)
        vision("_ps_roi_pool_backward", gradient, rois, channels, 1.0, 2, 3, *size, with_gradients=False)


# Deformable convolutions: groups, steps, kernels that are no squares, with and without a mask, offsets far outside of the image.
def deformable(dtype, sizes, out_channels, kernel, stride, padding, dilation, groups, offset_groups, use_mask, spread=1.5):
    count, channels, *image = sizes
    out = [(image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in (0, 1)]
    points = kernel[0] * kernel[1] * offset_groups
    mask = normal(count, points, *out, dtype=dtype) if use_mask else torch.zeros(count, 1, dtype=dtype)
    offset = normal(count, 2 * points, *out, dtype=dtype) * spread + (1 / 128 if spread else 0)
    weight = normal(out_channels, channels // groups, *kernel, dtype=dtype)
    tensors = [normal(*sizes, dtype=dtype), weight, offset, mask, normal(out_channels, dtype=dtype)]
    return tensors, (*stride, *padding, *dilation, groups, offset_groups, use_mask), normal(count, out_channels, *out, dtype=dtype)


def deformable_gradient(gradient, tensors, options):
    # Sums over several images are rounded in an order of torchvision's own.
    if len(gradient) == 1 or gradient.dtype != torch.float16:
        vision("_deform_conv2d_backward", gradient, *tensors, *options, with_gradients=False)


CONVOLUTIONS = [
    ((2, 4, 5, 6), 4, (3, 3), (1, 1), (1, 1), (1, 1), 1, 1),
    ((1, 4, 6, 5), 2, (3, 2), (2, 1), (1, 0), (1, 2), 2, 1),
    ((2, 4, 5, 5), 4, (2, 2), (1, 2), (0, 1), (2, 1), 2, 2),
    ((3, 2, 4, 4), 3, (1, 1), (1, 1), (0, 0), (1, 1), 1, 2),
    ((1, 6, 4, 7), 6, (3, 3), (3, 2), (2, 3), (1, 1), 6, 3),
]
for dtype in FLOATS:
    for convolution in CONVOLUTIONS:
        for use_mask in (True, False):
            tensors, options, gradient = deformable(dtype, *convolution, use_mask)
            vision("deform_conv2d", *tensors, *options)
            deformable_gradient(gradient, tensors, options)
    tensors, options, gradient = deformable(dtype, *CONVOLUTIONS[0], True, spread=20)
    vision("deform_conv2d", *tensors, *options)
    tensors[0] = tensors[0].contiguous(memory_format=torch.channels_last)
    vision("deform_conv2d", *tensors, *options)
    deformable_gradient(gradient, tensors, options)
    # Without offsets, points are pixels, and those of the padding are exactly one pixel outside of the image.
    tensors, options, gradient = deformable(dtype, *CONVOLUTIONS[0], True, spread=0)
    vision("deform_conv2d", *tensors, *options, with_gradients=False)
    deformable_gradient(gradient, tensors, options)
    tensors, options, gradient = deformable(dtype, *CONVOLUTIONS[0], True)
    tensors[2] = tensors[2].round()
    vision("deform_conv2d", *tensors, *options, with_gradients=False)
    deformable_gradient(gradient, tensors, options)

write(Path(__file__).with_name("vision.jsonl.gz"))
