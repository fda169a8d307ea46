//! Tensors of the bytes of a file.

use std::fmt;
use std::fs::File;
use std::io::Read;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Layout, Spec};

use super::constant::check_layout_and_pinning;

/// The error of [`from_file`] for a file that cannot be read, or that has too few bytes.
///
/// ```
/// # use kernels_cpu as _;
/// let error = aten::from_file("no-such-file", None, Some(1), None, None, None, None).unwrap_err();
/// let source = std::error::Error::source(&error).unwrap();
/// assert_eq!(source.downcast_ref::<aten::UnreadableFile>().unwrap().path, "no-such-file");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnreadableFile {
    /// The path of the file.
    pub path: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file `{}` cannot be read: {}", self.path, self.reason)
    }
}

impl std::error::Error for UnreadableFile {}

/// Reads a vector of `size` elements from the beginning of a file.
///
/// Later changes of the tensor do not change the file. A tensor that shares its memory with the file, with `shared`, is not supported.
#[op_def(
    "from_file(str filename, bool? shared=None, int? size=0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    out = "out",
    body = CompositeExplicitAutograd
)]
pub fn from_file(
    filename: &str,
    shared: Option<bool>,
    size: Option<i64>,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    check_layout_and_pinning(layout, pin_memory)?;
    let (size, dtype, device) = (size.unwrap_or(0), dtype.unwrap_or(DType::F32), device.unwrap_or(Device::CPU));
    if shared == Some(true) {
        let reason = "a tensor has no memory in a file; write the tensor to the file after changes";
        return Err(BadArgument::number("shared", true, false).because(reason).into());
    }
    let bytes = usize::try_from(size).ok().and_then(|size| size.checked_mul(dtype.size()));
    let Some(bytes) = bytes else { return Err(BadArgument::number("size", size, 0..).into()) };
    let result = Spec::contiguous(dtype, &[size]);
    if device == Device::META {
        return result.on(device);
    }
    let content = read_bytes(filename, bytes)
        .map_err(|reason| Error::kernel(UnreadableFile { path: filename.to_owned(), reason }))?;
    let content = crate::view_dtype(&Tensor::from(content), dtype)?;
    crate::to_device(&content, device, dtype, false, false, None)
}

/// Reads the first `count` bytes of a file.
fn read_bytes(path: &str, count: usize) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if metadata.len() < count as u64 {
        return Err(format!("it has {} bytes, fewer than the {count} bytes of the tensor", metadata.len()));
    }
    let mut content = Vec::new();
    content.try_reserve_exact(count).map_err(|error| error.to_string())?;
    file.take(count as u64).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
}
