"""Fourier transforms of batches, of one long line, and of images, as in ../opdispatch/src/transforms.rs."""

import torch


def job_for(name):
    transform, _, sizes = name.rpartition(" ")
    if transform not in ("fft", "ifft", "fft of columns", "rfft", "irfft", "fft2", "rfft2"):
        return None
    sizes = [int(size) for size in sizes.split("x")]
    real = torch.rand(sizes) * 2 - 1
    numbers = torch.complex(real, torch.rand(sizes) * 2 - 1)
    half = torch.fft.rfft(real)
    return {
        "fft": lambda: torch.fft.fft(numbers),
        "ifft": lambda: torch.fft.ifft(numbers),
        "fft of columns": lambda: torch.fft.fft(numbers, dim=0),
        "rfft": lambda: torch.fft.rfft(real),
        "irfft": lambda: torch.fft.irfft(half, n=sizes[-1]),
        "fft2": lambda: torch.fft.fft2(numbers),
        "rfft2": lambda: torch.fft.rfft2(real),
    }[transform]
