//! Gather and scatter: elements that are read from, or written to, indexed positions.
//!
//! Each list of indices is for one dimension of the indexed tensor, and is broadcast to the sizes of the other side. A thread reports an
//! index that is out of range, and skips it.
#![expect(unsafe_code, reason = "kernels are native code")]

use smallvec::SmallVec;

use crate::engine::data_movement::{StridedPointer, WORD_DTYPES, word_dtype_of_size};
use crate::engine::scalars::encode_scalar;
use crate::engine::walk::{WalkDims, WalkPart, broadcast_byte_strides};
use crate::prelude::*;

kernel! {
    // SAFETY: each side and list comes with its strides through the sizes of the walk. Indices are checked where they are read.
    static GATHER_KERNEL = unsafe { Kernel::new("gather", include_str!("../../kernels/engine/gather.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["gather", "scatter"], WORD_DTYPES);
        instances.add("index_offsets", &[]);
        instances.add_templates_for_each_dtype(&["scatter_reduce", "divide_by_counts"], COMBINE_DTYPES);
    }) };
}

const COMBINE_DTYPES: &[DType] = &[DType::F32, DType::F64, DType::I32, DType::I64];

/// Returns the type that elements of a dtype are combined in.
pub(crate) fn combine_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => DType::F32,
        DType::F64 | DType::I64 | DType::C64 | DType::C128 => dtype,
        _ => DType::I32,
    }
}

/// Returns the `FaultSite` of an operator's argument, looked up once for each use of the macro.
macro_rules! fault_site {
    ($operator:expr, $argument:literal) => {{
        static SITE: std::sync::OnceLock<$crate::FaultSite> = std::sync::OnceLock::new();
        *SITE.get_or_init(|| $crate::FaultSite::for_argument($operator, $argument))
    }};
}
pub(crate) use fault_site;

/// Indices into a dimension of size `size`, whose elements are `step` bytes apart.
#[derive(Clone)]
pub(crate) struct IndexList {
    index: Tensor,
    /// The index tensor's strides through the sizes of the walk, in bytes.
    steps: Dims,
    size: i64,
    step: i64,
}

impl IndexList {
    /// Creates a list from an index tensor, broadcast to the sizes of the walk.
    pub(crate) fn from_tensor(index: &Tensor, sizes: &[i64], (size, step): (i64, i64)) -> Self {
        Self { index: index.clone(), steps: broadcast_byte_strides(index, sizes), size, step }
    }

    /// Creates a list from a one-dimensional index, which runs along one dimension of the walk.
    pub(crate) fn along_dim(index: &Tensor, rank: usize, dim: usize, (size, step): (i64, i64)) -> Self {
        let mut steps = Dims::from_elem(0, rank);
        if let Some(own) = steps.get_mut(dim) {
            *own = index.strides().first().copied().unwrap_or(1) * element_size(index);
        }
        Self { index: index.clone(), steps, size, step }
    }
}

/// The index lists of a call, whether negative indices wrap, and the argument for errors.
pub(crate) struct IndexLists {
    pub(crate) all: SmallVec<[IndexList; MAX_INDEX_LISTS]>,
    pub(crate) wraps_negative: bool,
    pub(crate) site: FaultSite,
}

const MAX_INDEX_LISTS: usize = 4;

define_parameters! {
    /// The kernels' `struct IndexLists`: up to four lists of indices.
    struct IndexListsParameter {
        addresses: [DevicePointer; MAX_INDEX_LISTS],
        sizes: [i64; MAX_INDEX_LISTS],
        strides: [i64; MAX_INDEX_LISTS],
        count: u32,
        is_32_bit: u32,
        wraps_negative: bool,
        site: FaultSite,
        fault: DevicePointer,
    }
}

impl IndexListsParameter {
    fn offset_addresses(mut self, offsets: &[u64]) -> Self {
        self.addresses.iter_mut().zip(&offsets[2..]).for_each(|(address, offset)| *address = address.offset(*offset));
        self
    }
}

impl IndexLists {
    pub(crate) fn from_list(list: IndexList, wraps_negative: bool, site: FaultSite) -> Self {
        Self { all: SmallVec::from_elem(list, 1), wraps_negative, site }
    }

    fn parameter(&self, launch: Launch) -> Result<IndexListsParameter> {
        let (count, fault) = (u32::try_from(self.all.len()).unwrap_or(0), launch.fault_record());
        let (wraps_negative, site) = (self.wraps_negative, self.site);
        let mut parameter = IndexListsParameter {
            addresses: [DevicePointer::NULL; MAX_INDEX_LISTS],
            sizes: [0; MAX_INDEX_LISTS],
            strides: [0; MAX_INDEX_LISTS],
            count,
            is_32_bit: 0,
            wraps_negative,
            site,
            fault,
        };
        for (k, list) in self.all.iter().enumerate() {
            parameter.addresses[k] = launch.pointer(&list.index)?;
            parameter.is_32_bit |= u32::from(list.index.dtype() == DType::I32) << k;
            (parameter.sizes[k], parameter.strides[k]) = (list.size, list.step);
        }
        Ok(parameter)
    }

    /// Reduces the lists to at most [`MAX_INDEX_LISTS`]: several lists are combined into one list of byte offsets.
    fn merge_lists(mut self, launch: Launch, sizes: &[i64]) -> Result<Self> {
        while self.all.len() > MAX_INDEX_LISTS {
            let all: SmallVec<_> = self.all.drain(..MAX_INDEX_LISTS).collect();
            let some = Self { all, wraps_negative: self.wraps_negative, site: self.site };
            self.all.push(IndexList::from_tensor(&some.byte_offsets(launch, sizes, 0)?, sizes, (i64::MAX, 1)));
        }
        Ok(self)
    }

    /// Returns the byte offset for each index, or `otherwise` if the index is out of range.
    pub(crate) fn byte_offsets(self, launch: Launch, sizes: &[i64], otherwise: i64) -> Result<Tensor> {
        let lists = self.merge_lists(launch, sizes)?;
        let out = Spec::contiguous(DType::I64, sizes).on(launch.device())?;
        if sizes.contains(&0) {
            return Ok(out);
        }
        let (to, parameter) = (StridedPointer::from_tensor(launch, &out, sizes)?, lists.parameter(launch)?);
        for (walk, count, offsets) in
            lists.merged_walk_dims(sizes, &to.byte_strides, &to.byte_strides).split_for_32_bits()
        {
            let arguments =
                (count, to.address.offset(offsets[0]), walk, parameter.offset_addresses(&offsets), otherwise);
            launch.run_per_element(&GATHER_KERNEL, "index_offsets", &[], count.into(), arguments)?;
        }
        Ok(out)
    }

    fn merged_walk_dims(&self, sizes: &[i64], first: &Dims, second: &Dims) -> WalkDims {
        let all: SmallVec<[Dims; 6]> =
            [first, second].into_iter().chain(self.all.iter().map(|list| &list.steps)).cloned().collect();
        WalkDims::new(sizes, &all)
    }

    /// Calls `run` for each part of a walk through these sizes. Adjacent elements are moved as one word.
    fn for_each_walk_part(
        self,
        launch: Launch,
        element: usize,
        sizes: &[i64],
        [to, from]: [&StridedPointer; 2],
        run: impl Fn(DType, WalkPart, [DevicePointer; 2], IndexListsParameter) -> Result<()>,
    ) -> Result<()> {
        if sizes.contains(&0) {
            return Ok(());
        }
        let lists = self.merge_lists(launch, sizes)?;
        let parameter = lists.parameter(launch)?;
        let mut steps = lists.merged_walk_dims(sizes, &to.byte_strides, &from.byte_strides);
        let list_strides = lists.all.iter().fold(0, |all, list| all | list.step.unsigned_abs());
        let word = word_dtype_of_size(
            steps.merge_into_words(element, to.address.address() | from.address.address() | list_strides),
        );
        for part in steps.split_for_32_bits() {
            let from = if from.address == DevicePointer::NULL { from.address } else { from.address.offset(part.2[1]) };
            let (to, parameter) = (to.address.offset(part.2[0]), parameter.offset_addresses(&part.2));
            run(word, part, [to, from], parameter)?;
        }
        Ok(())
    }
}

/// Fills `to` with the elements of `from` at the indexed positions. `from` has stride 0 in the dimensions of the indices.
pub(crate) fn gather(
    launch: Launch,
    dtype: DType,
    sizes: &[i64],
    to: &StridedPointer,
    from: &StridedPointer,
    lists: IndexLists,
) -> Result<()> {
    lists.for_each_walk_part(launch, dtype.size(), sizes, [to, from], |word, (walk, count, _), [to, from], lists| {
        launch.run_per_element(&GATHER_KERNEL, "gather", &[word], count.into(), (count, to, from, walk, lists))
    })
}

/// The source of a scatter: elements or a scalar.
pub(crate) enum ScatterSource {
    Elements(StridedPointer),
    Scalar(Scalar),
}

impl ScatterSource {
    fn strided_pointer(&self, rank: usize) -> StridedPointer {
        match self {
            Self::Elements(side) => side.clone(),
            Self::Scalar(_) => StridedPointer { address: DevicePointer::NULL, byte_strides: Dims::from_elem(0, rank) },
        }
    }
}

/// Writes elements or a scalar to the indexed positions of `to`.
pub(crate) fn scatter(
    launch: Launch,
    dtype: DType,
    sizes: &[i64],
    to: &StridedPointer,
    source: &ScatterSource,
    lists: IndexLists,
) -> Result<()> {
    let number = if let ScatterSource::Scalar(number) = source { encode_element(*number, dtype) } else { 0 };
    lists.for_each_walk_part(
        launch,
        dtype.size(),
        sizes,
        [to, &source.strided_pointer(sizes.len())],
        |word, (walk, count, _), [to, from], lists| {
            let arguments = (count, to, from, walk, lists, number);
            launch.run_per_element(&GATHER_KERNEL, "scatter", &[word], count.into(), arguments)
        },
    )
}

/// Returns the bits of a scalar as an element of a dtype.
fn encode_element(number: Scalar, dtype: DType) -> u64 {
    use dispatch_runtime::{bf16, f16};
    let real = || f64::from_bits(encode_scalar(number, DType::F64));
    match dtype {
        DType::F16 => f16::from_f64(real()).to_bits().into(),
        DType::BF16 => bf16::from_f64(real()).to_bits().into(),
        DType::F32 | DType::F64 => encode_scalar(number, dtype),
        DType::Bool => u64::from(real() != 0.0),
        _ => encode_scalar(number, DType::I64),
    }
}

/// The operation that combines an existing element with a new one. The discriminant is the kernels' number of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CombineOperation {
    Sum,
    Product,
    Max,
    Min,
}

/// Combines elements with those at the indexed positions of `to`, whose dtype is `computed`.
pub(crate) fn scatter_reduce(
    launch: Launch,
    [computed, dtype]: [DType; 2],
    sizes: &[i64],
    to: &StridedPointer,
    source: &ScatterSource,
    lists: IndexLists,
    operation: CombineOperation,
) -> Result<()> {
    let number = if let ScatterSource::Scalar(number) = source { encode_scalar(*number, computed) } else { 0 };
    // With the widest element size, `for_each_walk_part` does not merge elements into words.
    let from = source.strided_pointer(sizes.len());
    lists.for_each_walk_part(launch, 16, sizes, [to, &from], |_, (walk, count, _), [to, from], lists| {
        let arguments = (count, to, from, walk, lists, number, dtype as i32, operation as i32);
        launch.run_per_element(&GATHER_KERNEL, "scatter_reduce", &[computed], count.into(), arguments)
    })
}

/// Divides sums elementwise by counts of the same layout.
pub(crate) fn divide_by_counts(launch: Launch, sums: &Tensor, counts: &Tensor) -> Result<()> {
    let count = sums.geometry().count();
    launch.run_per_element(&GATHER_KERNEL, "divide_by_counts", &[sums.dtype()], count, (count, sums, counts))
}
