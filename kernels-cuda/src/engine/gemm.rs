//! Matrix products of strided operands: `out = alpha left right + beta added`.
//!
//! One of three methods is chosen: kernels for a matrix times a vector, which is bound by memory; cuBLASLt, if it is installed and supports
//! the layouts; and otherwise this crate's tiled kernels.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::broadcast_strides;

use crate::engine::cublaslt;
use crate::engine::scalars::encode_scalar;
use crate::prelude::*;

/// The dtypes whose products are accumulated in single precision.
const F32_ACCUMULATED_DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

kernel! {
    // SAFETY: each operand comes with the strides of its own tensor through items, rows and columns, and `parts` has a matrix for each
    // portion.
    static GEMM_KERNEL = unsafe { Kernel::new("gemm", include_str!("../../kernels/engine/gemm.cu"), |instances| {
        instances.add_for_each_dtype("tiled_product_128", &F32_ACCUMULATED_DTYPES);
        instances.add_templates_for_each_dtype(&["tiled_product_64", "sum_portions", "matrix_vector_by_rows", "matrix_vector_by_columns"], &NUMERIC_DTYPES);
    }) };
}

/// A tensor viewed as a batch of matrices: the sizes of items, rows and columns, and the strides between them in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MatrixView {
    pub(crate) sizes: [i64; 3],
    pub(crate) strides: [i64; 3],
}

impl MatrixView {
    /// Views a tensor as a batch of matrices. A vector becomes one column, and a scalar one element.
    pub(crate) fn from_tensor(tensor: &Tensor) -> Self {
        Self::from_broadcast_tensor(tensor, tensor.sizes())
    }

    /// Views a tensor, broadcast to these sizes, as a batch of matrices.
    pub(crate) fn from_broadcast_tensor(tensor: &Tensor, sizes: &[i64]) -> Self {
        let strides = broadcast_strides(tensor.geometry(), sizes);
        match (sizes, &strides[..]) {
            (&[items, rows, columns], &[next, down, across]) => {
                Self { sizes: [items, rows, columns], strides: [next, down, across] }
            }
            (&[rows, columns], &[down, across]) => Self { sizes: [1, rows, columns], strides: [0, down, across] },
            (&[rows], &[down]) => Self { sizes: [1, rows, 1], strides: [0, down, 0] },
            _ => Self { sizes: [1; 3], strides: [0; 3] },
        }
    }

    #[must_use]
    pub(crate) fn transposed(self) -> Self {
        let ([items, rows, columns], [next, down, across]) = (self.sizes, self.strides);
        Self { sizes: [items, columns, rows], strides: [next, across, down] }
    }
}

/// A CUDA tensor, and its view as a batch of matrices.
#[derive(Clone, Copy)]
pub(crate) struct MatrixOperand<'a> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) view: MatrixView,
}

impl<'a> MatrixOperand<'a> {
    pub(crate) fn from_tensor(tensor: &'a Tensor) -> Self {
        Self { tensor, view: MatrixView::from_tensor(tensor) }
    }

    #[must_use]
    pub(crate) fn transposed(self) -> Self {
        Self { view: self.view.transposed(), ..self }
    }
}

/// The operands of a matrix product. All have the dtype of `out`, and matching numbers of items, rows and columns.
pub(crate) struct ProductTask<'a> {
    pub(crate) out: MatrixOperand<'a>,
    pub(crate) left: MatrixOperand<'a>,
    pub(crate) right: MatrixOperand<'a>,
    pub(crate) alpha: Scalar,
    /// The operand that is added, broadcast to the sizes of `out`, and its factor.
    pub(crate) added: Option<(MatrixOperand<'a>, Scalar)>,
}

impl ProductTask<'_> {
    /// Returns the task of the transposed product.
    pub(crate) fn transposed(&self) -> Self {
        Self {
            out: self.out.transposed(),
            left: self.right.transposed(),
            right: self.left.transposed(),
            alpha: self.alpha,
            added: self.added.map(|(added, beta)| (added.transposed(), beta)),
        }
    }
}

define_parameters! {
    /// The kernels' `struct MatrixBatch`: the address and the strides of a batch of matrices.
    struct MatrixBatch {
        address: DevicePointer,
        strides: [i64; 3],
    }

    /// The kernels' `struct ProductTask`: the operands and sizes of a product.
    struct ProductParameter {
        items: i64,
        rows: i64,
        columns: i64,
        /// The size of the inner dimension.
        steps: i64,
        left: MatrixBatch,
        right: MatrixBatch,
        added: MatrixBatch,
        out: MatrixBatch,
        alpha: u64,
        beta: u64,
        parts: DevicePointer,
        portions: u32,
    }
}

/// Returns the type that products of a dtype are accumulated in.
fn accumulation_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F64 | DType::I64 => dtype,
        dtype if dtype.is_floating() => DType::F32,
        _ => DType::I32,
    }
}

/// Computes a matrix product into `task.out`.
pub(crate) fn multiply(task: &ProductTask<'_>) -> Result<()> {
    let ([items, rows, columns], [.., steps]) = (task.out.view.sizes, task.left.view.sizes);
    if items == 0 || rows == 0 || columns == 0 {
        return Ok(());
    }
    if rows == 1 && columns > 1 {
        // A row times a matrix is computed transposed, as a matrix times a column.
        return multiply(&task.transposed());
    }
    let launch = Launch::on_device_of(task.out.tensor)?;
    if columns > 1 && steps > 0 && cublaslt::try_multiply(launch, task)? {
        return Ok(());
    }
    multiply_with_own_kernels(launch, task)
}

/// The division of a product among blocks: the kernel's template, the number of blocks for each portion, and the number of portions of the
/// inner dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ProductDivision {
    template: &'static str,
    blocks: i64,
    portions: i64,
}

impl ProductDivision {
    fn new(task: &ProductTask<'_>, multiprocessors: i64) -> Self {
        let ([items, rows, columns], left) = (task.out.view.sizes, &task.left.view);
        let steps = left.sizes[2];
        let (template, blocks, least) = if columns == 1 {
            if left.strides[1] == 1 && left.strides[2] != 1 && rows > 1 {
                ("matrix_vector_by_columns", items * ((rows - 1) / 32 + 1), 128)
            } else {
                ("matrix_vector_by_rows", (items * rows - 1) / 8 + 1, 4096)
            }
        } else {
            let tiles = |edge: i64| ((rows - 1) / edge + 1) * ((columns - 1) / edge + 1);
            let large =
                F32_ACCUMULATED_DTYPES.contains(&task.out.tensor.dtype()) && items * tiles(128) >= multiprocessors;
            if large { ("tiled_product_128", tiles(128), 512) } else { ("tiled_product_64", tiles(64), 256) }
        };
        // If there are too few blocks for the device, the inner dimension is split among several blocks.
        let busy = if columns == 1 { blocks } else { blocks * items };
        let portions = (2 * multiprocessors / busy.max(1)).min(steps / least).clamp(1, 1 << 12);
        Self { template, blocks, portions }
    }
}

fn multiply_with_own_kernels(launch: Launch, task: &ProductTask<'_>) -> Result<()> {
    let ([items, rows, columns], dtype) = (task.out.view.sizes, task.out.tensor.dtype());
    let matrices = |operand: &MatrixOperand<'_>| {
        Ok::<_, crate::CudaError>(MatrixBatch {
            address: launch.pointer(operand.tensor)?,
            strides: operand.view.strides,
        })
    };
    let division = ProductDivision::new(task, launch.multiprocessors().into());
    let class = accumulation_dtype(dtype);
    let parts = Spec::contiguous(class, &[division.portions, items, rows, columns]);
    let parts = if division.portions > 1 { Some(parts.on(launch.device())?) } else { None };
    let nothing = MatrixBatch { address: DevicePointer::NULL, strides: [0; 3] };
    let portions = u32::try_from(division.portions).unwrap_or(1);
    let product = ProductParameter {
        items,
        rows,
        columns,
        steps: task.left.view.sizes[2],
        left: matrices(&task.left)?,
        right: matrices(&task.right)?,
        added: task.added.as_ref().map_or(Ok(nothing), |(added, _)| matrices(added))?,
        out: matrices(&task.out)?,
        alpha: encode_scalar(task.alpha, class),
        beta: task.added.as_ref().map_or(0, |(_, beta)| encode_scalar(*beta, class)),
        parts: launch.pointer_or_null(parts.as_ref())?,
        portions,
    };
    let deep = if columns == 1 { 1 } else { u32::try_from(items.min(1 << 15)).unwrap_or(1) };
    let [blocks, ..] = Grid::from_block_count(division.blocks.unsigned_abs(), 256).blocks;
    let grid = Grid { blocks: [blocks, portions, deep], threads: [256, 1, 1], shared_memory: 0 };
    launch.run(&GEMM_KERNEL, division.template, &[dtype], grid, (product,))?;
    if parts.is_some() {
        launch.run_per_element(&GEMM_KERNEL, "sum_portions", &[dtype], items * rows * columns, (product,))?;
    }
    Ok(())
}
