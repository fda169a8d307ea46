"""Writes the files of this folder, which tests/torch_files.rs reads: `python write.py`, with the package torch."""

import os
import zipfile

import torch


def rezip(old, new, compression=zipfile.ZIP_STORED, change=lambda name, data: data):
    """Copies an archive with another compression or contents."""
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(new, "w", compression) as target:
        for info in source.infolist():
            target.writestr(info.filename, change(info.filename, source.read(info)), compression)


model = torch.nn.Linear(2, 3)
with torch.no_grad():
    model.weight.copy_(torch.arange(6.0).reshape(3, 2))
    model.bias.copy_(torch.tensor([0.5, -1.5, 2.0]))
torch.save(model.state_dict(), "linear.pt")
torch.serialization.set_crc32_options(False)
torch.save(model.state_dict(), "without_checksums.pt")
torch.serialization.set_crc32_options(True)
torch.save(model.state_dict(), "legacy.pt", _use_new_zipfile_serialization=False)
torch.save(model, "model.pt")
torch.jit.save(torch.jit.script(model), "script.pt")

# A checkpoint: parameters with gradients, numbers, text, bytes, and an optimiser that has made a step.
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
shared = [1, 2]
checkpoint = {
    "model": {"layer": dict(model.named_parameters())},
    "optimizer": optimizer.state_dict(),
    "epoch": 3,
    "large": -(2**40),
    "negative": -5,
    "loss": 0.25,
    "done": False,
    "nothing": None,
    "name": "größer",
    "bytes": b"\x00\xff",
    "size": torch.Size([2, 3]),
    "dtype": torch.bfloat16,
    "tuple": ("a", (), (1,), (1, 2, 3, 4)),
    "lists": [shared, shared, []],
    7: torch.tensor(7),
}
torch.save(checkpoint, "checkpoint.pt")
for protocol in [3, 4, 5]:
    torch.save(checkpoint, f"protocol{protocol}.pt", pickle_protocol=protocol)

# Tensors that share a storage, with every kind of geometry.
x = torch.arange(12.0).reshape(3, 4)
views = {
    "all": x,
    "again": x.detach(),
    "transposed": x.t(),
    "column": x[:, 1],
    "every_other": x[::2, 1::2],
    "expanded": x[1, 1].expand(2, 3),
    "scalar": x[2, 3],
    "empty": x[1:1],
    "empty_storage": torch.zeros(0, 3),
}
torch.save(views, "views.pt")

numbers = torch.tensor([0, 1, 2, -3, 100, 5])
dtypes = [torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64]
dtypes += [torch.complex64, torch.complex128, torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz]
dtypes += [torch.float8_e4m3fnuz]
tensors = {str(dtype).removeprefix("torch."): numbers.to(dtype) for dtype in dtypes}
tensors["uint8"] = numbers.abs().to(torch.uint8)
tensors["bool"] = numbers > 1
tensors["float8_e8m0fnu"] = numbers.abs().clamp(min=1).to(torch.float8_e8m0fnu)
torch.save(tensors, "dtypes.pt")
z = torch.tensor([1 + 2j, 3 - 4j])
torch.save({"conjugate": z.conj(), "negative": z.clone().conj().imag}, "math_bits.pt")

item_sizes = {"0": 4, "1": 8, "2": 2}


def swap(name, data):
    """Reverses the bytes of each element of big_endian.pt."""
    if name.endswith("byteorder"):
        return b"big"
    folder, _, key = name.rpartition("/")
    if not folder.endswith("data") or key not in item_sizes:
        return data
    size = item_sizes[key]
    return b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))


real = {"f": numbers.float(), "i": numbers, "h": numbers.half()}
torch.save(real, "little_endian.pt")
rezip("little_endian.pt", "big_endian.pt", change=swap)
os.remove("little_endian.pt")
rezip("views.pt", "compressed.pt", zipfile.ZIP_DEFLATED)

# Refused.
torch.save({"x": torch.ones(2).to(torch.uint16)}, "uint16.pt")
torch.save({"x": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)}, "quantized.pt")
torch.save({"x": torch.eye(2).to_sparse()}, "sparse.pt")
torch.save({"x": {1, 2}}, "set.pt")
torch.save({"x": {1, 2}}, "set4.pt", pickle_protocol=4)
torch.save({"x": 2**64}, "large.pt")
torch.save({"x": torch.device("cpu")}, "device.pt")
torch.save(torch.ones(2), "tensor.pt")
loop = []
loop.append(loop)
torch.save({"x": loop}, "loop.pt")


class Command:
    """A pickle that runs a command if Python loads it."""

    def __reduce__(self):
        return os.system, ("echo a pickle was run",)


torch.save({"weight": torch.ones(2), "x": Command()}, "command.pt")
