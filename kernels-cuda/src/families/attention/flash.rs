//! Flash attention: half-precision attention on tensor cores.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::error::CudaError;
use crate::families::attention::AttentionTask;
use crate::prelude::*;

kernel! {
    // SAFETY: attention.rs gives each side the strides of its own tensor. A thread stays inside of the sizes in `AttentionTask`, and a
    // block's shared memory has the bytes of its tiles.
    static FLASH_KERNEL = unsafe { Kernel::new("flash", include_str!("../../../kernels/attention/flash.cu"), |instances| {
        for width in KERNEL_NAMES_BY_WIDTH {
            for name in [width.forward, width.query_gradients, width.key_value_gradients] {
                instances.add_for_each_dtype(name, &HALF_DTYPES);
            }
        }
    }) };
}

const HALF_DTYPES: [DType; 2] = [DType::F16, DType::BF16];

/// The names of the flash kernels for rows of up to `columns` elements.
#[derive(Clone, Copy)]
struct FlashKernelNames {
    columns: u32,
    forward: &'static str,
    query_gradients: &'static str,
    key_value_gradients: &'static str,
    /// The number of keys in a tile of the forward kernel.
    keys: u32,
}

const KERNEL_NAMES_BY_WIDTH: [FlashKernelNames; 3] = [
    FlashKernelNames {
        columns: 64,
        forward: "attention_64",
        query_gradients: "query_gradients_64",
        key_value_gradients: "key_value_gradients_64",
        keys: 64,
    },
    FlashKernelNames {
        columns: 96,
        forward: "attention_96",
        query_gradients: "query_gradients_96",
        key_value_gradients: "key_value_gradients_96",
        keys: 64,
    },
    FlashKernelNames {
        columns: 128,
        forward: "attention_128",
        query_gradients: "query_gradients_128",
        key_value_gradients: "key_value_gradients_128",
        keys: 32,
    },
];

/// The number of threads of a block, and of its queries in the forward kernel.
const THREADS_PER_BLOCK: u32 = 128;
const QUERIES_PER_FORWARD_BLOCK: u32 = 128;

/// The number of rows that a block computes gradients of, and the number of other rows in a tile.
const ROWS_PER_BACKWARD_BLOCK: u32 = 64;
const ROWS_PER_BACKWARD_TILE: u32 = 32;

/// The flash kernels for a dtype and a width of rows.
pub(crate) struct FlashKernels {
    dtype: DType,
    width: FlashKernelNames,
}

impl FlashKernels {
    /// Returns the kernels for these queries, or `None` if there are none for the dtype or the width.
    pub(crate) fn for_query(query: &Tensor) -> Option<Self> {
        let (dtype, columns) = (query.dtype(), query.sizes()[3]);
        let width = KERNEL_NAMES_BY_WIDTH.into_iter().find(|width| columns <= width.columns.into());
        width.filter(|_| HALF_DTYPES.contains(&dtype)).map(|width| Self { dtype, width })
    }

    /// Returns the shared memory of `rows` rows in bytes, each padded by eight elements.
    fn padded_row_bytes(&self, rows: u32) -> u32 {
        rows * (self.width.columns + 8) * 2
    }

    /// Returns the shared memory of the forward kernel: queries, a tile of keys and a tile of values.
    fn forward_shared_memory_bytes(&self) -> u32 {
        self.padded_row_bytes(QUERIES_PER_FORWARD_BLOCK + 2 * self.width.keys)
    }

    /// Returns the shared memory of a backward kernel: the block's rows of two operands, and the current and the next tile of two others.
    fn backward_shared_memory_bytes(&self) -> u32 {
        self.padded_row_bytes(2 * ROWS_PER_BACKWARD_BLOCK + 4 * ROWS_PER_BACKWARD_TILE)
    }

    /// Returns the larger of the forward and the backward kernels' shared memory.
    pub(crate) fn shared_memory_bytes(&self) -> u32 {
        self.forward_shared_memory_bytes().max(self.backward_shared_memory_bytes())
    }

    pub(crate) fn launch_forward(&self, launch: Launch, task: &AttentionTask) -> Result<(), CudaError> {
        let grid = task.row_tile_grid([task.rows, task.heads], QUERIES_PER_FORWARD_BLOCK, THREADS_PER_BLOCK);
        launch.run(
            &FLASH_KERNEL,
            self.width.forward,
            &[self.dtype],
            grid.with_shared_memory(self.forward_shared_memory_bytes()),
            (*task,),
        )
    }

    pub(crate) fn launch_backward(&self, launch: Launch, task: &AttentionTask) -> Result<(), CudaError> {
        for (template, count, heads) in [
            (self.width.query_gradients, task.rows, task.heads),
            (self.width.key_value_gradients, task.keys, task.groups),
        ] {
            let grid = task.row_tile_grid([count, heads], ROWS_PER_BACKWARD_BLOCK, THREADS_PER_BLOCK);
            launch.run(
                &FLASH_KERNEL,
                template,
                &[self.dtype],
                grid.with_shared_memory(self.backward_shared_memory_bytes()),
                (*task,),
            )?;
        }
        Ok(())
    }
}
