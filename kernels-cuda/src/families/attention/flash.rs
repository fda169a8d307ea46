//! Flash attention: half-precision attention on tensor cores.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::error::CudaError;
use crate::families::attention::Task;
use crate::prelude::*;

kernel! {
    // SAFETY: attention.rs gives each side the strides of its own tensor. A thread stays inside of the sizes in `Task`, and a block's
    // shared memory has the bytes of its tiles.
    static FLASH = unsafe { Kernel::new("flash", include_str!("../../../kernels/attention/flash.cu"), |instances| {
        for width in WIDTHS {
            for name in [width.attend, width.to_queries, width.to_keys] {
                instances.each(name, &HALVES);
            }
        }
    }) };
}

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// The names of the kernels for rows of up to `columns` elements.
#[derive(Clone, Copy)]
struct Width {
    columns: u32,
    attend: &'static str,
    to_queries: &'static str,
    to_keys: &'static str,
    /// The number of keys in a tile of the forward kernel.
    keys: u32,
}

const WIDTHS: [Width; 3] = [
    Width { columns: 64, attend: "attend_64", to_queries: "to_queries_64", to_keys: "to_keys_64", keys: 64 },
    Width { columns: 96, attend: "attend_96", to_queries: "to_queries_96", to_keys: "to_keys_96", keys: 64 },
    Width { columns: 128, attend: "attend_128", to_queries: "to_queries_128", to_keys: "to_keys_128", keys: 32 },
];

/// The number of threads of a block, and of its queries in the forward kernel.
const THREADS: u32 = 128;
const QUERIES: u32 = 128;

/// The number of rows that a block computes gradients of, and the number of other rows in a tile.
const ROWS: u32 = 64;
const OTHERS: u32 = 32;

/// The flash kernels for a dtype and a width of rows.
pub(crate) struct Flash {
    dtype: DType,
    width: Width,
}

impl Flash {
    /// Returns the kernels for these queries, or `None` if there are none for the dtype or the width.
    pub(crate) fn of(query: &Tensor) -> Option<Self> {
        let (dtype, columns) = (query.dtype(), query.sizes()[3]);
        let width = WIDTHS.into_iter().find(|width| columns <= width.columns.into());
        width.filter(|_| HALVES.contains(&dtype)).map(|width| Self { dtype, width })
    }

    /// Returns the shared memory of `rows` rows in bytes, each padded by eight elements.
    fn sharing(&self, rows: u32) -> u32 {
        rows * (self.width.columns + 8) * 2
    }

    /// Returns the shared memory of the forward kernel: queries, a tile of keys and a tile of values.
    fn for_results(&self) -> u32 {
        self.sharing(QUERIES + 2 * self.width.keys)
    }

    /// Returns the shared memory of a backward kernel: the block's rows of two operands, and the current and the next tile of two others.
    fn for_gradients(&self) -> u32 {
        self.sharing(2 * ROWS + 4 * OTHERS)
    }

    /// Returns the larger of the forward and the backward kernels' shared memory.
    pub(crate) fn shared(&self) -> u32 {
        self.for_results().max(self.for_gradients())
    }

    pub(crate) fn attend(&self, launch: Launch, task: &Task) -> Result<(), CudaError> {
        let grid = task.grid_of([task.rows, task.heads], QUERIES, THREADS);
        launch.run(&FLASH, self.width.attend, &[self.dtype], grid.sharing(self.for_results()), (*task,))
    }

    pub(crate) fn gradients(&self, launch: Launch, task: &Task) -> Result<(), CudaError> {
        for (template, count, heads) in
            [(self.width.to_queries, task.rows, task.heads), (self.width.to_keys, task.keys, task.groups)]
        {
            let grid = task.grid_of([count, heads], ROWS, THREADS);
            launch.run(&FLASH, template, &[self.dtype], grid.sharing(self.for_gradients()), (*task,))?;
        }
        Ok(())
    }
}
