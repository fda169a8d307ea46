"""Records calls of PyTorch's internal operators: of normalisation, convolutions, recurrent cells, attention, random streams and others.
`python3 record_internals.py` writes internals.jsonl.gz, in the format of ops.jsonl.gz."""

from pathlib import Path

import torch

from recorder import record, write

NAN, INF = float("nan"), float("inf")
MASKS = [True, True, True], [True, False, True], [False, True, False]


def f64(*sizes, dtype=torch.float64):
    return torch.randn(sizes, dtype=torch.float64).to(dtype)


def positive(*sizes, dtype=torch.float64):
    return (torch.rand(sizes, dtype=torch.float64) + 0.5).to(dtype)


def booleans(*sizes):
    return torch.rand(sizes) > 0.6


torch.manual_seed(27)


def record_batch_norms():
    channels_last = f64(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    images = f64(2, 3, 4, 5), f64(4, 3), f64(2, 3, 7).transpose(0, 1).contiguous().transpose(0, 1), channels_last
    for image in images:
        parameters, running = (positive(3), f64(3)), (f64(3), positive(3))
        for weight, bias in (parameters, (None, None), (parameters[0], None)):
            for training, momentum, eps in ((True, 0.1, 1e-5), (False, 0.3, 0.01), (True, 1.0, 1e-3), (True, 0.0, 1e-5)):
                record("_native_batch_norm_legit_functional", image, weight, bias, *running, training, momentum, eps, with_gradients=False)
                record("_batch_norm_impl_index", image, weight, bias, *running, training, momentum, eps, True, with_gradients=False)
            record("_batch_norm_with_update_functional", image, weight, bias, *running, 0.1, 1e-5, with_gradients=False)
            record("_batch_norm_no_update", image, weight, bias, *running, 0.1, 1e-5, with_gradients=False)
            record("_batch_norm_impl_index", image, weight, bias, None, None, True, 0.1, 1e-5, False)
        for statistics in (running, (None, None)):
            record("batch_norm_update_stats", image, *statistics, 0.2, with_gradients=False)
        _, mean, rstd, reserved = torch.ops.aten._batch_norm_with_update_functional(image, *parameters, *running, 0.1, 1e-5)[:4]
        for mask in MASKS:
            for train in (True, False):
                grad = f64(*image.shape)
                record("batch_norm_backward", grad, image, parameters[0], *running, mean, rstd, train, 1e-5, mask, reserved, with_gradients=False)
                for weight in (parameters[0], None):
                    record("_batch_norm_impl_index_backward", 0, image, grad, weight, *running, mean, rstd, train, 1e-5, mask, reserved, with_gradients=False)
        if not image.is_contiguous():
            continue  # PyTorch's `out=` forms differ from its functional forms.
        for training in (True, False):
            out = [torch.zeros(size, dtype=torch.float64) for size in (image.shape, 3 if training else 0, 3 if training else 0)]
            names = dict(zip(("out", "save_mean", "save_invstd"), out))
            record("_native_batch_norm_legit.out", image, *parameters, *running, training, 0.2, 1e-4, **names, with_gradients=False)
        names["save_mean"], names["save_invstd"] = f64(3), f64(3)
        record("_batch_norm_with_update.out", image, *parameters, *running, 0.2, 1e-4, **names, reserve=torch.zeros(0, dtype=torch.uint8), with_gradients=False)
    for dtype, of_statistics in ((torch.float32, torch.float32), (torch.bfloat16, torch.float32), (torch.float16, torch.float32)):
        image = f64(3, 2, 4, 4, dtype=dtype)
        running = f64(2, dtype=of_statistics), positive(2, dtype=of_statistics)
        weights = positive(2, dtype=of_statistics), f64(2, dtype=of_statistics)
        record("_native_batch_norm_legit_functional", image, *weights, *running, True, 0.1, 1e-5, with_gradients=False)
        record("_native_batch_norm_legit_functional", image, *weights, *running, False, 0.1, 1e-5, with_gradients=False)
        record("batch_norm_update_stats", image, *running, 0.1, with_gradients=False)


def record_double_convolutions():
    options = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1), ([2, 1], [1, 0], [1, 2], False, [0, 0], 2), ([2, 2], [1, 0], [1, 1], True, [0, 0], 2)
    for more in options:
        transposed, groups = more[3], more[5]
        image = f64(1, 4, 6, 5)
        kernel = f64(4, 6 // groups, 3, 2) if transposed else f64(6, 4 // groups, 3, 2)
        result = torch.ops.aten.convolution(image, kernel, None, *more)
        grad = f64(*result.shape)
        grads = f64(*image.shape), f64(*kernel.shape), f64(6)
        for chosen in ((0, 1, 2), (0,), (1,), (2,), (0, 2), (1, 2), (0, 1), ()):
            given = [part if number in chosen else None for number, part in enumerate(grads)]
            record("_convolution_double_backward", *given, grad, kernel, image, *more, [True, True, True], with_gradients=len(chosen) == 3)
    more = [2], [1], [1], False, [0], 1
    image, kernel = f64(2, 3, 8, dtype=torch.float32), f64(4, 3, 3, dtype=torch.float32)
    grad = f64(2, 4, 4, dtype=torch.float32)
    record("_convolution_double_backward", f64(2, 3, 8, dtype=torch.float32), None, f64(4, dtype=torch.float32), grad, kernel, image, *more, [True, False, False])
    image, kernel, grad = f64(2, 3, 6, 6), f64(4, 3, 3, 2), f64(2, 4, 4, 5)
    for step in ([1, 1], [2, 1]):
        grad = f64(2, 4, 4 if step == [1, 1] else 2, 5)
        out = [torch.zeros(size, dtype=torch.float64) for size in (image.shape, kernel.shape, (4,))]
        record("_slow_conv2d_backward.grad_input", grad, image, kernel, [3, 2], step, [0, 0], grad_input=out[0], grad_weight=out[1], grad_bias=out[2], with_gradients=False)


def record_images():
    image, grid = f64(2, 3, 4, 5, dtype=torch.float32), f64(2, 6, 3, 2, dtype=torch.float32) * 0.7
    for interpolation in (0, 1, 2):
        for padding in (0, 1, 2):
            for align in (False, True):
                if interpolation < 2:
                    record("_grid_sampler_2d_cpu_fallback", image, grid, interpolation, padding, align, with_gradients=False)
                    record("_grid_sampler_2d_cpu_fallback_backward", f64(2, 3, 6, 3, dtype=torch.float32), image, grid, interpolation, padding, align, with_gradients=False)
    for image in (f64(1, 2, 9, 7), f64(1, 2, 5, 4).contiguous(memory_format=torch.channels_last), f64(1, 1, 1, 3), f64(0, 2, 3, 3), f64(1, 1, 9, 7, dtype=torch.float32)):
        for size in ([4, 3], [9, 7], [13, 10], [1, 1], [2, 11]):
            for align in (False, True):
                record("_upsample_lanczos2d_aa", image, size, align)
            scales = [size[at] / image.shape[at + 2] for at in (0, 1)]
            record("_upsample_lanczos2d_aa", image, size, False, *scales, with_gradients=False)
            grad = f64(*image.shape[:2], *size, dtype=image.dtype)
            record("_upsample_lanczos2d_aa_backward", grad, size, list(image.shape), False)
            record("_upsample_lanczos2d_aa_backward", grad, size, list(image.shape), True, 0.7, None, with_gradients=False)
        if image.shape[0]:
            record("_upsample_lanczos2d_aa.vec", image, [3, 5], False, None)
            record("_upsample_lanczos2d_aa.vec", image, None, True, [1.5, 2.25])


def record_cells():
    for rows, columns in ((3, 2), (1, 4), (0, 2)):
        for dtype in (torch.float64, torch.float32):
            state = [f64(rows, columns, dtype=dtype) for _ in range(4)]
            gates = [f64(rows, 3 * columns, dtype=dtype) for _ in range(2)]
            biases = [f64(3 * columns, dtype=dtype) for _ in range(2)]
            for bias in (biases, [None, None]):
                record("_thnn_differentiable_gru_cell_backward", state[0], *gates, state[1], *bias)
            gates = [f64(rows, 4 * columns, dtype=dtype) for _ in range(2)]
            biases = [f64(4 * columns, dtype=dtype) for _ in range(2)]
            for bias in (biases, [None, None]):
                for grads in (state[:2], (None, state[1]), (state[0], None), (None, None)):
                    record("_thnn_differentiable_lstm_cell_backward", *grads, *gates, *bias, *state[2:])


def record_attention():
    scores = f64(2, 3, 4, 4)
    typed = ((booleans(4, 4), 0), (booleans(2, 4), 1), (booleans(2, 3, 4, 4), 2), (booleans(2, 3, 4, 4), None))
    for mask, mask_type in typed:
        for dim in (None, -1, 1, 2):
            record("_masked_softmax", scores, mask, dim, mask_type, with_gradients=mask.dim() == 4)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        record("_masked_softmax", scores.to(dtype), booleans(2, 3, 4, 4), 3, 2, with_gradients=False)
    everything = torch.ones(2, 3, dtype=torch.bool)
    record("_masked_softmax", f64(2, 3), everything, with_gradients=False)
    record("_masked_softmax", torch.tensor([[INF, 1.0, -INF], [NAN, 0.0, 1.0]]), torch.tensor([[True, False, False], [True, False, False]]))
    record("_masked_softmax", f64(0, 3), torch.zeros(0, 3, dtype=torch.bool))
    record("_masked_softmax", f64(), torch.tensor(False))
    for dim in (None, 1, 3, -2):
        mask = booleans(2, 3, 4, 4)
        output = torch.ops.aten._masked_softmax(scores, mask, dim, 2)
        record("_masked_softmax_backward", f64(2, 3, 4, 4), output, mask, dim, with_gradients=False)
    for items, rows, heads, columns in ((2, 3, 3, 2), (1, 1, 1, 4), (2, 4, 2, 3)):
        width = heads * columns
        for dtype in (torch.float64, torch.float32):
            make = lambda *sizes: f64(*sizes, dtype=dtype) * 0.5
            record("_transform_bias_rescale_qkv", make(items, rows, 3 * width), make(3 * width), heads, with_gradients=False)
            inputs = [make(items, rows, width) for _ in range(3)]
            weights = make(3 * width, width), make(3 * width), make(width, width), make(width)
            same, padded = [inputs[0]] * 3, [inputs[0], inputs[1], inputs[1]]
            for query, key, value in (same, padded, inputs):
                for mask, mask_type in ((None, None), (booleans(rows, rows) & ~torch.eye(rows, dtype=torch.bool), 0), (booleans(items, heads, rows, rows), 2)):
                    for options in ((True, True), (False, True), (True, False))[:3 if dtype == torch.float64 else 1]:
                        record("_native_multi_head_attention", query, key, value, width, heads, *weights, mask, *options, mask_type, with_gradients=False)
            for use_gelu in (False, True):
                for norm_first in (False, True):
                    for mask, mask_type in ((None, None), (torch.ones(rows, rows).triu(1).bool(), 0), (booleans(items, rows), 1)):
                        norms = positive(width, dtype=dtype), make(width), positive(width, dtype=dtype), make(width)
                        feed = make(2 * width, width), make(2 * width), make(width, 2 * width), make(width)
                        record("_transformer_encoder_layer_fwd", inputs[0], width, heads, *weights, use_gelu, norm_first, 1e-5, *norms, *feed, mask, mask_type, with_gradients=False)


def record_gradients():
    special = torch.tensor([-1.0, 0.0, 1.0, NAN, INF, -INF, -0.0, 30.0], dtype=torch.float64)
    record("_prelu_kernel_backward", torch.ones(8, dtype=torch.float64), special, torch.tensor([0.5], dtype=torch.float64), with_gradients=False)
    for sizes, of_weight in (((3, 4), (4,)), ((3, 4), (1, 4)), ((2, 3, 4), (3, 1)), ((0, 4), (1,)), ((), ())):
        record("_prelu_kernel_backward", f64(*sizes), f64(*sizes), f64(*of_weight), with_gradients=0 not in sizes)
        record("infinitely_differentiable_gelu_backward", f64(*sizes), f64(*sizes))
    record("infinitely_differentiable_gelu_backward", torch.ones(8, dtype=torch.float64), special, with_gradients=False)
    for dtype in (torch.float32, torch.bfloat16):
        record("_prelu_kernel_backward", f64(3, 4, dtype=dtype), f64(3, 4, dtype=dtype), f64(4, dtype=dtype), with_gradients=False)
    for sizes, dim in (((3, 4), 1), ((4, 3, 2), 0), ((2, 6), -1), ((0, 2), 1)):
        half = list(sizes)
        half[dim] //= 2
        record("glu_backward_jvp", f64(*sizes), f64(*half), f64(*sizes), f64(*half), f64(*sizes), dim, with_gradients=False)
    factors = f64(3, 5)
    factors[0, 1] = factors[1, 0] = factors[1, 3] = factors[2, 4] = 0
    for dim in (0, 1, -1):
        record("cumprod_backward", f64(3, 5), factors, dim, factors.cumprod(dim), with_gradients=False)
    record("cumprod_backward", f64(3, 0), f64(3, 0), 1, f64(3, 0), with_gradients=False)
    record("cumprod_backward", f64(), f64(), 0, f64(), with_gradients=False)
    complex_factors = torch.complex(f64(2, 3), f64(2, 3))
    record("cumprod_backward", torch.complex(f64(2, 3), f64(2, 3)), complex_factors, 1, complex_factors.cumprod(1), with_gradients=False)


def record_reductions():
    tensors = f64(3, 4), f64(3, 4, dtype=torch.float32), torch.tensor([[3, 1, 3], [2, 2, 1]]), f64(3), torch.tensor([True, False])
    for tensor in tensors:
        record("_aminmax", tensor, with_gradients=False)
        for dim in range(-1, tensor.dim()):
            for keepdim in (False, True):
                record("_aminmax.dim", tensor, dim, keepdim, with_gradients=False)
            if tensor.is_floating_point():
                record("_logcumsumexp", tensor, dim, with_gradients=False)
            # PyTorch's helpers do not check the dimension, and -1 is outside of the tensor.
            for name in ("_cummax_helper", "_cummin_helper") if dim >= 0 else ():
                record(name, tensor, torch.zeros_like(tensor), torch.zeros(tensor.shape, dtype=torch.int64), dim, with_gradients=False)
    record("_aminmax", torch.tensor([1.0, NAN, -INF]), with_gradients=False)
    for name in ("_cummax_helper", "_cummin_helper"):
        line = torch.tensor([1.0, 3.0, NAN, 2.0, INF])
        record(name, line, torch.zeros(5), torch.zeros(5, dtype=torch.int64), 0, with_gradients=False)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
        tensor = (f64(3, 5, 2) * 10).to(dtype)
        for dims in ([], [0], [1], [-1], [0, 2], [0, 1, 2]):
            for keepdim in (False, True):
                record("hash_tensor", tensor, dims, keepdim=keepdim)
    record("hash_tensor", torch.tensor([0.0, -0.0, NAN, INF, -1.5]))
    record("hash_tensor", torch.tensor([-1, 2], dtype=torch.int8))
    record("hash_tensor", torch.tensor(3.0), [0])
    record("hash_tensor", torch.zeros(0, 3), [1])
    record("hash_tensor", f64(6, 4).t()[1:, ::2], [0], mode=0)


def record_others():
    for dtype in (torch.float64, torch.float32):
        make = lambda *sizes: f64(*sizes, dtype=dtype)
        for use_gelu in (False, True):
            for bias in (make(3, 4), make(4), make(3, 1)):
                record("_addmm_activation", bias, make(3, 5), make(5, 4), use_gelu=use_gelu, with_gradients=False)
                record("_addmm_activation", bias, make(5, 3).t(), make(5, 4), beta=2, alpha=-0.5, use_gelu=use_gelu, with_gradients=False)
    record("_addmm_activation", f64(4), f64(0, 5), f64(5, 4), with_gradients=False)
    for dim in (0, 1, -1):
        record("_dim_arange", f64(3, 4), dim, with_gradients=False)
    record("_dim_arange", torch.zeros(0, 2, dtype=torch.int32), 0)
    others = f64(5, 6), f64(5, 6).t(), f64(2, 3, 4, dtype=torch.float32).permute(2, 0, 1), f64()
    for other in others:
        for batch in (0, 1, 2):
            record("_new_zeros_with_same_feature_meta", f64(3, 4), other, self_num_batch_dims=batch, with_gradients=False)
    for dtype in (torch.int32, torch.int64):
        for mask in ([1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]):
            record("_rowwise_prune", f64(4, 3), torch.tensor(mask).bool(), dtype, with_gradients=False)
    record("_rowwise_prune", torch.zeros(0, 3), torch.zeros(0).bool(), torch.int32, with_gradients=False)
    record("_rowwise_prune", torch.arange(8).reshape(4, 2), torch.tensor([1, 0, 1, 0]).bool(), torch.int64, with_gradients=False)
    for shape in ([4, 3], [-1], [2, -1, 2], [1, 12]):
        record("_reshape_from_tensor", f64(3, 4), torch.tensor(shape))
    whole = f64(3, 4)
    for dim, start, end, step in ((0, 0, 2, 1), (1, 0, 3, 1), (1, 0, 4, 2)):
        record("slice_inverse", whole.clone(), whole, dim, start, end, step, with_gradients=False)
    record("slice_inverse", f64(12), whole, 0, None, None, 1, with_gradients=False)


def record_streams():
    def key(*numbers):
        return torch.tensor(numbers, dtype=torch.uint64)

    batch = torch.stack([key(1, 0), key(2, 5)])
    keys = key(42, 0), key(42, 5), key(2**64 - 1, 2**64 - 1), key(2**40 + 3, 2**33)
    for one in (*keys, batch, batch.reshape(1, 2, 2)):
        for splits in (1, 3):
            record("_philox_key_split", one, splits, with_gradients=False)
        for data in (0, 7, -1, 2**40):
            record("_philox_key_fold_in", one, data, with_gradients=False)
            record("_philox_key_fold_in.Tensor", one, torch.tensor([data % 2**64], dtype=torch.uint64), with_gradients=False)
    columns = torch.stack([key(number, 0) for number in range(3)]).reshape(1, 3, 2)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for one in keys:
            for sizes in ((7,), (2, 3), (0,), ()):
                record("_philox_uniform", torch.zeros(sizes, dtype=dtype), one, with_gradients=False)
                record("_philox_normal", torch.zeros(sizes, dtype=dtype), one, with_gradients=False)
        record("_philox_uniform", torch.zeros(2, 3, dtype=dtype).t(), keys[0], -3.0, 5.0, with_gradients=False)
        record("_philox_normal", torch.zeros(2, 3, dtype=dtype).t(), keys[0], 1.5, 2.0, with_gradients=False)
        for several, sizes in ((batch.reshape(2, 1, 2), (2, 5)), (columns, (2, 3)), (batch.reshape(2, 1, 1, 2), (2, 3, 3))):
            record("_philox_uniform", torch.zeros(sizes, dtype=dtype), several, with_gradients=False)
            record("_philox_normal", torch.zeros(sizes, dtype=dtype), several, with_gradients=False)
            record("_philox_uniform_", torch.zeros(sizes, dtype=dtype), several, 0.0, 2.0, with_gradients=False)
    bounds = (None, None), (0, 16), (-4, 4), (0, 10), (5, None), (None, 7), (-50, 20), (0, 100)
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        for one in keys:
            for low, high in bounds:
                try:
                    record("_philox_randint", torch.zeros(7, dtype=dtype), one, low, high, with_gradients=False)
                except RuntimeError:
                    pass
        record("_philox_randint_", torch.zeros(2, 5, dtype=dtype), batch.reshape(2, 1, 2), 0, 100, with_gradients=False)
    for low, high in ((0, 2**33), (-2**63, 2**63 - 1), (0, 2**63 - 1), (-1, 2**63 - 1), (5, 4), (5, -100), (-2**63, None), (2**33, 2**33 + 7)):
        record("_philox_randint", torch.zeros(9, dtype=torch.int64), keys[0], low, high, with_gradients=False)
    for dimension in (1, 4, 40):
        state = torch.zeros(dimension, 30, dtype=torch.int64)
        torch.ops.aten._sobol_engine_initialize_state_(state, dimension)
        record("_sobol_engine_initialize_state_", torch.zeros(dimension, 30, dtype=torch.int64), dimension, with_gradients=False)
        quasi = torch.randint(2**30, (dimension,))
        for n, generated in ((5, 0), (0, 3), (9, 7), (1, 2**20), (3, 2**29)):
            for dtype in (torch.float32, torch.float64, None):
                record("_sobol_engine_draw", quasi, n, state, dimension, generated, dtype, with_gradients=False)
            record("_sobol_engine_ff_", quasi.clone(), n, state, dimension, generated, with_gradients=False)
        if dimension < 10:
            matrix = torch.randint(2, (dimension, 30, 30))
            record("_sobol_engine_scramble_", state.clone(), matrix.tril(), dimension, with_gradients=False)
            record("_sobol_engine_scramble_", state.clone(), matrix, dimension, with_gradients=False)


for part in (record_batch_norms, record_double_convolutions, record_images, record_cells, record_attention, record_gradients, record_reductions, record_others, record_streams):
    part()
for tensor in (f64(), f64(1, 3), torch.tensor(5)):
    record("hash_tensor", tensor, [0] if tensor.dim() else [], keepdim=True)
bias, *running = f64(2, dtype=torch.float32), f64(2, dtype=torch.float32), positive(2, dtype=torch.float32)
record("_native_batch_norm_legit_functional", f64(3, 2, 4, dtype=torch.float16), None, bias, *running, True, 0.1, 1e-5, with_gradients=False)

# The edge of the taps, products without zeros, a batch of one element, and a cell with one bias.
record("_upsample_lanczos2d_aa_backward", torch.arange(48.0).reshape(1, 1, 6, 8).cos(), [6, 8], [1, 1, 6, 8], False, 1.3, 0.6, with_gradients=False)
for numbers in ([[1.5, -2.0, 0.5]], [[1.5, 0.0, 0.5]]):
    numbers = torch.tensor(numbers, dtype=torch.float64)
    record("cumprod_backward", numbers.cos(), numbers, 1, numbers.sin())
statistics = torch.tensor([0.5, -1.0]), torch.tensor([1.0, 2.0])
record("_native_batch_norm_legit_functional", torch.tensor([[[3.0], [-2.0]]]), *statistics, *statistics, True, 0.0, 0.0, with_gradients=False)
gates = torch.arange(18.0, dtype=torch.float64).reshape(2, 9)
record("_thnn_differentiable_gru_cell_backward", gates[:, :3].cos(), gates.sin(), gates.cos(), gates[:, 3:6].sin(), gates[0].sin(), None, with_gradients=False)

write(Path(__file__).with_name("internals.jsonl.gz"))
