"""Records calls of operators of quantised models, and of float8 dtypes: `python3 record_quantized.py` writes quantized.jsonl.gz, in the
format of ops.jsonl.gz."""

import math
from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed

from recorder import record, write

FLOAT8 = [torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz, torch.float8_e8m0fnu]
OTHERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
          torch.complex64, torch.complex128, torch.bool]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1.0625, 1.1875, 3.3, -17.0, 448.0, 463.0, 465.0, -1e6, 57344.0, 61440.0, 240.0, 248.0, 2.0**-9, 2.0**-10,
           3 * 2.0**-11, 2.0**-16, 2.0**-17, 1e-30, math.inf, -math.inf, math.nan]


def floats(*sizes):
    return torch.randn(sizes)


def integers(low, high, *sizes, dtype=torch.int8):
    return torch.randint(low, high, sizes, dtype=dtype)


def plain(name, *arguments, **named):
    record(name, *arguments, with_gradients=False, **named)


torch.manual_seed(8)

# Float8: conversions, with each rounding and special value.
for dtype in FLOAT8:
    codes = torch.arange(256).to(torch.uint8).view(dtype)
    plain("_to_copy", codes, dtype=torch.float32)
    for source in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        plain("_to_copy", torch.tensor(SPECIAL, dtype=source), dtype=dtype)
    plain("_to_copy", (floats(60) * torch.logspace(-12, 8, 60)), dtype=dtype)
    exact = torch.tensor([[0.5, 1, -2], [4, 1.5, 0]]).to(dtype)
    for other in OTHERS + FLOAT8:
        plain("_to_copy", exact, dtype=other)
        plain("_to_copy", torch.tensor([0, 1, 2, 3, 100]).to(other), dtype=dtype)
    for source in (floats(2, 3), exact, torch.tensor([[1], [2]]), torch.tensor([1j, 2, 3])):
        plain("copy", exact, source)
    plain("copy", floats(2, 3), exact)
    plain("clone", exact.t())
    plain("clone", exact[:, ::2])
    plain("contiguous", exact.t())
    plain("cat", [exact, exact[:1]])
    plain("stack", [exact, exact], -1)
    for value in (1.5, 2, True, math.nan):
        plain("fill.Scalar", exact, value)
        plain("full", [2, 2], value, dtype=dtype)
        plain("full", [1], value, dtype=dtype)
        plain("eq.Scalar", exact, value)
        plain("ne.Scalar", exact, value)
    plain("full", [1], 1e9, dtype=dtype)
    plain("fill.Tensor", exact, torch.tensor(3.3))
    plain("zero", exact)
    plain("zeros", [3], dtype=dtype)
    plain("ones", [3], dtype=dtype)
    plain("ones_like", exact)
    plain("eye", 3, dtype=dtype)
    plain("eq.Tensor", exact, exact[:1])
    plain("eq.Tensor", codes, codes.clone())
    plain("ne.Tensor", codes, codes.flip(0) if dtype not in FLOAT8 else codes.roll(1))
    plain("eq.Tensor", exact, torch.tensor(1.03))
    for name in ("isnan", "isinf", "isfinite", "any", "all"):
        plain(name, codes)
    plain("any.dim", exact, 1)
    plain("all.dim", exact, 0, True)
    if dtype != torch.float8_e8m0fnu:
        plain("abs", codes)
        plain("index_put", exact, [torch.tensor([1, 0])], exact[:1])
    plain("where.self", torch.tensor([True, False, True]), exact, exact[:1])
    plain("where.ScalarOther", torch.tensor([True, False, True]), exact, 1.3)
    plain("index.Tensor", exact, [torch.tensor([1, 0, 1])])
    plain("index.Tensor", exact, [torch.tensor([[True, False, True], [False, True, True]])])
    plain("index_select", exact, 1, torch.tensor([2, 0]))
    plain("embedding", exact, torch.tensor([1, 1, 0]))
    plain("masked_select", exact, torch.tensor([True, False, True]))
    plain("slice_scatter", exact, exact[:1], 0, 1, 2)
    plain("select_scatter", exact, exact[1], 0, 0)
    plain("roll", exact, [1], [1])
    plain("repeat", exact, [2, 1])
    plain("repeat_interleave.self_int", exact, 2, 1)
    plain("constant_pad_nd", exact, [1, 2], 1.0)
    plain("diag_embed", exact)
    plain("view.dtype", codes[:8], torch.uint8)
    plain("view.dtype", codes[:8], torch.float16)
    plain("view.dtype", codes[:8], torch.int32)
    plain("view", exact, [3, 2])
    plain("transpose.int", exact, 0, 1)
    plain("is_floating_point", exact)
    plain("empty_like", exact[:0])
    plain("add.out", floats(3), floats(3), out=torch.zeros(3, dtype=dtype))

# Products of integers.
for rows, inner, columns in ((3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5), (3, 4, 0), (17, 40, 24)):
    for first in (torch.int8, torch.uint8):
        low = 0 if first == torch.uint8 else -128
        plain("_int_mm", integers(low, low + 256, rows, inner, dtype=first), integers(-128, 128, inner, columns))
plain("_int_mm", integers(-128, 128, 4, 3).t(), integers(-128, 128, 5, 4).t())
plain("_int_mm", torch.full((2, 300), -128, dtype=torch.int8), torch.full((300, 2), -128, dtype=torch.int8))
plain("_int_mm.out", integers(-9, 9, 3, 4), integers(-9, 9, 4, 5), out=torch.zeros(3, 5, dtype=torch.int32))

# Packed weights.
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    # PyTorch reads beyond rows in half precision whose length is no multiple of 32.
    for rows, inner, columns in ((3, 8 if dtype == torch.float32 else 32, 6), (1, 32, 16), (0, 32, 6), (5, 64, 3)):
        plain("_weight_int8pack_mm", (floats(rows, inner) / 16).to(dtype), integers(-128, 128, columns, inner), torch.rand(columns).to(dtype))
    for rows, inner, columns, group in ((3, 32, 64, 32), (2, 64, 16, 32), (1, 64, 96, 64), (2, 128, 48, 128), (1, 256, 64, 256), (4, 96, 128, 32)):
        weight = integers(0, 16, columns, inner, dtype=torch.int32)
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(weight, 2)
        scales = torch.stack([torch.rand(inner // group, columns) / 8, floats(inner // group, columns)], -1).to(dtype)
        plain("_weight_int4pack_mm_for_cpu", (floats(rows, inner) / 8).to(dtype), packed, group, scales)
for rows, columns, tiles in ((64, 2, 2), (16, 4, 8), (48, 6, 4), (128, 2, 2), (80, 8, 2), (0, 4, 2)):
    plain("_convert_weight_to_int4pack_for_cpu", integers(0, 16, rows, columns, dtype=torch.int32), tiles)
plain("_convert_weight_to_int4pack_for_cpu", integers(0, 16, 4, 32, dtype=torch.int32).t().contiguous(), 2)

# Scaled products.
for first in FLOAT8[:4]:
    for second in (torch.float8_e4m3fn, torch.float8_e5m2):
        a, b = floats(3, 16).to(first), floats(5, 16).to(second).t()
        for out in (torch.float32, torch.bfloat16, torch.float16):
            plain("_scaled_mm", a, b, torch.tensor(0.5), torch.tensor(1.5), out_dtype=out)
a, b = floats(4, 32).to(torch.float8_e4m3fn), floats(6, 32).to(torch.float8_e4m3fn).t()
one = torch.tensor(1.0)
plain("_scaled_mm", a, b, torch.rand(1), torch.rand(1, 1), out_dtype=torch.float32)
plain("_scaled_mm", a, b, torch.rand(4, 1), torch.rand(1, 6), out_dtype=torch.float32)
plain("_scaled_mm", a, b, torch.rand(4, 1), torch.rand(1, 6), floats(6), out_dtype=torch.bfloat16)
for bias in (floats(6), floats(6).bfloat16(), floats(6).half()):
    plain("_scaled_mm", a, b, one, one, bias, None, torch.float32)
plain("_scaled_mm", a, b, one, one, None, torch.tensor(2.0), torch.float32)
plain("_scaled_mm", a, b, one, one, None, None, torch.float32, True)
exact = torch.tensor([[1.0, 2, -1, 0.5], [0, 1, 1, -2]]).to(torch.float8_e4m3fn)
for out in (None, torch.float8_e4m3fn, torch.float8_e5m2):
    plain("_scaled_mm", exact, exact.t(), one, one, out_dtype=out)
    plain("_scaled_mm", exact, exact.t(), one, one, None, torch.tensor(2.0), out)
plain("_scaled_mm", a[:0], b, one, one, out_dtype=torch.float32)
plain("_scaled_mm", a[:, :0], b[:0], one, one, out_dtype=torch.float32)
plain("_scaled_mm.out", a, b, one, one, None, None, torch.float32, out=torch.zeros(4, 6))
for scale_a, scale_b, recipe in ((one, one, 0), (torch.rand(4, 1), torch.rand(1, 6), 1)):
    plain("_scaled_mm_v2", a, b, [scale_a], [recipe], [0], [scale_b], [recipe], [0], None, torch.float32)
    plain("_scaled_mm_v2", a, b, [scale_a], [recipe], [0], [scale_b], [recipe], [0], floats(6), torch.bfloat16)

# Products of groups. All elements belong to a group, because others are arbitrary.
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    ends = torch.tensor([3, 3, 8], dtype=torch.int32)
    plain("_grouped_mm", floats(8, 16).to(dtype), floats(3, 16, 8).to(dtype), ends)
    plain("_grouped_mm", floats(8, 16).to(dtype), floats(3, 8, 16).to(dtype).transpose(1, 2), ends, None, dtype)
    plain("_grouped_mm", floats(3, 4, 16).to(dtype), floats(3, 16, 8).to(dtype))
    plain("_grouped_mm", floats(3, 4, 16).to(dtype), floats(3, 5, 16).to(dtype).transpose(1, 2))
    plain("_grouped_mm", floats(8, 16).to(dtype), floats(16, 8).to(dtype), torch.tensor([4, 4, 16], dtype=torch.int32))
    plain("_grouped_mm", floats(3, 8, 16).to(dtype), floats(16, 24).to(dtype), torch.tensor([8, 8, 24], dtype=torch.int32))
    plain("_grouped_mm", floats(8, 16).to(dtype), floats(1, 5, 16).to(dtype).transpose(1, 2), torch.tensor([8], dtype=torch.int32))

# Fake quantisation.
SPREAD = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 0.2, 3.3, -7.7, 100.0, -100.0, 300.0, -300.0, -0.0, 1e10])
NON_FINITE = torch.tensor([math.inf, -math.inf, math.nan, 1e30, -1e30, 1.0])
PARAMETERS = [(1.0, 0, -128, 127), (0.1, 3, 0, 15), (0.7, -2, -8, 7), (1e-3, 0, -100, 100), (25.0, 100, 0, 255), (0.3, 5, 5, 5)]
for scale, zero_point, low, high in PARAMETERS:
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for values in (SPREAD, NON_FINITE, floats(3, 4).t() * 5, floats(0, 2)):
            values = values.to(dtype)
            plain("fake_quantize_per_tensor_affine_cachemask", values, scale, zero_point, low, high)
            plain("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", values, torch.tensor([scale]),
                  torch.tensor([zero_point], dtype=torch.int32), torch.tensor([1]), low, high)
    record("fake_quantize_per_tensor_affine", floats(2, 5) * 10, scale, zero_point, low, high)
    plain("fake_quantize_per_tensor_affine.tensor_qparams", floats(2, 5) * 10, torch.tensor([scale]), torch.tensor([zero_point]), low, high)
    record("fake_quantize_per_tensor_affine_cachemask", floats(2, 5) * 10, scale, zero_point, low, high)
    plain("fake_quantize_per_tensor_affine_cachemask.out", SPREAD, scale, zero_point, low, high, out0=torch.zeros(14),
          out1=torch.zeros(14, dtype=torch.bool))
plain("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", SPREAD, torch.tensor([0.5]), torch.tensor([3.7]), torch.tensor([0]), 0, 9)
plain("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", SPREAD, torch.tensor(0.5).double(), torch.tensor(3.7), torch.tensor(True), 0, 9)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    for axis, count in ((0, 2), (1, 3), (2, 4)):
        values, scale = (floats(2, 3, 4) * 20).to(dtype), torch.rand(count) + 0.05
        for zero_point in (integers(-8, 8, count, dtype=torch.int32), floats(count), floats(count).half()):
            plain("fake_quantize_per_channel_affine_cachemask", values, scale, zero_point, axis, -8, 7)
        plain("fake_quantize_per_channel_affine_cachemask", values.transpose(0, 2), scale, integers(0, 9, count, dtype=torch.int32), 2 - axis, 0, 15)
    plain("fake_quantize_per_channel_affine_cachemask", NON_FINITE.to(dtype).reshape(2, 3), torch.tensor([1.0, 0.5]),
          torch.tensor([1, 2], dtype=torch.int32), 0, -8, 7)
plain("fake_quantize_per_channel_affine", floats(2, 3) * 9, torch.rand(3) + 0.1, torch.zeros(3, dtype=torch.int32), 1, -8, 7)
plain("fake_quantize_per_channel_affine", floats(2, 0), torch.rand(2) + 0.1, torch.zeros(2, dtype=torch.int32), 0, -8, 7)
for name in ("fake_quantize_per_tensor_affine_cachemask_backward", "fake_quantize_per_channel_affine_cachemask_backward"):
    record(name, floats(2, 3), torch.tensor([[True, False, True], [False, False, True]]))
    plain(name, floats(0), torch.zeros(0, dtype=torch.bool))

# Trained parameters of fake quantisation.
for scale, zero_point, low, high, factor in ((0.7, 0.4, -8, 7, 1.0), (0.3, 1.5, 0, 15, 0.5), (2.0, 2.5, -128, 127, 2.0), (0.1, -30.0, -8, 7, 1.0), (0.1, 30.0, -8, 7, 1.0)):
    arguments = torch.tensor([scale]), torch.tensor([zero_point]), low, high, factor
    values, gradient = floats(3, 4) * 5, floats(3, 4)
    plain("_fake_quantize_learnable_per_tensor_affine", values, *arguments)
    plain("_fake_quantize_learnable_per_tensor_affine", values.t(), *arguments[:4])
    plain("_fake_quantize_learnable_per_tensor_affine", values.half(), *arguments)
    plain("_fake_quantize_learnable_per_tensor_affine_backward", gradient, values, *arguments)
    plain("_fake_quantize_learnable_per_tensor_affine_backward", gradient[:, 0], values[:, 1], *arguments)
    for axis, count in ((0, 3), (1, 4)):
        arguments = torch.rand(count) + scale, floats(count) + zero_point, axis, low, high, factor
        plain("_fake_quantize_learnable_per_channel_affine", values, *arguments)
        plain("_fake_quantize_learnable_per_channel_affine_backward", gradient, values, *arguments)
plain("_fake_quantize_learnable_per_tensor_affine_backward", floats(0), floats(0), torch.tensor([0.7]), torch.tensor([1.0]), -8, 7)

# Observers.
for values in ([-1.0, 2.0], [1.0, 2.0], [-2.0, -1.0], [0.0, 0.0], [-1.0, 2.0, 5.0], [1e-6, -2e-6], [1e-6, 0.0], [-3e-7], [1e30, -1e30], [math.inf, 1.0], [1e-40]):
    for reduce_range in (False, True):
        plain("_choose_qparams_per_tensor", torch.tensor(values), reduce_range)
    plain("_choose_qparams_per_tensor", torch.tensor(values, dtype=torch.float64))
for seed in range(6):
    values = floats(20) * (1 + seed) + seed / 2
    plain("choose_qparams_optimized", values, 20, 200, 0.16, 8)
    plain("choose_qparams_optimized", values, 10, 50, 0.5, 4)
    plain("choose_qparams_optimized", values.reshape(4, 5), 7, 20, 0.9, 2)
plain("choose_qparams_optimized", torch.ones(4), 4, 200, 0.16, 8)


def observe(name, values, *, observer=1, quantise=1, least=math.inf, most=-math.inf, count=1, constant=0.01, low=0, high=255, axis=0, per_row=False,
            symmetric=False, zero_point=torch.int32):
    plain(name, values, torch.tensor([observer]), torch.tensor([quantise]), torch.full((count,), least), torch.full((count,), most),
          torch.ones(count), torch.zeros(count, dtype=zero_point), constant, low, high, axis, per_row, symmetric)


for name in ("_fused_moving_avg_obs_fq_helper", "_fused_moving_avg_obs_fq_helper_functional", "fused_moving_avg_obs_fake_quant"):
    values = floats(3, 4) * 3
    observe(name, values)
    observe(name, values, least=-3.0, most=1.0)
    observe(name, values, observer=0)
    observe(name, values, observer=0, least=-3.0, most=1.0)
    if "helper" in name:
        observe(name, values, quantise=0)
        observe(name, values, observer=0, quantise=0)
    observe(name, values, count=3, per_row=True)
    observe(name, values, count=3, per_row=True, least=-1.0, most=0.5, constant=0.3)
    observe(name, values, symmetric=True)
    observe(name, values, symmetric=True, low=-128, high=127)
    observe(name, values.abs(), symmetric=True, low=-128, high=127)
    observe(name, values, count=3, per_row=True, symmetric=True, low=-8, high=7)
    observe(name, values * 1e-6)
    observe(name, floats(2, 3, 4), count=2, per_row=True)
    observe(name, values, zero_point=torch.int64)
for values in (floats(2, 3), torch.tensor([[1e6, -1e6, math.inf, math.nan, -math.inf, 65504.0, 65519.0, 1e-9]]), floats(2, 3).t(), floats(2, 3, 4)):
    plain("_saturate_weight_to_fp16", values.clone())

# The operators of exported quantised programs.
QUANTISED = [(torch.uint8, 0, 255), (torch.int8, -128, 127), (torch.int16, -1000, 1000), (torch.int32, -100000, 100000), (torch.int8, -8, 7),
             (torch.float8_e4m3fn, -448, 448), (torch.float8_e5m2, -57344, 57344)]
SPACE = "quantized_decomposed::"
for dtype, low, high in QUANTISED:
    for scale, zero_point in ((0.1, 0), (0.73, 3), (2.0, -1), (-0.5, 2)):
        for values in (SPREAD[:13], floats(3, 4).t() * 9, floats(2, 0), torch.tensor([math.inf, -math.inf]), (floats(5) * 4).half(), (floats(5) * 4).bfloat16()):
            plain(SPACE + "quantize_per_tensor", values, scale, zero_point, low, high, dtype)
        values = floats(3, 4) * 9
        tensors = torch.tensor([scale], dtype=torch.float64), torch.tensor([zero_point])
        plain(SPACE + "quantize_per_tensor.tensor", values, *tensors, low, high, dtype)
        plain(SPACE + "quantize_per_tensor.tensor2", values, *tensors, torch.tensor(low), torch.tensor([high]), dtype)
        codes = torch.ops.quantized_decomposed.quantize_per_tensor(values, scale, zero_point, low, high, dtype)
        plain(SPACE + "dequantize_per_tensor", codes, scale, zero_point, low, high, dtype)
        for out in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
            plain(SPACE + "dequantize_per_tensor", codes, scale, zero_point, low, high, dtype, out_dtype=out)
        plain(SPACE + "dequantize_per_tensor.tensor", codes, *tensors, low, high, dtype)
        plain(SPACE + "dequantize_per_tensor.tensor2", codes.t(), *tensors, torch.tensor(low), torch.tensor([high]), dtype, out_dtype=torch.float16)
    for axis, count in ((0, 2), (1, 3), (2, 4)):
        for scales, zero_points in ((torch.rand(count) + 0.05, integers(-8, 8, count, dtype=torch.int32)),
                                    (torch.rand(count, dtype=torch.float64) + 0.05, integers(-8, 8, count, dtype=torch.int64)),
                                    (torch.rand(count) + 0.05, floats(count))):
            for values in (floats(2, 3, 4) * 9, (floats(2, 3, 4) * 9).bfloat16()):
                plain(SPACE + "quantize_per_channel", values, scales, zero_points, axis, low, high, dtype)
            if dtype.is_floating_point:
                continue
            codes = torch.ops.quantized_decomposed.quantize_per_channel(floats(2, 3, 4) * 9, scales, zero_points, axis, low, high, dtype)
            plain(SPACE + "dequantize_per_channel", codes, scales, zero_points, axis, low, high, dtype)
            plain(SPACE + "dequantize_per_channel", codes, scales, None, axis, low, high, dtype, out_dtype=torch.float16)
for dtype, low, high in QUANTISED:
    for values in (floats(7), floats(2, 3).half(), floats(5).bfloat16() * 9, torch.zeros(3), floats(4).abs() + 1, -floats(4).abs(), torch.tensor([math.inf, 1.0])):
        if not (dtype.is_floating_point and not torch.isfinite(values).all()):
            plain(SPACE + "choose_qparams.tensor", values, low, high, 1e-5, dtype)
            plain(SPACE + "choose_qparams_symmetric.tensor", values, low, high, 1e-3, dtype)
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    for values in (floats(3, 5), floats(2, 3, 4) * 7, floats(4).abs(), torch.zeros(2, 3), -floats(3, 5).abs()):
        plain(SPACE + "choose_qparams_per_token", values.to(dtype), torch.int8)
        plain(SPACE + "choose_qparams_per_token_asymmetric", values.to(dtype), torch.int8)
        plain(SPACE + "_choose_qparams_per_token_asymmetric_impl", values.to(dtype), torch.int8)
for scales, zero_points in ((torch.rand(2, 3, 1) + 0.1, torch.zeros(2, 3, 1)), (torch.rand(2, 3, 1).double() + 0.1, integers(-9, 9, 2, 3, 1, dtype=torch.int64))):
    values = floats(2, 3, 4) * 9
    plain(SPACE + "quantize_per_token", values, scales, zero_points, -128, 127, torch.int8)
    plain(SPACE + "quantize_per_token", values.bfloat16(), scales, zero_points, -8, 7, torch.int8)
    codes = torch.ops.quantized_decomposed.quantize_per_token(values, scales, zero_points, -128, 127, torch.int8)
    for out in (torch.float32, torch.float16, torch.float64):
        plain(SPACE + "dequantize_per_token", codes, scales, zero_points, -128, 127, torch.int8, out)
for rows, columns, group in ((2, 8, 4), (3, 6, 2), (1, 4, 4), (2, 4, 128)):
    groups = max(columns // group, 1)
    scales, zero_points = torch.rand(rows, groups) + 0.1, torch.randint(-3, 3, (rows, groups))
    values = floats(rows, columns) * 4
    for points in (zero_points, zero_points.float()):
        plain(SPACE + "quantize_per_channel_group", values, scales, points, -8, 7, torch.int8, group)
    codes = torch.ops.quantized_decomposed.quantize_per_channel_group(values, scales, zero_points, -8, 7, torch.int8, group)
    for points in (zero_points, zero_points.to(torch.int8), None):
        for out in (torch.float32, torch.float16):
            plain(SPACE + "dequantize_per_channel_group", codes, scales, points, -8, 7, torch.int8, group, out)
for axis, count in ((0, 2), (1, 3)):
    plain(SPACE + "fake_quant_per_channel", (floats(2, 3) * 5).requires_grad_(), torch.rand(count) + 0.1, integers(-3, 3, count, dtype=torch.int32), axis, -8, 7)
plain(SPACE + "convert_element_type.no_fuse", floats(2, 3).t(), torch.float16)
plain(SPACE + "convert_element_type.no_fuse", floats(2, 3), torch.int8)

# Packed bytes, and products that quantise their rows.
for columns, inner, block in ((4, 64, 64), (4, 64, 32), (2, 32, 32)):
    weight, scales = integers(0, 256, columns, inner // 2, dtype=torch.uint8), torch.rand(columns, inner // block)
    for bias in (None, floats(columns)):
        plain("_dyn_quant_pack_4bit_weight", weight, scales, bias, block, inner, columns)
        packed = torch.ops.aten._dyn_quant_pack_4bit_weight(weight, scales, bias, block, inner, columns)
        plain("_dyn_quant_matmul_4bit", floats(3, inner), packed, block, inner, columns)

# A number without dimensions keeps the dtype of the result.
for out in (torch.float16, torch.bfloat16):
    plain(SPACE + "dequantize_per_tensor.tensor", torch.tensor(7, dtype=torch.uint8), torch.tensor(0.5), torch.tensor(2), 0, 255, torch.uint8, out_dtype=out)

# Gradients of bfloat16 numbers are in single precision. Other dtypes than single precision have no averages.
values, gradient = (floats(3, 4) * 5).bfloat16(), floats(3, 4).bfloat16()
plain("_fake_quantize_learnable_per_tensor_affine_backward", gradient, values, torch.tensor([0.7]), torch.tensor([0.4]), -8, 7)
plain("_fake_quantize_learnable_per_channel_affine_backward", gradient, values, torch.rand(3) + 0.1, floats(3), 0, -8, 7)
for dtype in (torch.bfloat16, torch.float16, torch.float64):
    for quantise in (0, 1):
        observe("_fused_moving_avg_obs_fq_helper", (floats(3, 4) * 3).to(dtype), observer=0, quantise=quantise, least=-3.0, most=1.0)

# The dtype of a product is that of `out`, and a group may begin before the end of the one before it.
first, second = (torch.arange(96).reshape(6, 16) % 7 - 3.0).to(torch.float8_e4m3fn), (torch.arange(96).reshape(6, 16) % 5 - 2.0).to(torch.float8_e4m3fn).t()
record("_scaled_mm.out", first, second, torch.tensor(0.3), torch.tensor(1.7), out=torch.zeros(6, 6), with_gradients=False)
record("_grouped_mm", torch.arange(128.0).reshape(8, 16) / 64, torch.arange(192.0).reshape(3, 16, 4) % 11 - 5, torch.tensor([5, 2, 8], dtype=torch.int32), with_gradients=False)

write(Path(__file__).with_name("quantized.jsonl.gz"))
