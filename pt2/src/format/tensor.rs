//! Descriptions of tensors, and the format's own numbers of dtypes, layouts and memory formats.

#![expect(dead_code, reason = "records have all keys that a file must have, so that a damaged file is refused")]

use std::collections::BTreeMap;

use dispatch_runtime::{DType, Layout, MemoryFormat};
use serde::Deserialize;

use super::argument::DeviceRecord;
use super::number::SymNumber;

#[derive(Deserialize, Debug, Clone)]
#[serde(expecting = "the description of a tensor")]
pub(crate) struct TensorMeta {
    pub(crate) dtype: i64,
    pub(crate) sizes: Vec<SymNumber>,
    pub(crate) requires_grad: bool,
    pub(crate) device: DeviceRecord,
    pub(crate) strides: Vec<SymNumber>,
    pub(crate) storage_offset: SymNumber,
    pub(crate) layout: i64,
}

/// `data/weights/NAME_weights_config.json` or `data/constants/NAME_constants_config.json`: a payload for each tensor.
#[derive(Deserialize, Debug, Default)]
#[serde(expecting = "the list of the data")]
pub(crate) struct PayloadConfig {
    pub(crate) config: BTreeMap<String, Payload>,
}

#[derive(Deserialize, Debug)]
#[serde(expecting = "an entry of data")]
pub(crate) struct Payload {
    /// The file below the folder of the config.
    pub(crate) path_name: String,
    #[serde(default)]
    pub(crate) is_param: bool,
    #[serde(default)]
    pub(crate) use_pickle: bool,
    /// Absent for a custom object.
    #[serde(default)]
    pub(crate) tensor_meta: Option<TensorMeta>,
}

/// Returns the dtype with a number of the format.
pub(crate) const fn dtype_of_id(id: i64) -> Option<DType> {
    Some(match id {
        1 => DType::U8,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::F16,
        7 => DType::F32,
        8 => DType::F64,
        10 => DType::C64,
        11 => DType::C128,
        12 => DType::Bool,
        13 => DType::BF16,
        29 => DType::F8E4M3FN,
        30 => DType::F8E5M2,
        31 => DType::F8E4M3FNUZ,
        32 => DType::F8E5M2FNUZ,
        33 => DType::F8E8M0FNU,
        _ => return None,
    })
}

pub(crate) const fn layout_of_id(id: i64) -> Option<Layout> {
    Some(match id {
        7 => Layout::Strided,
        _ => return None,
    })
}

pub(crate) const fn memory_format_of_id(id: i64) -> Option<MemoryFormat> {
    Some(match id {
        1 => MemoryFormat::Contiguous,
        2 => MemoryFormat::ChannelsLast,
        3 => MemoryFormat::ChannelsLast3d,
        4 => MemoryFormat::Preserve,
        _ => return None,
    })
}
