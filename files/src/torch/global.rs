//! The functions, classes and constants of Python that a pickle may name. All others are refused.

use dispatch_runtime::DType;

use crate::error::FileProblem;

/// A function, class or constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Global {
    OrderedDict,
    /// `_rebuild_tensor_v2`: a tensor of a storage with a dtype.
    RebuildTensor,
    /// `_rebuild_tensor_v3`: a tensor of a storage without a dtype.
    RebuildTensorWithDType,
    RebuildParameter,
    Size,
    /// `_codecs.encode`: bytes in protocol 2, which has only text.
    EncodeText,
    /// The class of storages whose elements have this dtype.
    Storage(DType),
    /// The class of storages without a dtype.
    UntypedStorage,
    DType(DType),
}

impl Global {
    /// Returns the global of a module.
    pub(super) fn find(module: &str, name: &str) -> Result<Self, FileProblem> {
        match (module, name) {
            ("collections", "OrderedDict") => Ok(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2") => Ok(Self::RebuildTensor),
            ("torch._utils", "_rebuild_tensor_v3") => Ok(Self::RebuildTensorWithDType),
            ("torch._utils", "_rebuild_parameter") => Ok(Self::RebuildParameter),
            ("torch", "Size") => Ok(Self::Size),
            ("_codecs", "encode") => Ok(Self::EncodeText),
            ("torch.storage", "UntypedStorage") => Ok(Self::UntypedStorage),
            ("torch", name) => find_in_torch(name),
            _ => Err(forbidden(module, name)),
        }
    }
}

fn find_in_torch(name: &str) -> Result<Global, FileProblem> {
    let known = DTYPES.into_iter().find_map(|(dtype, dtype_name, storage)| {
        if name == dtype_name {
            Some(Global::DType(dtype))
        } else {
            (Some(name) == storage).then_some(Global::Storage(dtype))
        }
    });
    match known {
        Some(global) => Ok(global),
        None if name.ends_with("Storage") || UNSUPPORTED_DTYPES.contains(&name) => {
            Err(FileProblem::UnsupportedElements { found: format!("torch.{name}") })
        }
        None => Err(forbidden("torch", name)),
    }
}

#[cold]
fn forbidden(module: &str, name: &str) -> FileProblem {
    FileProblem::ForbiddenGlobal { name: format!("{module}.{name}") }
}

/// The dtypes, with PyTorch's names of the dtype and of the class of its storages. Newer dtypes have no such class.
const DTYPES: [(DType, &str, Option<&str>); 17] = [
    (DType::Bool, "bool", Some("BoolStorage")),
    (DType::U8, "uint8", Some("ByteStorage")),
    (DType::I8, "int8", Some("CharStorage")),
    (DType::I16, "int16", Some("ShortStorage")),
    (DType::I32, "int32", Some("IntStorage")),
    (DType::I64, "int64", Some("LongStorage")),
    (DType::F16, "float16", Some("HalfStorage")),
    (DType::BF16, "bfloat16", Some("BFloat16Storage")),
    (DType::F32, "float32", Some("FloatStorage")),
    (DType::F64, "float64", Some("DoubleStorage")),
    (DType::C64, "complex64", Some("ComplexFloatStorage")),
    (DType::C128, "complex128", Some("ComplexDoubleStorage")),
    (DType::F8E5M2, "float8_e5m2", None),
    (DType::F8E4M3FN, "float8_e4m3fn", None),
    (DType::F8E5M2FNUZ, "float8_e5m2fnuz", None),
    (DType::F8E4M3FNUZ, "float8_e4m3fnuz", None),
    (DType::F8E8M0FNU, "float8_e8m0fnu", None),
];

/// PyTorch's dtypes for which there is none here.
const UNSUPPORTED_DTYPES: [&str; 17] = [
    "uint16",
    "uint32",
    "uint64",
    "complex32",
    "bcomplex32",
    "float4_e2m1fn_x2",
    "qint8",
    "qint32",
    "quint8",
    "quint4x2",
    "quint2x4",
    "bits8",
    "bits16",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "int4",
];
