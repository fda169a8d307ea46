//! Data movement: copies of elements between tensors of different strides, without conversion.
//!
//! Both sides have the same sizes. Adjacent elements are copied as one word of up to sixteen bytes.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::walk::{FastDivisor, WalkDims, broadcast_byte_strides};
use crate::prelude::*;

kernel! {
    // SAFETY: each launch passes the strides of both tensors through the sizes of the walk.
    static DATA_MOVEMENT_KERNEL = unsafe { Kernel::new("data_movement", include_str!("../../kernels/engine/data_movement.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["copy_words", "concatenate", "transpose"], WORD_DTYPES);
    }) };
}

/// The dtypes that stand for words of one, two, four, eight and sixteen bytes.
pub(crate) const WORD_DTYPES: &[DType] = &[DType::U8, DType::I16, DType::I32, DType::I64, DType::C128];

/// Returns the dtype of the smallest word of at least `bytes` bytes.
pub(crate) fn word_dtype_of_size(bytes: usize) -> DType {
    WORD_DTYPES.iter().copied().find(|dtype| dtype.size() >= bytes).unwrap_or(DType::C128)
}

/// The source or the target of a copy: an address and the byte strides of the copied dimensions.
#[derive(Clone)]
pub(crate) struct StridedPointer {
    pub(crate) address: DevicePointer,
    pub(crate) byte_strides: Dims,
}

impl StridedPointer {
    /// Describes a tensor, broadcast to these sizes.
    pub(crate) fn from_tensor(launch: Launch, tensor: &Tensor, sizes: &[i64]) -> Result<Self> {
        Ok(Self { address: launch.pointer(tensor)?, byte_strides: broadcast_byte_strides(tensor, sizes) })
    }
}

/// Copies a strided block of elements, of these sizes and this dtype. No two elements of `to` may have the same address.
pub(crate) fn copy_strided(
    launch: Launch,
    dtype: DType,
    sizes: &[i64],
    to: &StridedPointer,
    from: &StridedPointer,
) -> Result<()> {
    if sizes.contains(&0) {
        return Ok(());
    }
    let mut steps = WalkDims::new(sizes, &[to.byte_strides.clone(), from.byte_strides.clone()]);
    let word = word_dtype_of_size(steps.merge_into_words(dtype.size(), to.address.address() | from.address.address()));
    for (walk, count, offsets) in steps.split_for_32_bits() {
        let arguments = (count, to.address.offset(offsets[0]), from.address.offset(offsets[1]), walk);
        launch.run_per_element(&DATA_MOVEMENT_KERNEL, "copy_words", &[word], count.into(), arguments)?;
    }
    Ok(())
}

define_parameters! {
    /// The kernels' `struct TransposeShape`: the sizes and strides of a transposing copy.
    struct TransposeShape {
        rows: u32,
        columns: u32,
        row_stride: i64,
        column_stride: i64,
    }
}

/// The minimum number of elements for which a transposing copy uses tiles.
const MIN_TRANSPOSE_ELEMENTS: i64 = 1 << 14;

/// Copies a tensor to a result whose adjacent elements are in another dimension: a transposing copy. Returns false, and copies nothing, for
/// any other copy.
pub(crate) fn try_transpose_copy(to: &Tensor, from: &Tensor) -> Result<bool> {
    if to.dtype() != from.dtype() || from.geometry().count() < MIN_TRANSPOSE_ELEMENTS {
        return Ok(false);
    }
    let (element, WalkDims(mut dims)) = (element_size(to), WalkDims::for_output(to, &[from]));
    let dim_of_adjacent_elements =
        |side: usize| dims.iter().position(|(size, steps)| steps[side] == element && *size >= 16);
    let (Some(rows), Some(columns)) = (dim_of_adjacent_elements(0), dim_of_adjacent_elements(1)) else {
        return Ok(false);
    };
    if rows == columns {
        return Ok(false);
    }
    let ((height, down), (width, across)) = (dims[rows], dims[columns]);
    let (Ok(rows_of), Ok(columns_of)) = (u32::try_from(height), u32::try_from(width)) else { return Ok(false) };
    dims.remove(rows.max(columns));
    dims.remove(rows.min(columns));
    let shape = TransposeShape { rows: rows_of, columns: columns_of, row_stride: down[1], column_stride: across[0] };
    let edge = if element <= 4 { 64 } else { 32 };
    let [tiles, ..] = Grid::from_block_count(height.div_ceil(edge) * width.div_ceil(edge), 256).blocks;
    let (launch, word) = (Launch::on_device_of(to)?, word_dtype_of_size(to.dtype().size()));
    let (to, from) = (launch.pointer(to)?, launch.pointer(from)?);
    for (walk, items, offsets) in WalkDims(dims).split_for_32_bits() {
        let grid = Grid { blocks: [tiles, items.min(u16::MAX.into()), 1], ..Grid::new(tiles, 256) };
        let arguments = (items, to.offset(offsets[0]), from.offset(offsets[1]), walk, shape);
        launch.run(&DATA_MOVEMENT_KERNEL, "transpose", &[word], grid, arguments)?;
    }
    Ok(true)
}

/// The maximum number of tensors that one launch joins.
const MAX_CONCAT_SOURCES: usize = 64;

define_parameters! {
    /// The kernels' `struct ConcatSource`: one of the joined tensors.
    struct ConcatSource {
        from: DevicePointer,
        pitch: i64,
        to: u64,
        width: FastDivisor,
    }
}

/// The kernels' `struct ConcatSources`: the joined tensors of one launch.
#[derive(Clone, Copy)]
#[repr(C)]
struct ConcatSources([ConcatSource; MAX_CONCAT_SOURCES]);

impl Parameter for ConcatSources {}

/// A tensor as rows of contiguous bytes with a constant stride, the pitch. Sizes are in bytes.
struct ByteRows {
    address: DevicePointer,
    count: i64,
    pitch: i64,
    width: i64,
}

impl ByteRows {
    /// Views a tensor as rows that contain the dimensions from `dim` on. Returns `None` if the rows have gaps or are too large for 32-bit
    /// integers.
    fn from_tensor(launch: Launch, tensor: &Tensor, dim: usize) -> Result<Option<Self>> {
        let element = element_size(tensor);
        let (sizes, strides) = (tensor.sizes(), tensor.strides());
        let dense = |dims: std::ops::Range<usize>, first: i64| {
            let mut next = first;
            dims.rev().all(|dim| {
                let fits = sizes[dim] == 1 || strides[dim] == next;
                next = next.saturating_mul(sizes[dim]);
                fits
            })
        };
        let (count, width): (i64, i64) = (sizes[..dim].iter().product(), sizes[dim..].iter().product());
        let outer = (0..dim).rev().find(|&dim| sizes[dim] != 1).map_or(width, |dim| strides[dim]);
        let small = count.saturating_mul(width) <= i32::MAX.into();
        if !(small && dense(dim..sizes.len(), 1) && dense(0..dim, outer)) {
            return Ok(None);
        }
        Ok(Some(Self { address: launch.pointer(tensor)?, count, pitch: outer * element, width: width * element }))
    }
}

/// Concatenates tensors along a dimension of `out`, which they fill. Tensors that cannot be joined in one launch are copied one by one.
pub(crate) fn concatenate(out: &Tensor, tensors: &[&Tensor], dim: usize) -> Result<()> {
    let launch = Launch::on_device_of(out)?;
    let whole = ByteRows::from_tensor(launch, out, dim)?;
    let (mut together, mut all, mut next) = (Vec::new(), 0_u64, 0);
    for tensor in tensors {
        let start = next;
        next += tensor.sizes()[dim];
        if tensor.geometry().count() == 0 {
            continue;
        }
        let rows = if tensor.dtype() == out.dtype() && whole.is_some() {
            ByteRows::from_tensor(launch, tensor, dim)?
        } else {
            None
        };
        let Some(rows) = rows else {
            let at = i64::try_from(dim).unwrap_or(0);
            copy_into(&mut aten::narrow(out, at, start, tensor.sizes()[dim])?, tensor)?;
            continue;
        };
        let to = start.cast_unsigned() * out.strides()[dim].cast_unsigned() * out.dtype().size() as u64;
        all |= rows.address.address() | (rows.pitch | rows.width).cast_unsigned() | to;
        together.push((rows, to));
    }
    let Some(whole) = whole else { return Ok(()) };
    all |= whole.address.address() | whole.pitch.cast_unsigned();
    let word = 1_i64 << all.trailing_zeros().min(4);
    for some in together.chunks(MAX_CONCAT_SOURCES) {
        let mut sources = ConcatSources(
            [ConcatSource { from: DevicePointer::NULL, pitch: 0, to: 0, width: FastDivisor::new(1) };
                MAX_CONCAT_SOURCES],
        );
        let mut widest = 0;
        for (source, (rows, to)) in sources.0.iter_mut().zip(some) {
            let width = FastDivisor::new(u32::try_from(rows.width / word).unwrap_or(u32::MAX));
            *source =
                ConcatSource { from: rows.address, pitch: rows.pitch / word, to: to / word.cast_unsigned(), width };
            widest = widest.max(rows.width / word * rows.count);
        }
        let blocks = Grid::for_elements(widest).blocks[0];
        let grid = Grid { blocks: [blocks, u32::try_from(some.len()).unwrap_or(0), 1], ..Grid::new(blocks, 256) };
        let rows = some.first().map_or(0, |(rows, _)| u32::try_from(rows.count).unwrap_or(0));
        let dtype = word_dtype_of_size(usize::try_from(word).unwrap_or(1));
        launch.run(
            &DATA_MOVEMENT_KERNEL,
            "concatenate",
            &[dtype],
            grid,
            (whole.address, whole.pitch / word, rows, sources),
        )?;
    }
    Ok(())
}
