//! Scaled dot-product attention: a block of queries processes one block of keys after the other. Half precision uses tensor cores
//! (flash.rs) if rows are short enough.
//!
//! A block holds only the scores of its own tile. The backward pass recomputes the weights from the saved logsumexp: one kernel processes
//! the keys for each block of queries, and another the queries for each block of keys, so that every sum has a fixed order.
#![expect(unsafe_code, reason = "kernels are native code")]

mod flash;

use aten::AttentionPlan;
use dispatch_runtime::broadcast_strides;

use crate::prelude::*;
use flash::FlashKernels;

kernel! {
    // SAFETY: each operand comes with the strides of its own tensor, whose sizes `aten` checked, and a thread stays inside of the sizes in
    // `AttentionTask`.
    static ATTENTION_KERNEL = unsafe { Kernel::new("attention", include_str!("../../kernels/attention/attention.cu"), |instances| {
        instances.add_for_each_dtype("output_dot_gradient", &[DType::F32, DType::F64]);
        for width in KERNEL_NAMES_BY_WIDTH {
            let dtypes: &[DType] = if width.columns > MAX_F64_COLUMNS { &[DType::F32] } else { &[DType::F32, DType::F64] };
            for name in [width.forward, width.query_gradients, width.key_value_gradients] {
                instances.add_for_each_dtype(name, dtypes);
            }
        }
    }) };
}

/// The names of the attention kernels for rows of up to `columns` elements.
#[derive(Clone, Copy)]
struct AttentionKernelNames {
    columns: i64,
    forward: &'static str,
    query_gradients: &'static str,
    key_value_gradients: &'static str,
}

const KERNEL_NAMES_BY_WIDTH: [AttentionKernelNames; 3] = [
    AttentionKernelNames {
        columns: 64,
        forward: "attention_64",
        query_gradients: "query_gradients_64",
        key_value_gradients: "key_value_gradients_64",
    },
    AttentionKernelNames {
        columns: 128,
        forward: "attention_128",
        query_gradients: "query_gradients_128",
        key_value_gradients: "key_value_gradients_128",
    },
    AttentionKernelNames {
        columns: 256,
        forward: "attention_256",
        query_gradients: "query_gradients_256",
        key_value_gradients: "key_value_gradients_256",
    },
];

/// The maximum number of columns in double precision.
const MAX_F64_COLUMNS: i64 = 128;

impl AttentionKernelNames {
    fn for_query(query: &Tensor) -> Result<Self, BadArgument> {
        let (columns, most) = (query.sizes()[3], if query.dtype() == DType::F64 { MAX_F64_COLUMNS } else { i64::MAX });
        let width = KERNEL_NAMES_BY_WIDTH.into_iter().find(|width| columns <= width.columns && width.columns <= most);
        width.ok_or_else(|| BadArgument::sizes("query", query.sizes(), "rows of at most 256 columns, 128 of doubles"))
    }

    /// Whether the backward kernels use small tiles.
    fn has_small_tiles(self) -> bool {
        self.columns == KERNEL_NAMES_BY_WIDTH[2].columns
    }
}

/// The shared memory of a block: tiles of `rows` rows, `operand_tiles` of them for operands and `score_tiles` of them for scores.
#[derive(Clone, Copy)]
struct BlockTiles {
    rows: u32,
    bytes: u32,
    operand_tiles: u32,
    score_tiles: u32,
}

impl BlockTiles {
    fn new(dtype: DType, small: bool, operand_tiles: u32, score_tiles: u32) -> Self {
        let (rows, bytes) = match dtype {
            DType::F64 => (32, 8),
            _ if small => (32, 4),
            _ => (64, 4),
        };
        Self { rows, bytes, operand_tiles, score_tiles }
    }

    /// Returns the number of threads along each side of a block, which is a square of threads.
    fn threads_per_side(self) -> u32 {
        self.rows / 4
    }

    /// Returns the shared memory of a block in bytes, for rows of `columns` elements.
    fn shared_memory_bytes(self, columns: u32) -> u32 {
        let vector = 16 / self.bytes;
        let pitch = columns.next_multiple_of(self.threads_per_side()) + vector;
        self.rows * self.bytes * (self.operand_tiles * pitch + self.score_tiles * (self.rows + vector))
    }
}

/// Returns the type that products of elements are computed in.
fn product_dtype(dtype: DType) -> DType {
    if dtype == DType::F64 { dtype } else { DType::F32 }
}

#[op_impl(aten::_fused_sdp_choice, CUDA)]
fn fused_sdp_choice(_: ...) -> i64 {
    let fits = AttentionPlan::flash_kernel_supports(query, key, value, attn_mask, dropout_p, enable_gqa)
        && AttentionKernelNames::for_query(query).is_ok_and(|width| {
            let columns = u32::try_from(query.sizes()[3]).unwrap_or(u32::MAX);
            // The backward pass needs the most shared memory, and its kernel can no longer be chosen then.
            let tiles = [
                BlockTiles::new(query.dtype(), false, 2, 1),
                BlockTiles::new(query.dtype(), width.has_small_tiles(), 3, 2),
            ];
            let plain = || tiles.iter().map(|tiles| tiles.shared_memory_bytes(columns)).max().unwrap_or(0);
            let needed = FlashKernels::for_query(query).map_or_else(plain, |flash| flash.shared_memory_bytes());
            Launch::on_device_of(query).is_ok_and(|launch| needed <= launch.max_shared_memory())
        });
    if fits { AttentionPlan::CHOICE_FLASH } else { AttentionPlan::CHOICE_MATH }
}

define_parameters! {
    /// The kernels' `struct StridedHeads`: the address and strides of an operand.
    #[derive(Default)]
    struct StridedHeads {
        address: DevicePointer,
        strides: [i64; 4],
    }
}

define_parameters! {
    /// The kernels' `struct AttentionTask`: the operands and sizes of an attention call.
    #[derive(Default)]
    pub(crate) struct AttentionTask {
        query: StridedHeads,
        key: StridedHeads,
        value: StridedHeads,
        mask: StridedHeads,
        out: StridedHeads,
        grad: StridedHeads,
        gradients: [StridedHeads; 3],
        logsumexps: StridedHeads,
        output_dots: StridedHeads,
        items: u32,
        pub(crate) heads: u32,
        pub(crate) groups: u32,
        pub(crate) rows: u32,
        pub(crate) keys: u32,
        width: u32,
        dtype: i32,
        mask_dtype: i32,
        is_causal: u32,
        scale: f64,
    }
}

/// Returns the address and the strides of a tensor that is broadcast to these sizes: item, head, row and column. A tensor of three
/// dimensions has no columns.
fn broadcast_rows(launch: Launch, tensor: &Tensor, sizes: &[i64]) -> Result<StridedHeads> {
    let mut strides = [0; 4];
    for (stride, own) in strides.iter_mut().zip(broadcast_strides(tensor.geometry(), sizes)) {
        *stride = own;
    }
    Ok(StridedHeads { address: launch.pointer(tensor)?, strides })
}

impl AttentionTask {
    fn new(
        launch: Launch,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        is_causal: bool,
        mask: Option<&Tensor>,
        scale: f64,
    ) -> Result<Self> {
        let own = |tensor: &Tensor| broadcast_rows(launch, tensor, tensor.sizes());
        let size = |tensor: &Tensor, dim: usize| u32::try_from(tensor.sizes()[dim]).unwrap_or(u32::MAX >> 1);
        let products = [query.sizes()[0], query.sizes()[1], query.sizes()[2], key.sizes()[2]];
        Ok(Self {
            query: own(query)?,
            key: own(key)?,
            value: own(value)?,
            mask: mask.map_or(Ok(StridedHeads::default()), |mask| broadcast_rows(launch, mask, &products))?,
            items: size(query, 0),
            heads: size(query, 1),
            groups: size(key, 1),
            rows: size(query, 2),
            keys: size(key, 2),
            width: size(query, 3),
            dtype: query.dtype() as i32,
            mask_dtype: mask.map_or(0, |mask| mask.dtype() as i32),
            is_causal: is_causal.into(),
            scale,
            ..Self::default()
        })
    }

    fn tile_grid(&self, tiles: BlockTiles, sizes: [u32; 2]) -> Grid {
        self.row_tile_grid(sizes, tiles.rows, tiles.threads_per_side() * tiles.threads_per_side())
            .with_shared_memory(tiles.shared_memory_bytes(self.width))
    }

    /// Returns a grid with a block of `threads` threads for each tile of `rows` rows of each head.
    pub(crate) fn row_tile_grid(&self, [count, heads]: [u32; 2], rows: u32, threads: u32) -> Grid {
        let lines = u64::from(heads).saturating_mul(self.items.into());
        Grid::from_block_count(lines.saturating_mul(count.div_ceil(rows).into()), threads)
    }
}

#[op_impl(aten::_scaled_dot_product_flash_attention_for_cpu, CUDA)]
fn attention(plan: &AttentionPlan, [output, sums]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let width = AttentionKernelNames::for_query(query)?;
    let launch = Launch::on_device_of(output)?;
    let mut task = AttentionTask::new(launch, query, key, value, is_causal, attn_mask, plan.scale)?;
    task.out = broadcast_rows(launch, output, output.sizes())?;
    task.logsumexps = broadcast_rows(launch, sums, sums.sizes())?;
    if let Some(flash) = FlashKernels::for_query(query) {
        return Ok(flash.launch_forward(launch, &task)?);
    }
    let grid = task.tile_grid(BlockTiles::new(query.dtype(), false, 2, 1), [task.rows, task.heads]);
    Ok(launch.run(&ATTENTION_KERNEL, width.forward, &[product_dtype(query.dtype())], grid, (task,))?)
}

#[op_impl(aten::_scaled_dot_product_flash_attention_for_cpu_backward, CUDA)]
fn attention_backward(
    plan: &AttentionPlan,
    [grad_query, grad_key, grad_value]: [&mut Tensor; 3],
    _: ...
) -> Result<()> {
    let (width, dtype) = (AttentionKernelNames::for_query(query)?, query.dtype());
    let launch = Launch::on_device_of(query)?;
    let output_dots = Spec::contiguous(logsumexp.dtype(), logsumexp.sizes()).on(query.device())?;
    let own = |tensor: &Tensor| broadcast_rows(launch, tensor, tensor.sizes());
    let mut task = AttentionTask::new(launch, query, key, value, is_causal, attn_mask, plan.scale)?;
    (task.out, task.grad, task.logsumexps, task.output_dots) =
        (own(out)?, own(grad_out)?, own(logsumexp)?, own(&output_dots)?);
    task.gradients = [own(grad_query)?, own(grad_key)?, own(grad_value)?];
    let queries = logsumexp.geometry().count().unsigned_abs();
    launch.run(
        &ATTENTION_KERNEL,
        "output_dot_gradient",
        &[product_dtype(dtype)],
        Grid::from_block_count(queries.div_ceil(8), 256),
        (task,),
    )?;
    if let Some(flash) = FlashKernels::for_query(query) {
        return Ok(flash.launch_backward(launch, &task)?);
    }
    let tiles = |score_tiles: u32| BlockTiles::new(dtype, width.has_small_tiles(), 3, score_tiles);
    let grid = task.tile_grid(tiles(1), [task.rows, task.heads]);
    launch.run(&ATTENTION_KERNEL, width.query_gradients, &[product_dtype(dtype)], grid, (task,))?;
    let grid = task.tile_grid(tiles(2), [task.keys, task.groups]);
    Ok(launch.run(&ATTENTION_KERNEL, width.key_value_gradients, &[product_dtype(dtype)], grid, (task,))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fit_into_the_shared_memory_of_supported_devices() {
        for dtype in [DType::F32, DType::F64] {
            for width in
                KERNEL_NAMES_BY_WIDTH.iter().filter(|width| dtype == DType::F32 || width.columns <= MAX_F64_COLUMNS)
            {
                let columns = u32::try_from(width.columns).unwrap();
                for tiles in
                    [BlockTiles::new(dtype, false, 2, 1), BlockTiles::new(dtype, width.has_small_tiles(), 3, 2)]
                {
                    assert!(tiles.shared_memory_bytes(columns) <= 163 << 10, "{dtype}, {columns} columns");
                }
            }
        }
        assert_eq!(BlockTiles::new(DType::F32, false, 2, 1).shared_memory_bytes(64), 64 * 4 * (2 * 68 + 68));
    }
}
