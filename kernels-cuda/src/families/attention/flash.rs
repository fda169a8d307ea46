//! Attention of halves, on tensor cores.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::error::CudaError;
use crate::families::attention::Task;
use crate::prelude::*;

kernel! {
    // SAFETY: attention.rs gives each side the steps of its own tensor. A thread goes no further than the sizes in `Task`, and a block
    // shares the bytes that its tiles take.
    static FLASH = unsafe { Kernel::new("flash", include_str!("../../../kernels/attention/flash.cu"), |instances| {
        for width in WIDTHS {
            for name in [width.attend, width.to_queries, width.to_keys] {
                instances.each(name, &HALVES);
            }
        }
    }) };
}

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// The kernels for rows of up to so many columns.
#[derive(Clone, Copy)]
struct Width {
    columns: u32,
    attend: &'static str,
    to_queries: &'static str,
    to_keys: &'static str,
    /// How many keys a block of queries meets at a time.
    keys: u32,
}

const WIDTHS: [Width; 3] = [
    Width { columns: 64, attend: "attend_64", to_queries: "to_queries_64", to_keys: "to_keys_64", keys: 64 },
    Width { columns: 96, attend: "attend_96", to_queries: "to_queries_96", to_keys: "to_keys_96", keys: 64 },
    Width { columns: 128, attend: "attend_128", to_queries: "to_queries_128", to_keys: "to_keys_128", keys: 32 },
];

/// Threads of a block, and its queries.
const THREADS: u32 = 128;
const QUERIES: u32 = 128;

/// How many rows a block has the gradients of, and how many others it meets at a time.
const ROWS: u32 = 64;
const OTHERS: u32 = 32;

/// The kernels for a tensor.
pub(crate) struct Flash {
    dtype: DType,
    width: Width,
}

impl Flash {
    /// Those for these queries, or none where there are none.
    pub(crate) fn of(query: &Tensor) -> Option<Self> {
        let (dtype, columns) = (query.dtype(), query.sizes()[3]);
        let width = WIDTHS.into_iter().find(|width| columns <= width.columns.into());
        width.filter(|_| HALVES.contains(&dtype)).map(|width| Self { dtype, width })
    }

    /// Shared memory for so many rows, each with eight elements more than it has.
    fn sharing(&self, rows: u32) -> u32 {
        rows * (self.width.columns + 8) * 2
    }

    /// Shared memory for queries and a tile of keys and one of values.
    fn for_results(&self) -> u32 {
        self.sharing(QUERIES + 2 * self.width.keys)
    }

    /// Shared memory for a block's own rows of two sides, and of two others this tile and the next one.
    fn for_gradients(&self) -> u32 {
        self.sharing(2 * ROWS + 4 * OTHERS)
    }

    /// The most memory that a block shares.
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
