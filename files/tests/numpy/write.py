"""Writes the files of this folder, which tests/numpy_files.rs reads: `python write.py`, with the packages numpy, safetensors and ml_dtypes."""

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

numbers = np.array([[0, 1, 2], [-3, 100, 5]])
for dtype in ["i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]:
    np.save(f"{dtype}.npy", numbers.astype(dtype))
np.save("u1.npy", np.abs(numbers).astype("u1"))
np.save("b1.npy", numbers > 1)
np.save("big_endian.npy", numbers.astype(">f4"))
np.save("big_endian_complex.npy", (numbers + 1j).astype(">c8"))
np.save("fortran.npy", np.asfortranarray(numbers.astype("f4")))
np.save("scalar.npy", np.float64(2.5))
np.save("empty.npy", np.zeros((2, 0, 3), "f4"))
np.save("u2.npy", np.abs(numbers).astype("u2"))
np.save("text.npy", np.array(["a", "bc"]))
np.save("objects.npy", np.array([{}, None]), allow_pickle=True)
np.save("structure.npy", np.array([(1, 2.0)], [("x", "i4"), ("y", "f4")]))
np.save("bfloat16.npy", np.ones(2, ml_dtypes.bfloat16))
arrays = {"numbers": numbers, "group/scale": np.float32(0.5), "empty": np.zeros((0, 2))}
np.savez("plain.npz", **arrays)
np.savez_compressed("compressed.npz", zeros=np.zeros((100, 100)), **arrays)
save_file({"weight": np.ones((2, 3), ml_dtypes.bfloat16), "bias": np.array([0.5, 1.5], "f4")}, "model.safetensors", {"format": "pt"})
