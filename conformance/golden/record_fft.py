"""Records calls of Fourier transforms. `python3 record_fft.py` writes fft.jsonl.gz, in the format of ops.jsonl.gz."""

import itertools
from pathlib import Path

import torch

from recorder import record, write

NAN, INF = float("nan"), float("inf")
NORMS = None, "backward", "ortho", "forward"
REAL, COMPLEX = (torch.float32, torch.float64), (torch.complex64, torch.complex128)


def real(*sizes, dtype=torch.float64):
    """Random numbers with few digits, which keep the file small."""
    return (torch.randn(sizes, dtype=torch.float64) * 8).round().div(8).to(dtype)


def cplx(*sizes, dtype=torch.complex128):
    return torch.complex(real(*sizes), real(*sizes)).to(dtype)


torch.manual_seed(27)


def layouts(make, *sizes):
    """Tensors of the same sizes: contiguous, permuted and sliced."""
    yield make(*sizes)
    yield make(*sizes[::-1]).permute(*range(len(sizes))[::-1])
    yield make(*sizes[:-1], 2 * sizes[-1])[..., ::2]


def record_internal_transforms():
    for number, x in enumerate(layouts(lambda *sizes: cplx(*sizes), 2, 3, 4)):
        for dim in ([0], [1], [2], [1, 2], [2, 0], [0, 1, 2]):
            for normalization, forward in ((0, True), (1, False), (2, True))[:1 if number else 3]:
                record("_fft_c2c", x, dim, normalization, forward)
        record("_fft_c2c", x, [], 0, True)
    for number, x in enumerate(layouts(lambda *sizes: real(*sizes), 3, 2, 5)):
        for dim in ([0], [1], [2], [2, 1], [0, 2], [1, 0, 2]):
            for normalization, onesided in ((0, True), (1, False), (2, True))[:1 if number else 3]:
                record("_fft_r2c", x, dim, normalization, onesided)
    for number, x in enumerate(layouts(lambda *sizes: cplx(*sizes), 2, 3, 4)):
        for dim in ([0], [1], [2], [2, 1], [0, 2], [1, 0, 2]):
            for normalization, odd in ((0, 0), (1, 1), (2, 0))[:2 if number else 3]:
                record("_fft_c2r", x, dim, normalization, 2 * (x.shape[dim[-1]] - 1) + odd)
    for sizes in ((0, 4), (3, 0, 4), (1, 4), (1, 1, 1)):
        record("_fft_c2c", cplx(*sizes), [len(sizes) - 1], 2, False)
        record("_fft_r2c", real(*sizes), [len(sizes) - 1], 2, True)
        record("_fft_c2r", cplx(*sizes), [len(sizes) - 1], 2, 2 * sizes[-1] - 1)
    record("_fft_c2c", cplx(), [], 0, True)
    for dtype in COMPLEX:
        x = cplx(3, 4, dtype=dtype)
        record("_fft_c2c.out", x, [1], 1, True, out=torch.zeros(3, 4, dtype=dtype), with_gradients=False)
        record("_fft_c2c.out", x, [0], 0, False, out=torch.zeros(4, 3, dtype=dtype).t(), with_gradients=False)
        record("_fft_c2r.out", x, [1], 2, 6, out=torch.zeros(3, 6, dtype=x.real.dtype), with_gradients=False)
        record("_fft_r2c.out", x.real.clone(), [0, 1], 0, True, out=torch.zeros(3, 3, dtype=dtype), with_gradients=False)


def record_lengths():
    """Lengths of every kind: powers of two, small factors, primes, and products with large primes."""
    for length in (*range(1, 18), 19, 23, 27, 32, 49, 60, 74):
        for dtype in COMPLEX if length < 12 else COMPLEX[:1]:
            x = cplx(1 + (length < 8), length, dtype=dtype)
            record("fft_fft", x, with_gradients=False)
            record("fft_rfft", x.real.contiguous(), with_gradients=length < 12)
            record("fft_irfft", cplx(1, length // 2 + 1, dtype=dtype), length, with_gradients=False)
    for length in (97, 120, 128, 243, 289):
        record("fft_ifft", cplx(length), with_gradients=False)
        record("fft_rfft", real(length), with_gradients=False)


def record_one_dimension():
    names = [("fft_fft", False), ("fft_ifft", False), ("fft_rfft", True), ("fft_irfft", False), ("fft_hfft", False), ("fft_ihfft", True)]
    for name, only_real in names:
        for norm in NORMS:
            for n, dim in ((None, -1), (3, 0), (7, 1), (6, -1), (1, 0)):
                record(name, real(4, 5), n, dim, norm, with_gradients=norm in (None, "ortho"))
                if not only_real:
                    record(name, cplx(4, 5), n, dim, norm)
        for number, x in enumerate(layouts(lambda *sizes: (real if only_real else cplx)(*sizes), 2, 4, 3)):
            for dim in range(3):
                record(name, x, None, dim)
                record(name, x, 5 - number, dim, "ortho")
        for dtype in (torch.float32, torch.int64, torch.uint8, torch.bool, torch.int8, torch.int32, torch.int16):
            record(name, (real(3, 4) * 5).abs().to(dtype))
        record(name, torch.tensor([1.0, NAN, 2.0, 0.0]), with_gradients=False)
        record(name, torch.tensor([[1.0, 2.0, 3.0], [INF, -INF, 1.0], [2.0, 0.5, 4.0]], dtype=torch.float64)[2:], with_gradients=False)
        record(name, real(0, 4), 3)
        record(name, real(4, 0), 3, with_gradients=False)
        for dtype in REAL:
            x = real(3, 4, dtype=dtype) if only_real or dtype == torch.float32 else cplx(3, 4)
            result = getattr(torch.ops.aten, name)(x, 5, 0, "ortho")
            record(f"{name}.out", x, 5, 0, "ortho", out=torch.zeros_like(result), with_gradients=False)
            record(f"{name}.out", x, out=torch.zeros_like(getattr(torch.ops.aten, name)(x)), with_gradients=False)
    lazy = cplx(3, 4)
    record("fft_fft", lazy.conj())
    record("fft_irfft", lazy.conj(), 5)
    record("fft_ifft", lazy.conj().imag)


def record_several_dimensions():
    for kind, only_real in (("fft", False), ("ifft", False), ("rfft", True), ("irfft", False), ("hfft", False), ("ihfft", True)):
        make = real if only_real else cplx
        for norm in NORMS:
            x = make(2, 3, 4)
            for s, dim in ((None, None), (None, [0, 1]), ([2, 5], None), ([3, 3], [2, 0]), ([3], [1]), ([-1, 4], [0, 2]), ([4, -1], [0, 2]), (None, [-1, -3]), ([1, 2, 3], None)):
                record(f"fft_{kind}n", x, s, dim, norm, with_gradients=norm in (None, "ortho"))
            for s, dim in ((None, [-2, -1]), ([3, 3], [0, 2]), ([3, 5], [-1, 0]), (None, [1]), (None, [2, 1, 0])):
                record(f"fft_{kind}2", x, s, dim, norm, with_gradients=norm in (None, "ortho"))
        record(f"fft_{kind}2", x)
        for x in layouts(make, 3, 2, 4):
            record(f"fft_{kind}n", x)
            record(f"fft_{kind}n", x, None, [0, 1])
            record(f"fft_{kind}2", x, [3, 3])
        for dtype in (torch.float32, torch.int64, torch.bool):
            record(f"fft_{kind}n", (real(3, 4) * 3).to(dtype))
            record(f"fft_{kind}2", (real(2, 3, 4) * 3).to(dtype))
        record(f"fft_{kind}n", real(0, 3, 4), None, [1, 2])
        for suffix, dim in (("n", None), ("2", [-2, -1])):
            name, x = f"fft_{kind}{suffix}", make(2, 3, 4)
            result = getattr(torch.ops.aten, name)(x, [3, 5], dim)
            record(f"{name}.out", x, [3, 5], dim, "ortho", out=torch.zeros_like(result), with_gradients=False)
        if kind in ("fft", "ifft"):
            record(f"fft_{kind}n", real())
            record(f"fft_{kind}n", real(3), [], None)
            record(f"fft_{kind}n", cplx(3, 2), None, [])


def record_frequencies():
    for name in ("fft_fftfreq", "fft_rfftfreq"):
        for n in (1, 2, 3, 4, 5, 8, 9, 17):
            for d in (1.0, 0.5, -2.0, 0.1, 1e-3):
                record(name, n, d)
        record(name, 5)
        for dtype in (torch.float64, torch.float16, torch.bfloat16):
            record(name, 7, 0.5, dtype=dtype)
        record(name, 4, INF)
        record(name, 4, NAN)
        record(name, 4, 0.0)
        for dtype in (torch.float32, torch.float64):
            for n in (5, 6):
                record(f"{name}.out", n, 0.25, out=torch.zeros(n if name == "fft_fftfreq" else n // 2 + 1, dtype=dtype), with_gradients=False)
    record("fft_fftfreq", 0)
    record("fft_rfftfreq", 0)
    for name in ("fft_fftshift", "fft_ifftshift"):
        for x in (real(5), real(2, 3, 4), cplx(3, 4), torch.arange(6), torch.arange(12).view(3, 4).t(), real(0, 3), real(1), torch.tensor([True, False, False])):
            record(name, x)
            for dim in ([0], [-1], [0, -1]):
                record(name, x, dim)


def record_short_time():
    windows = None, torch.hann_window(4, dtype=torch.float64), torch.hamming_window(2, dtype=torch.float64)
    for signal in (real(9), real(2, 7), cplx(8)):
        for window in windows:
            length = 4 if window is None else window.numel()
            for hop in (2, 3):
                for normalized, onesided in ((False, None), (True, False)):
                    options = {"normalized": normalized, "onesided": onesided, "return_complex": True}
                    record("stft", signal, 4, hop, length, window, **options)
                    for pad_mode in ("reflect", "constant", "replicate", "circular")[:4 if hop == 2 else 1]:
                        record("stft.center", signal, 4, hop, length, window, True, pad_mode, **options)
                    for align in (None, False, True):
                        record("stft", signal, 4, hop, length, window, align_to_window=align, **options)
                        record("stft.center", signal, 4, hop, length, window, False, align_to_window=align, **options)
    signal = real(12)
    record("stft", signal, 4, return_complex=False)
    record("stft.center", signal, 4, return_complex=False, onesided=False)
    record("stft", signal, 5, 1, 5, onesided=True, return_complex=True)
    record("stft", signal, 12, 1, return_complex=True)
    record("stft", signal, 4, 3, 1, return_complex=True)
    record("stft", signal, 4, 3, None, cplx(4))
    record("stft", signal, 4, 3, None, torch.ones(4), return_complex=True)
    record("stft", real(0, 12), 4, return_complex=True)
    for dtype in REAL:
        record("stft", real(2, 9, dtype=dtype), 4, 2, None, torch.hann_window(4, dtype=dtype), return_complex=True)
        record("stft.center", real(9, dtype=dtype), 4, 2, None, torch.hann_window(4, dtype=dtype), return_complex=True)
    for sizes in ((9,), (2, 8)):
        for window, length in ((None, 4), (torch.hann_window(4, dtype=torch.float64), 4), (torch.hamming_window(3, dtype=torch.float64), 3)):
            for hop in (1, 2):
                for normalized, onesided in ((False, True), (True, False), (False, False)):
                    frequencies = torch.stft(real(*sizes), 4, hop, length, window, normalized=normalized, onesided=onesided, return_complex=True)
                    options = {"normalized": normalized, "onesided": onesided, "with_gradients": window is not None}
                    for target in (None, 5, 20)[:3 if length == 4 else 2]:
                        record("istft", frequencies, 4, hop, length, window, length=target, **options)
                    if not onesided:
                        record("istft", frequencies, 4, hop, length, window, return_complex=True, **options)
    frequencies = cplx(3, 9)
    record("istft", frequencies, 4, center=False)
    record("istft", frequencies, 4, 2, None, torch.hamming_window(4, dtype=torch.float64), False)
    record("istft", cplx(4, 9), 4)
    record("istft", frequencies.to(torch.complex64), 4, window=torch.ones(4))
    record("istft", frequencies.to(torch.complex64), 4, window=torch.ones(4, dtype=torch.float64))
    record("istft", cplx(4, 9), 4, window=cplx(4), return_complex=True)
    record("istft", cplx(1, 4), 1, 1, center=False)
    for n, hop, length in ((8, 3, 6), (6, 2, 3), (5, 2, 4)):
        for normalized in (False, True):
            record("istft", cplx(2, n // 2 + 1, 5), n, hop, length, normalized=normalized)
        record("istft", cplx(n, 4), n, hop, length, onesided=False, return_complex=True)
        record("istft", cplx(n // 2 + 1, 5, dtype=torch.complex64), n, hop, length, length=5)


record_internal_transforms()
record_lengths()
record_one_dimension()
record_several_dimensions()
record_frequencies()
record_short_time()
write(Path(__file__).with_name("fft.jsonl.gz"))
