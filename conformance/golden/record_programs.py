"""Records calls of operators that exported programs contain, and of PyTorch's internal names of operators: `python3 record_programs.py`
writes programs.jsonl.gz, in the format of ops.jsonl.gz."""

from pathlib import Path

import torch

from recorder import record, write


def f64(*sizes):
    return torch.randn(sizes, dtype=torch.float64)


torch.manual_seed(26)

# Assertions that hold. A call that fails has no recording.
for value in (1.0, -0.5, float("nan"), True, 3, 2j):
    record("_assert_async", torch.tensor(value))
    record("_assert_async.msg", torch.tensor([[value]]), "zero")
    record("_assert_scalar", value, "zero")
    record("_functional_assert_async.msg", torch.tensor(value), "zero", torch.tensor(2.0), with_gradients=False)
    record("_functional_assert_scalar", value, "zero", torch.tensor([2, 3]))
for size, bounds in ((3, {}), (3, {"min": 3}), (-4, {"max": -4}), (7, {"min": 0, "max": 9})):
    record("sym_constrain_range", size, **bounds)
    record("_functional_sym_constrain_range", size, bounds.get("min"), bounds.get("max"), torch.tensor(2.0), with_gradients=False)
for size, bounds in ((0, {}), (3, {"min": 3}), (7, {"min": 0, "max": 9})):
    record("sym_constrain_range_for_size", size, **bounds)
    record("_functional_sym_constrain_range_for_size", size, bounds.get("min"), bounds.get("max"), torch.tensor(2.0), with_gradients=False)
tensor = torch.arange(6.0).reshape(2, 3)
for options in ((), ([2, 3],), (None, [3, 1]), (None, None, torch.float32), ([2, 3], [3, 1], torch.float32)):
    record("_assert_tensor_metadata", tensor, *options, with_gradients=False)
record("_assert_tensor_metadata", tensor.t(), [3, 2], [1, 3], device=torch.device("cpu"), layout=torch.strided, with_gradients=False)

record("_make_dep_token")
for sizes, layout in (([2, 3, 4], [2, 0, 1]), ([2, 3], [0, 1]), ([], []), ([2, 0, 3], [1, 2, 0]), ([3, 1, 2], [2, 1, 0])):
    record("empty_permuted", sizes, layout)
    record("empty_permuted", sizes, layout, dtype=torch.int16)

# Conversions, copies and queries.
for name in ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"):
    record("_cast_" + name, torch.tensor([[1.5, -2.25], [100.0, 0.0]]), with_gradients=False)
    record("_cast_" + name, torch.tensor([True, False, True]), True, with_gradients=False)
record("_reshape_copy", f64(2, 3, 4).transpose(0, 1), [6, -1])
record("_reshape_alias_copy", f64(2, 3), [3, 2], [2, 1])
record("get_device", f64(2))
record("_has_same_storage_numel", f64(2, 3), f64(6))
record("_has_same_storage_numel", f64(2, 3), f64(2, 3)[0].clone())
for strides in ((12, 4, 2, 1), (12, 1, 6, 3), (1, 2, 6, 12)):
    tensor = f64(100).as_strided((2, 3, 2, 2), strides)
    record("sym_is_contiguous", tensor)
    record("sym_is_contiguous", tensor, torch.channels_last)
record("_shape_as_tensor", f64(2, 0, 3))
record("_shape_as_tensor", f64())

# Gradients of operators that select elements.
index = torch.tensor([[0, 2, 2], [1, 1, 0]])
record("gather_backward", f64(2, 3), f64(2, 4), 1, index, False)
record("gather_backward", f64(2, 3), f64(3, 4), -2, index, False)
for sizes in ([3], [2, 4]):
    record("masked_scatter_backward", f64(2, 3), index > 1, sizes)
    record("masked_scatter_backward", f64(2, 3), torch.tensor([True, False, True]), [2, 2])
record("value_selecting_reduction_backward", f64(2), 1, torch.tensor([2, 0]), [2, 3], False)
record("value_selecting_reduction_backward", f64(1, 3), 0, torch.tensor([[1, 1, 0]]), [2, 3], True)
record("value_selecting_reduction_backward", f64(), 0, torch.tensor(0), [], False)
record("cummaxmin_backward", f64(2, 3), f64(2, 3), torch.tensor([[0, 0, 2], [0, 1, 1]]), 1)
record("trace_backward", f64(), [3, 3])
record("trace_backward", f64(), [2, 4])

# Names of one algorithm of a convolution.
image, kernel, bias = f64(2, 4, 6, 5), f64(3, 4, 3, 2), f64(3)
for more in ((None,), (bias,), (bias, [2, 1]), (None, [1, 2], [1, 0])):
    record("thnn_conv2d", image, kernel, [3, 2], *more)
    record("slow_conv_dilated2d", image, kernel, [3, 2], *more)
    record("slow_conv_transpose2d", image, kernel.transpose(0, 1).contiguous(), [3, 2], *((more[0] if more[0] is None else f64(3)), *more[1:]))
record("slow_conv_dilated2d", image[0], kernel, [3, 2], bias, [1, 1], [1, 1], [2, 3])
record("slow_conv_transpose2d", image[0], kernel.transpose(0, 1).contiguous(), [3, 2], bias, [2, 3], [1, 1], [1, 0], [2, 1])
record("_slow_conv2d_forward", image, kernel, [3, 2], bias, [2, 1], [1, 1], with_gradients=False)
gradient = torch.ops.aten._slow_conv2d_forward(image, kernel, [3, 2], bias, [2, 1], [1, 1])
for mask in ([True, True, True], [True, False, False], [False, True, True]):
    record("_slow_conv2d_backward.output_mask", torch.randn_like(gradient), image, kernel, [3, 2], [2, 1], [1, 1], mask, with_gradients=False)
volume, kernel = f64(2, 2, 4, 3, 3), f64(3, 2, 2, 2, 1)
record("slow_conv3d", volume, kernel, [2, 2, 1])
record("slow_conv3d", volume, kernel, [2, 2, 1], bias, [2, 1, 1], [1, 0, 1])
record("slow_conv3d_forward", volume, kernel, [2, 2, 1], bias, [2, 1, 1], [1, 0, 1], with_gradients=False)
record("slow_conv_dilated3d", volume, kernel, [2, 2, 1], bias, [1, 1, 1], [1, 0, 1], [2, 1, 1])
record("slow_conv_transpose3d", volume, kernel.transpose(0, 1).contiguous(), [2, 2, 1], bias, [2, 1, 1], [1, 0, 0], [1, 0, 0])
for transposed, weight in ((False, f64(6, 2, 3)), (True, f64(4, 3, 3))):
    arguments = f64(2, 4, 7), weight, f64(6), [2], [1], [1], transposed, [1 if transposed else 0], 2, False, False, True
    record("_convolution", *arguments, True)
    record("_convolution.deprecated", *arguments)
for padding, weight in (("same", f64(6, 2, 3)), ("same", f64(6, 2, 4)), ("valid", f64(6, 2, 3))):
    record("_convolution_mode", f64(2, 4, 7), weight, f64(6), [1], padding, [2], 2)
sequence, weight, bias = f64(5, 2, 3), f64(3, 3, 4), f64(4)
record("conv_tbc", sequence, weight, bias, 1)
record("conv_tbc", sequence, weight, bias)
record("conv_tbc_backward", f64(5, 2, 4), sequence, weight, bias, 1, with_gradients=False)

for size in (3.75, True, -0.5):
    record("sym_constrain_range", size, min=0, max=3)

# A negative padding removes the border of an image.
image, weight = torch.arange(84.0).reshape(1, 2, 6, 7).cos(), torch.arange(54.0).reshape(3, 2, 3, 3).sin()
record("thnn_conv2d", image, weight, [3, 3], None, [1, 2], [1, -1], with_gradients=False)
record("slow_conv_dilated2d", image, weight, [3, 3], None, [1, 1], [-1, -1], with_gradients=False)

write(Path(__file__).with_name("programs.jsonl.gz"))
