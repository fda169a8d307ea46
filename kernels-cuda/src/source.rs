//! Kernels as text: what a compiler is given.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use dispatch_runtime::DType;

/// The headers that any kernel can include.
pub(crate) const HEADERS: &[(&str, &str)] = &[
    ("attention.cuh", include_str!("../kernels/attention.cuh")),
    ("bessel.cuh", include_str!("../kernels/bessel.cuh")),
    ("block.cuh", include_str!("../kernels/block.cuh")),
    ("chance.cuh", include_str!("../kernels/chance.cuh")),
    ("curve.cuh", include_str!("../kernels/curve.cuh")),
    ("elementwise.cuh", include_str!("../kernels/elementwise.cuh")),
    ("folds.cuh", include_str!("../kernels/folds.cuh")),
    ("follows.cuh", include_str!("../kernels/follows.cuh")),
    ("functions.cuh", include_str!("../kernels/functions.cuh")),
    ("gamma.cuh", include_str!("../kernels/gamma.cuh")),
    ("images.cuh", include_str!("../kernels/images.cuh")),
    ("line.cuh", include_str!("../kernels/line.cuh")),
    ("opdispatch.cuh", include_str!("../kernels/opdispatch.cuh")),
    ("polynomials.cuh", include_str!("../kernels/polynomials.cuh")),
    ("prefix.cuh", include_str!("../kernels/prefix.cuh")),
    ("rank.cuh", include_str!("../kernels/rank.cuh")),
    ("reduce.cuh", include_str!("../kernels/reduce.cuh")),
    ("scan.cuh", include_str!("../kernels/scan.cuh")),
    ("tensor_cores.cuh", include_str!("../kernels/tensor_cores.cuh")),
    ("tiles.cuh", include_str!("../kernels/tiles.cuh")),
];

/// A kernel's program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Unit {
    /// A name for what a compiler makes of this, so that other text and other options have others.
    pub(crate) fn key(&self, options: &str) -> String {
        format!("{}-{}", self.name, fingerprint(&(HEADERS, self.text, options)))
    }
}

/// Names what differs differently.
pub(crate) fn fingerprint(parts: &impl Hash) -> String {
    let hash = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, parts).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hash(0), hash(1))
}

/// What kernels call the elements of a dtype.
///
/// ```
/// assert_eq!(kernels_cuda::element(dispatch_runtime::DType::F32), Some("float"));
/// assert_eq!(kernels_cuda::element(dispatch_runtime::DType::C64), None);
/// ```
#[must_use]
pub const fn element(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::Bool => "boolean",
        DType::C128 => "c128",
        DType::C64 => return None,
    })
}

/// `template<float, i64>`, as C++ names an instance. None where a dtype has no elements there.
pub(crate) fn instance(template: &str, dtypes: &[DType]) -> Option<String> {
    let mut text = template.to_owned();
    for (i, dtype) in dtypes.iter().enumerate() {
        text.push_str(if i == 0 { "<" } else { ", " });
        write!(text, "{}", element(*dtype)?).ok()?;
    }
    if !dtypes.is_empty() {
        text.push('>');
    }
    Some(text)
}
