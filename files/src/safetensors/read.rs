//! Reading of a file: the header, and then a tensor at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use dispatch_runtime::Tensor;
use safetensors::SafeTensorError;
use safetensors::tensor::{Metadata, TensorInfo};

use super::ties::restore_ties;
use super::{Contents, DTYPES};
use crate::element_bytes::{ByteOrder, ElementLayout, ElementOrder, read_tensor, read_up_to};
use crate::error::{FileError, FileProblem};

/// The longest header that is read, as in other readers of the format.
const MAX_HEADER_LENGTH: usize = 100_000_000;

pub(super) fn load_file(path: &Path) -> Result<Contents, FileError> {
    let refuse = |error| FileError::new(path, FileProblem::Io(error));
    let file = File::open(path).map_err(refuse)?;
    let length = file.metadata().map_err(refuse)?.len();
    read_contents(path, &mut BufReader::new(file), length)
}

pub(super) fn read_contents(path: &Path, reader: &mut impl Read, length: u64) -> Result<Contents, FileError> {
    let header = read_header(reader, length).map_err(|problem| FileError::new(path, problem))?;
    let mut tensors = BTreeMap::new();
    // The elements follow each other in this order, without gaps.
    for name in header.offset_keys() {
        let Some(info) = header.info(&name) else { continue };
        let tensor = read_elements(reader, info).map_err(|problem| FileError::in_entry(path, &name, problem))?;
        tensors.insert(name, tensor);
    }
    let mut metadata = header.metadata().iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    restore_ties(&mut tensors, &mut metadata);
    Ok((tensors, metadata))
}

/// Reads the header of a file of this length. Returns an error if the file has more or fewer bytes than its tensors.
fn read_header(reader: &mut impl Read, length: u64) -> Result<Metadata, FileProblem> {
    let mut header_length = [0; 8];
    if read_up_to(reader, &mut header_length)? < header_length.len() {
        return Err(SafeTensorError::HeaderTooSmall.into());
    }
    let header_length = u64::from_le_bytes(header_length);
    let data_length =
        length.saturating_sub(8).checked_sub(header_length).ok_or(SafeTensorError::InvalidHeaderLength)?;
    let header_length = usize::try_from(header_length).ok().filter(|length| *length <= MAX_HEADER_LENGTH);
    let mut text = vec![0; header_length.ok_or(SafeTensorError::HeaderTooLarge)?];
    if read_up_to(reader, &mut text)? < text.len() {
        return Err(SafeTensorError::InvalidHeaderLength.into());
    }
    let header: Metadata = serde_json::from_slice(&text).map_err(SafeTensorError::InvalidHeaderDeserialization)?;
    if header.data_len() as u64 != data_length {
        return Err(SafeTensorError::MetadataIncompleteBuffer.into());
    }
    Ok(header)
}

fn read_elements(reader: &mut impl Read, info: &TensorInfo) -> Result<Tensor, FileProblem> {
    let Some((_, dtype)) = DTYPES.into_iter().find(|(known, _)| *known == info.dtype) else {
        return Err(FileProblem::UnsupportedElements { found: info.dtype.to_string() });
    };
    let layout = ElementLayout {
        dtype,
        byte_order: ByteOrder::Little,
        element_order: ElementOrder::RowMajor,
        sizes: info.shape.iter().map(|&size| size as u64).collect(),
    };
    let (start, end) = info.data_offsets;
    read_tensor(reader, &layout, end.saturating_sub(start) as u64)
}
