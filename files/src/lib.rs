//! Tensors in files: NumPy's `.npy` and `.npz`, safetensors, and PyTorch's `.pt`.
//!
//! In an application, this crate is `opdispatch::files`.
//!
//! ```
//! use dispatch_files::{load_npz, save_npz};
//! use dispatch_runtime::Tensor;
//!
//! # fn main() -> dispatch_runtime::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("points.npz");
//! let (x, y) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([1, 0]));
//! save_npz(&path, [("x", &x), ("y", &y)])?;
//!
//! let tensors = load_npz(&path)?;
//! assert_eq!(tensors["x"].to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
//! assert_eq!(tensors["y"].sizes(), [2]);
//! # Ok(())
//! # }
//! ```
//!
//! | format | from a file | from bytes | to a file |
//! |---|---|---|---|
//! | `.npy`: an array | [`load_npy`] | [`read_npy`] | [`save_npy`] |
//! | `.npz`: arrays by name | [`load_npz`] | [`read_npz`] | [`save_npz`] |
//! | safetensors: tensors by name | [`load_safetensors`] | | [`save_safetensors`] |
//! | safetensors with metadata | [`load_safetensors_with_metadata`] | [`read_safetensors`] | [`save_safetensors_with_metadata`] |
//! | `.pt`, `.pth`: the tensors of a state dict | [`load_pt`] | [`read_pt`] | |
//! | `.pt`, `.pth`: tensors and plain data | [`load_pt_value`] | [`read_pt_value`] | |
//!
//! Functions that load make tensors on the CPU. Functions that save take tensors of any strides on the CPU; copy others to it first. A
//! file is replaced as a whole: an interrupted program leaves the old file, or the new one.
//!
//! | dtype | `.npy`, `.npz` | safetensors | `.pt` |
//! |---|---|---|---|
//! | `bool`, `uint8`, `int8` to `int64`, `float16` to `float64`, `complex64` | yes | yes | yes |
//! | `complex128` | yes | | yes |
//! | `bfloat16`, the float8 dtypes | | yes | yes |
//!
//! Any other type of elements in a file is an error, and so is a broken file: [`FileError`] names the file, the entry and the problem.
//! Nothing in a file can make a function panic, run code, or allocate much more memory than the file justifies.
#![forbid(unsafe_code)]

mod element_bytes;
mod error;
mod npy;
mod npz;
mod replace_file;
mod safetensors;
mod torch;
mod zip_archive;

pub use error::{FileError, FileProblem};
pub use npy::{load_npy, read_npy, save_npy};
pub use npz::{load_npz, read_npz, save_npz};
pub use safetensors::{
    SafetensorsMetadata, load_safetensors, load_safetensors_with_metadata, read_safetensors, save_safetensors,
    save_safetensors_with_metadata,
};
pub use torch::{PtValue, load_pt, load_pt_value, read_pt, read_pt_value};
