"""Writes expressions of PyTorch with their values to `checks/expressions.jsonl.gz`.

    python3 record_expressions.py          (needs torch 2.15)

Each line has an expression in three notations, and its values for some values of the symbols s0, s1, s17 and u3. PyTorch's own printer and
Python compute the values; an expression that it does not print is interpreted by PyTorch.
"""

import gzip
import json
import math
import os
import random

import sympy
import torch
import torch.utils._sympy.printers
from sympy import Integer
from sympy.printing.repr import srepr
from torch.utils._sympy import functions as F
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

random.seed(0)
NAMES = ["s0", "s1", "s17", "u3"]
SYMBOLS = {name: sympy.Symbol(name, integer=True, **({"positive": True} if name[0] == "s" else {})) for name in NAMES}
PRINTER = torch.utils._sympy.printers.PythonPrinter()


def leaf():
    if random.random() < 0.65:
        return SYMBOLS[random.choice(NAMES)]
    return Integer(random.choice([-7, -2, -1, 0, 1, 2, 3, 4, 8, 64, 127]))


def size(depth):
    if depth <= 0:
        return leaf()

    def any_size():
        return size(depth - 1 - (random.random() < 0.3 and depth > 1))

    def positive():
        return F.Max(Integer(1), any_size())

    def natural():
        return F.Max(Integer(0), any_size())

    return random.choice(
        [
            lambda: any_size() + any_size(),
            lambda: any_size() + any_size(),
            lambda: any_size() * any_size(),
            lambda: any_size() * any_size(),
            lambda: any_size() - any_size(),
            lambda: F.FloorDiv(any_size(), positive()),
            lambda: F.FloorDiv(any_size(), positive()),
            lambda: F.PythonMod(any_size(), positive()),
            lambda: F.Mod(natural(), positive()),
            lambda: F.Max(any_size(), any_size(), any_size()),
            lambda: F.Min(any_size(), any_size()),
            lambda: sympy.Pow(SYMBOLS[random.choice(NAMES)], random.choice([2, 3])),
            lambda: F.CeilDiv(any_size(), positive()),
            lambda: F.Where(condition(depth - 1), any_size(), any_size()),
            lambda: F.FloorToInt(real(depth - 1)),
            lambda: F.CeilToInt(real(depth - 1)),
            lambda: F.TruncToInt(real(depth - 1)),
            lambda: F.RoundToInt(real(depth - 1)),
            lambda: F.ModularIndexing(natural(), Integer(random.randint(1, 5)), Integer(random.randint(1, 9))),
            lambda: F.BitwiseFn_bitwise_and(any_size(), any_size()),
            lambda: F.BitwiseFn_bitwise_or(any_size(), any_size()),
            lambda: F.BitwiseFn_bitwise_xor(any_size(), any_size()),
            lambda: F.LShift(any_size(), F.Min(Integer(5), natural())),
            lambda: F.RShift(any_size(), F.Min(Integer(5), natural())),
        ]
    )()


def real(depth):
    def any_size():
        return size(depth - 1)

    def positive():
        return F.ToFloat(F.Max(Integer(1), any_size()))

    return random.choice(
        [
            lambda: F.IntTrueDiv(any_size(), F.Max(Integer(1), any_size())),
            lambda: F.ToFloat(any_size()) * sympy.Float(random.choice([0.5, 1.25, 2.0, 0.1])),
            lambda: F.FloatTrueDiv(F.ToFloat(any_size()), sympy.Float(3.0)),
            lambda: F.OpaqueUnaryFn_sqrt(positive()),
            lambda: F.FloatPow(F.ToFloat(F.Max(Integer(1), F.Min(Integer(50), any_size()))), sympy.Float(0.5)),
            lambda: F.RoundDecimal(F.IntTrueDiv(any_size(), Integer(7)), Integer(2)),
            lambda: F.OpaqueUnaryFn_log2(positive()),
        ]
    )()


def condition(depth):
    relation = random.choice([sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge])
    if depth <= 1 or random.random() < 0.7:
        return relation(size(depth - 1), size(depth - 1))
    return random.choice(
        [
            lambda: sympy.And(condition(depth - 1), condition(depth - 1)),
            lambda: sympy.Or(condition(depth - 1), condition(depth - 1)),
            lambda: sympy.Not(condition(depth - 1)),
        ]
    )()


def value(expression, text, values):
    if text and "Where" not in text:
        return eval(text, {"math": math, "torch": torch, **values})
    found = sympy_interp(PythonReferenceAnalysis, {SYMBOLS[name]: number for name, number in values.items()}, expression)
    if isinstance(found, sympy.Basic):
        found = bool(found) if found.is_Boolean else int(found) if found.is_Integer else float(found)
    return found


def is_usable(number):
    if isinstance(number, float):
        return math.isfinite(number) and abs(number) < 1e300
    return isinstance(number, int) and abs(number) < 2**63


rows = []
seen = set()
while len(rows) < 600:
    try:
        expression = random.choice([size, size, size, real, condition])(random.randint(1, 4))
    except Exception:  # noqa: BLE001, a combination that sympy refuses
        continue
    text = srepr(expression)
    if text in seen or len(text) > 1500:
        continue
    seen.add(text)
    try:
        python = PRINTER.doprint(expression)
    except Exception:  # noqa: BLE001, a function that the printer does not know
        python = None
    values = []
    for _ in range(3):
        numbers = {name: random.choice([1, 2, 3, 5, 8, 17, 30, 64, 101]) for name in NAMES}
        try:
            number = value(expression, python, numbers)
        except Exception:  # noqa: BLE001, a value that does not exist
            continue
        if is_usable(number):
            values.append([list(numbers.values()), number])
    if values:
        rows.append({"srepr": text, "str": str(expression), "python": python, "values": values})

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "checks", "expressions.jsonl.gz")
with gzip.GzipFile(path, "wb", mtime=0) as file:
    for row in rows:
        file.write((json.dumps(row, separators=(",", ":")) + "\n").encode())
