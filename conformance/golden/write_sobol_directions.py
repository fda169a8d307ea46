"""Writes the direction numbers of Sobol sequences (Joe and Kuo, 2008), as PyTorch has them, to sobol_directions.bin of aten's family `random`:
`python3 write_sobol_directions.py`. The first dimension has no entry. For each other one there are the inner coefficients of its primitive
polynomial and the direction numbers up to the polynomial's degree, each without its last bit, which is 1."""

from pathlib import Path

import torch

BITS = 30
# The number of primitive polynomials of each degree, from 1.
POLYNOMIALS = [1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776]


def extended(numbers, degree, coefficients):
    """Returns all direction numbers of a dimension, computed from the first ones by the polynomial."""
    numbers = list(numbers[:degree])
    for at in range(degree, BITS):
        number = numbers[at - degree] ^ numbers[at - degree] << degree
        for k in range(1, degree):
            number ^= (coefficients >> (degree - 1 - k) & 1) * (numbers[at - k] << k)
        numbers.append(number)
    return numbers


def digits(number, count):
    return [number >> bit & 1 for bit in reversed(range(count))]


dimensions = 1 + sum(POLYNOMIALS)
state = torch.zeros(dimensions, BITS, dtype=torch.int64)
torch.ops.aten._sobol_engine_initialize_state_(state, dimensions)
rows = iter((state >> torch.arange(BITS - 1, -1, -1)).tolist()[1:])
bits = []
for degree, count in enumerate(POLYNOMIALS, 1):
    coefficients = 0
    for _ in range(count):
        row = next(rows)
        while extended(row, degree, coefficients) != row:
            coefficients += 1
        bits += digits(coefficients, degree - 1)
        for k, number in enumerate(row[:degree]):
            bits += digits(number >> 1, k)
bits += [0] * (-len(bits) % 8)
packed = bytes(sum(bit << (7 - at) for at, bit in enumerate(bits[start:start + 8])) for start in range(0, len(bits), 8))
Path(__file__).parents[2].joinpath("aten/src/families/random/sobol_directions.bin").write_bytes(packed)
