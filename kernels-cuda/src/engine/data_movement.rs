//! Data movement: copies of elements between tensors of different strides, without conversion.
//!
//! Both sides have the same sizes. Adjacent elements are copied as one word of up to sixteen bytes.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::walk::{Divisor, Steps, steps};
use crate::prelude::*;

kernel! {
    // SAFETY: each launch passes the strides of both tensors through the sizes of the walk.
    static DATA_MOVEMENT = unsafe { Kernel::new("data_movement", include_str!("../../kernels/engine/data_movement.cu"), |instances| {
        instances.all(&["moved", "joined", "turned"], WORDS);
    }) };
}

/// The dtypes that stand for words of one, two, four, eight and sixteen bytes.
pub(crate) const WORDS: &[DType] = &[DType::U8, DType::I16, DType::I32, DType::I64, DType::C128];

/// Returns the dtype of the smallest word of at least `bytes` bytes.
pub(crate) fn word(bytes: usize) -> DType {
    WORDS.iter().copied().find(|dtype| dtype.size() >= bytes).unwrap_or(DType::C128)
}

/// One side of a copy: its address and its byte strides.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) at: Place,
    pub(crate) steps: Dims,
}

impl Side {
    /// Describes a tensor, broadcast to these sizes.
    pub(crate) fn of(launch: Launch, tensor: &Tensor, sizes: &[i64]) -> Result<Self> {
        Ok(Self { at: launch.place(tensor)?, steps: steps(tensor, sizes) })
    }
}

/// Copies elements of a dtype through these sizes. No two elements of `to` may have the same address.
pub(crate) fn moved(launch: Launch, dtype: DType, sizes: &[i64], to: &Side, from: &Side) -> Result<()> {
    if sizes.contains(&0) {
        return Ok(());
    }
    let mut steps = Steps::new(sizes, &[to.steps.clone(), from.steps.clone()]);
    let word = word(steps.widen(dtype.size(), to.at.address() | from.at.address()));
    for (walk, count, offsets) in steps.parts() {
        let arguments = (count, to.at.offset(offsets[0]), from.at.offset(offsets[1]), walk);
        launch.cover(&DATA_MOVEMENT, "moved", &[word], count.into(), arguments)?;
    }
    Ok(())
}

parameters! {
    /// The kernels' `struct Turned`: the sizes and strides of a transposing copy.
    struct Turned {
        rows: u32,
        columns: u32,
        row: i64,
        column: i64,
    }
}

/// The minimum number of elements for which a transposing copy uses tiles.
const MANY: i64 = 1 << 14;

/// Copies a tensor to a result whose adjacent elements are in another dimension: a transposing copy. Returns false, and copies nothing, for
/// any other copy.
pub(crate) fn turned(to: &Tensor, from: &Tensor) -> Result<bool> {
    if to.dtype() != from.dtype() || from.geometry().count() < MANY {
        return Ok(false);
    }
    let (element, Steps(mut dims)) = (element_size(to), Steps::of(to, &[from]));
    let of_neighbours = |side: usize| dims.iter().position(|(size, steps)| steps[side] == element && *size >= 16);
    let (Some(rows), Some(columns)) = (of_neighbours(0), of_neighbours(1)) else { return Ok(false) };
    if rows == columns {
        return Ok(false);
    }
    let ((height, down), (width, across)) = (dims[rows], dims[columns]);
    let (Ok(rows_of), Ok(columns_of)) = (u32::try_from(height), u32::try_from(width)) else { return Ok(false) };
    dims.remove(rows.max(columns));
    dims.remove(rows.min(columns));
    let turned = Turned { rows: rows_of, columns: columns_of, row: down[1], column: across[0] };
    let edge = if element <= 4 { 64 } else { 32 };
    let [tiles, ..] = Grid::of(height.div_ceil(edge) * width.div_ceil(edge), 256).blocks;
    let (launch, word) = (Launch::on(to)?, word(to.dtype().size()));
    let (to, from) = (launch.place(to)?, launch.place(from)?);
    for (walk, items, offsets) in Steps(dims).parts() {
        let grid = Grid { blocks: [tiles, items.min(u16::MAX.into()), 1], ..Grid::new(tiles, 256) };
        let arguments = (items, to.offset(offsets[0]), from.offset(offsets[1]), walk, turned);
        launch.run(&DATA_MOVEMENT, "turned", &[word], grid, arguments)?;
    }
    Ok(true)
}

/// The maximum number of parts that one launch joins.
const PARTS: usize = 64;

parameters! {
    /// The kernels' `struct Part`: one of the joined tensors.
    struct Part {
        from: Place,
        pitch: i64,
        to: u64,
        width: Divisor,
    }
}

/// The kernels' `struct Parts`: the joined tensors of one launch.
#[derive(Clone, Copy)]
#[repr(C)]
struct Parts([Part; PARTS]);

impl Parameter for Parts {}

/// A tensor as rows of contiguous bytes with a constant stride, the pitch. Sizes are in bytes.
struct Rows {
    at: Place,
    count: i64,
    pitch: i64,
    width: i64,
}

impl Rows {
    /// Views a tensor as rows that contain the dimensions from `dim` on. Returns `None` if the rows have gaps or are too large for 32-bit
    /// integers.
    fn of(launch: Launch, tensor: &Tensor, dim: usize) -> Result<Option<Self>> {
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
        Ok(Some(Self { at: launch.place(tensor)?, count, pitch: outer * element, width: width * element }))
    }
}

/// Concatenates tensors along a dimension of `out`, which they fill. Tensors that cannot be joined in one launch are copied one by one.
pub(crate) fn joined(out: &Tensor, parts: &[&Tensor], dim: usize) -> Result<()> {
    let launch = Launch::on(out)?;
    let whole = Rows::of(launch, out, dim)?;
    let (mut together, mut all, mut next) = (Vec::new(), 0_u64, 0);
    for part in parts {
        let start = next;
        next += part.sizes()[dim];
        if part.geometry().count() == 0 {
            continue;
        }
        let rows = if part.dtype() == out.dtype() && whole.is_some() { Rows::of(launch, part, dim)? } else { None };
        let Some(rows) = rows else {
            let at = i64::try_from(dim).unwrap_or(0);
            write(&mut aten::narrow(out, at, start, part.sizes()[dim])?, part)?;
            continue;
        };
        let to = start.cast_unsigned() * out.strides()[dim].cast_unsigned() * out.dtype().size() as u64;
        all |= rows.at.address() | (rows.pitch | rows.width).cast_unsigned() | to;
        together.push((rows, to));
    }
    let Some(whole) = whole else { return Ok(()) };
    all |= whole.at.address() | whole.pitch.cast_unsigned();
    let word = 1_i64 << all.trailing_zeros().min(4);
    for some in together.chunks(PARTS) {
        let mut parts = Parts([Part { from: Place::NULL, pitch: 0, to: 0, width: Divisor::new(1) }; PARTS]);
        let mut widest = 0;
        for (part, (rows, to)) in parts.0.iter_mut().zip(some) {
            let width = Divisor::new(u32::try_from(rows.width / word).unwrap_or(u32::MAX));
            *part = Part { from: rows.at, pitch: rows.pitch / word, to: to / word.cast_unsigned(), width };
            widest = widest.max(rows.width / word * rows.count);
        }
        let blocks = Grid::cover(widest).blocks[0];
        let grid = Grid { blocks: [blocks, u32::try_from(some.len()).unwrap_or(0), 1], ..Grid::new(blocks, 256) };
        let rows = some.first().map_or(0, |(rows, _)| u32::try_from(rows.count).unwrap_or(0));
        let dtype = self::word(usize::try_from(word).unwrap_or(1));
        launch.run(&DATA_MOVEMENT, "joined", &[dtype], grid, (whole.at, whole.pitch / word, rows, parts))?;
    }
    Ok(())
}
