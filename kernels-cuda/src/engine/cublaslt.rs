//! Matrix products by cuBLASLt, if the library is installed.
//!
//! The library's matrices are column-major, and these are row-major. So it computes the transposed result, with the operands in the
//! opposite order. A problem's descriptions and its best algorithm are prepared once; later calls find them by the problem's sizes and
//! layouts.
#![expect(unsafe_code, reason = "functions of cuBLASLt")]

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

use cudarc::cublaslt::sys;
use dispatch_runtime::{DType, Geometry, Result, Scalar, Spec, Tensor};

use crate::engine::gemm::{MatrixOperand, MatrixView, ProductTask};
use crate::error::CudaError;
use crate::launch::{DevicePointer, Launch};
use crate::lock::lock_ignoring_poison;

static ALLOW_TF32: AtomicBool = AtomicBool::new(false);

/// Sets whether matrix products of single precision may round their operands to ten bits of fraction (TF32), which is several times as
/// fast. The default is false, as in PyTorch.
///
/// ```
/// kernels_cuda::allow_tf32(true);
/// # kernels_cuda::allow_tf32(false);
/// ```
pub fn allow_tf32(allow: bool) {
    ALLOW_TF32.store(allow, Ordering::Relaxed);
}

/// A matrix layout as cuBLASLt describes it: whether the matrix is transposed, and the strides between its rows and between items of a
/// batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct MatrixLayout {
    is_transposed: bool,
    leading_dimension: i64,
    batch_stride: i64,
}

impl MatrixLayout {
    /// Returns the layout of a batch of matrices, or `None` if neither the rows nor the columns are adjacent in memory.
    fn from_view(view: &MatrixView) -> Option<Self> {
        let ([_, rows, columns], [item, down, across]) = (view.sizes, view.strides);
        // A stride does not matter for a single element, nor for a single line.
        let leading_dimension_of = |step: i64, length: i64, next: i64, lines: i64| {
            ((step == 1 || length == 1) && (next >= length || lines == 1)).then_some(if lines == 1 {
                length
            } else {
                next
            })
        };
        if let Some(leading_dimension) = leading_dimension_of(across, columns, down, rows) {
            return Some(Self { is_transposed: false, leading_dimension, batch_stride: item });
        }
        leading_dimension_of(down, rows, across, columns).map(|leading_dimension| Self {
            is_transposed: true,
            leading_dimension,
            batch_stride: item,
        })
    }

    /// Returns the layout of a batch of matrices whose rows are adjacent in memory, or `None`.
    fn row_major_from_view(view: &MatrixView) -> Option<Self> {
        Self::from_view(view).filter(|layout| !layout.is_transposed)
    }
}

/// The operand that a product is added to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum AddedOperand {
    Nothing,
    /// The operand is one row, which is added to each row of the product (a bias).
    Row,
    Matrix(MatrixLayout),
}

/// The properties of a product that determine its algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct AlgorithmKey {
    device: u8,
    dtype: DType,
    items: i64,
    rows: i64,
    columns: i64,
    steps: i64,
    left: MatrixLayout,
    right: MatrixLayout,
    out: MatrixLayout,
    added: AddedOperand,
    tf32: bool,
    /// The alignments of left, right, added and out in bytes.
    alignments: [u32; 4],
}

impl AlgorithmKey {
    fn from_task(task: &ProductTask<'_>, tf32: bool) -> Option<Self> {
        let [items, rows, columns] = task.out.view.sizes;
        let dtype = task.out.tensor.dtype();
        if !matches!(dtype, DType::F32 | DType::F64 | DType::F16 | DType::BF16) || i32::try_from(items).is_err() {
            return None;
        }
        let added = match &task.added {
            None => AddedOperand::Nothing,
            Some((added, beta)) => {
                let [item, down, across] = added.view.strides;
                let one = beta.to_f64() == Some(1.0);
                if one && dtype != DType::F64 && item == 0 && down == 0 && (across == 1 || columns == 1) {
                    AddedOperand::Row
                } else {
                    // An operand whose rows are not adjacent in memory is first copied into the result.
                    AddedOperand::Matrix(
                        MatrixLayout::row_major_from_view(&added.view)
                            .or_else(|| MatrixLayout::row_major_from_view(&task.out.view))?,
                    )
                }
            }
        };
        Some(Self {
            device: 0,
            dtype,
            items,
            rows,
            columns,
            steps: task.left.view.sizes[2],
            left: MatrixLayout::from_view(&task.left.view)?,
            right: MatrixLayout::from_view(&task.right.view)?,
            out: MatrixLayout::row_major_from_view(&task.out.view)?,
            added,
            tf32: tf32 && dtype == DType::F32,
            alignments: [0; 4],
        })
    }

    fn cublas_types(&self) -> (sys::cudaDataType, sys::cudaDataType, sys::cublasComputeType_t) {
        use sys::cublasComputeType_t as compute;
        use sys::cudaDataType as data;
        match self.dtype {
            DType::F64 => (data::CUDA_R_64F, data::CUDA_R_64F, compute::CUBLAS_COMPUTE_64F),
            DType::F16 => (data::CUDA_R_16F, data::CUDA_R_32F, compute::CUBLAS_COMPUTE_32F),
            DType::BF16 => (data::CUDA_R_16BF, data::CUDA_R_32F, compute::CUBLAS_COMPUTE_32F),
            _ if self.tf32 => (data::CUDA_R_32F, data::CUDA_R_32F, compute::CUBLAS_COMPUTE_32F_FAST_TF32),
            _ => (data::CUDA_R_32F, data::CUDA_R_32F, compute::CUBLAS_COMPUTE_32F),
        }
    }
}

/// The algorithm for a matrix product, and cuBLASLt's descriptions of the product, which are never destroyed.
#[derive(Clone, Copy)]
struct PreparedProduct {
    product: usize,
    /// The layouts of the operands in cuBLASLt's order: right, left, added and out.
    layouts: [usize; 4],
    algorithm: sys::cublasLtMatmulAlgo_t,
    /// The size of the algorithm's workspace in bytes.
    workspace: i64,
}

/// The maximum size of a workspace in bytes.
const MAX_WORKSPACE_BYTES: usize = 32 << 20;

#[derive(Default)]
struct CublasLt {
    handles: HashMap<u8, usize>,
    /// The products that were prepared so far. `None` if cuBLASLt has no algorithm for a product.
    prepared: HashMap<AlgorithmKey, Option<PreparedProduct>>,
}

static CUBLASLT: LazyLock<Option<Mutex<CublasLt>>> = LazyLock::new(|| {
    // SAFETY: it loads cuBLASLt's library, whose initialisers may be run.
    unsafe { sys::is_culib_present() }.then(Mutex::default)
});

/// Calls a function of cuBLASLt. An error has the function's name.
macro_rules! call_cublaslt {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: handles and descriptions come from this library and are never destroyed; the library writes only to variables of this
        // module, of the stated size; matrices are at the addresses of a task's operands, which `MatrixLayout` described.
        match unsafe { sys::$function($($argument),*) } {
            sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
            status => Err(CudaError::Driver { call: stringify!($function), message: format!("{status:?}") }),
        }
    }};
}

/// Sets an attribute of one of cuBLASLt's descriptions.
macro_rules! set_cublaslt_attribute {
    ($function:ident, $of:expr, $attribute:expr, $value:expr) => {{
        let value = $value;
        call_cublaslt!($function($of, $attribute, (&raw const value).cast::<c_void>(), size_of_val(&value)))
    }};
}

/// Computes a matrix product with cuBLASLt. Returns false, and computes nothing, if there is no library or if it cannot compute the
/// product.
pub(crate) fn try_multiply(launch: Launch, task: &ProductTask<'_>) -> Result<bool> {
    let Some(library) = (if launch.gpu.driver.supports_vendor_libraries() { CUBLASLT.as_ref() } else { None }) else {
        return Ok(false);
    };
    if task.out.view.strides[2] != 1 && task.out.view.strides[1] == 1 {
        return try_multiply_row_major(launch, library, &task.transposed());
    }
    try_multiply_row_major(launch, library, task)
}

fn try_multiply_row_major(launch: Launch, library: &Mutex<CublasLt>, task: &ProductTask<'_>) -> Result<bool> {
    let Some(mut problem) = AlgorithmKey::from_task(task, ALLOW_TF32.load(Ordering::Relaxed)) else { return Ok(false) };
    let [left, right, out] = [&task.left, &task.right, &task.out].map(|operand| launch.pointer(operand.tensor));
    let (left, right, out) = (left?, right?, out?);
    let mut added = task.added.as_ref().map_or(Ok(out), |(added, _)| launch.pointer(added.tensor))?;
    let is_not_row_major = |added: &MatrixOperand<'_>| MatrixLayout::row_major_from_view(&added.view).is_none();
    let copied_operand = task
        .added
        .as_ref()
        .filter(|(added, _)| matches!(problem.added, AddedOperand::Matrix(_)) && is_not_row_major(added));
    if copied_operand.is_some() {
        added = out;
    }
    problem.device = launch.gpu.index;
    // An added row is the bias of the library's epilogue, which is read when the result is written.
    let (read, written) = if problem.added == AddedOperand::Row {
        (out, address_alignment(out).min(address_alignment(added)))
    } else {
        (added, address_alignment(out))
    };
    problem.alignments = [address_alignment(left), address_alignment(right), address_alignment(read), written];

    let mut library = lock_ignoring_poison(library);
    launch.gpu.driver.make_current()?;
    let handle = library.device_handle(launch.gpu.index)?;
    let known = library.prepared.get(&problem).copied();
    let Some(prepared) = known.map_or_else(|| library.prepare_product(handle, problem), Ok)? else { return Ok(false) };
    let workspace = Spec::contiguous(DType::U8, &[prepared.workspace]).on(launch.device())?;
    if let Some((from, _)) = copied_operand {
        crate::engine::transfer::copy_into(&mut operand_as_tensor(&task.out)?, &operand_as_tensor(from)?)?;
    }
    let product = prepared.product as sys::cublasLtMatmulDesc_t;
    if problem.added == AddedOperand::Row {
        let attribute = sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_BIAS_POINTER;
        set_cublaslt_attribute!(cublasLtMatmulDescSetAttribute, product, attribute, added.address())?;
        added = out;
    }
    let beta = match (problem.added, &task.added) {
        (AddedOperand::Matrix(_), Some((_, beta))) => *beta,
        _ => Scalar::Int(0),
    };
    let (alpha, beta) = (ScaleFactor::new(task.alpha, problem.dtype), ScaleFactor::new(beta, problem.dtype));
    let layout = |at: usize| prepared.layouts[at] as sys::cublasLtMatrixLayout_t;
    let pointer = |address: DevicePointer| address.address() as *mut c_void;
    let multiplied = call_cublaslt!(cublasLtMatmul(
        handle as sys::cublasLtHandle_t,
        product,
        alpha.value_pointer(),
        pointer(right),
        layout(0),
        pointer(left),
        layout(1),
        beta.value_pointer(),
        pointer(added),
        layout(2),
        pointer(out),
        layout(3),
        &raw const prepared.algorithm,
        pointer(launch.pointer(&workspace)?),
        workspace.storage().size(),
        launch.stream as sys::cudaStream_t,
    ));
    match multiplied {
        // cuBLASLt may refuse the algorithm that it selected for a product.
        Err(CudaError::Driver { message, .. }) if REFUSED_STATUSES.contains(&message.as_str()) => {
            library.prepared.insert(problem, None);
            Ok(false)
        }
        other => Ok(other.map(|()| true)?),
    }
}

/// The errors of cuBLASLt for a product that it cannot compute, and has not begun.
const REFUSED_STATUSES: [&str; 2] = ["CUBLAS_STATUS_NOT_SUPPORTED", "CUBLAS_STATUS_INVALID_VALUE"];

/// Returns the alignment of an address in bytes, at most 256.
fn address_alignment(address: DevicePointer) -> u32 {
    1 << address.address().trailing_zeros().min(8)
}

/// Returns an operand as a tensor: a batch of matrices.
fn operand_as_tensor(operand: &MatrixOperand<'_>) -> Result<Tensor> {
    let (view, own) = (operand.view, operand.tensor.geometry());
    let geometry = Geometry::strided(&view.sizes, &view.strides, own.offset());
    Ok(operand.tensor.restride(geometry.unwrap_or_else(|| own.clone()))?)
}

/// A factor of a product, in the type that the product is accumulated in.
enum ScaleFactor {
    Single(f32),
    Double(f64),
}

impl ScaleFactor {
    #[expect(clippy::cast_possible_truncation, reason = "sums of single precision are scaled in single precision")]
    fn new(factor: Scalar, dtype: DType) -> Self {
        let factor = factor.to_f64().unwrap_or(f64::NAN);
        if dtype == DType::F64 { Self::Double(factor) } else { Self::Single(factor as f32) }
    }

    fn value_pointer(&self) -> *const c_void {
        match self {
            Self::Single(factor) => (&raw const *factor).cast(),
            Self::Double(factor) => (&raw const *factor).cast(),
        }
    }
}

impl CublasLt {
    fn device_handle(&mut self, device: u8) -> Result<usize, CudaError> {
        if let Some(handle) = self.handles.get(&device) {
            return Ok(*handle);
        }
        let mut handle = std::ptr::null_mut();
        call_cublaslt!(cublasLtCreate(&raw mut handle))?;
        self.handles.insert(device, handle.addr());
        Ok(handle.addr())
    }

    /// Selects an algorithm for a product that was not prepared yet, and caches it.
    fn prepare_product(&mut self, handle: usize, problem: AlgorithmKey) -> Result<Option<PreparedProduct>, CudaError> {
        let made = select_algorithm(handle, &problem)?;
        self.prepared.insert(problem, made);
        Ok(made)
    }
}

/// Describes a product to cuBLASLt and selects an algorithm. Returns `None` if there is none.
fn select_algorithm(handle: usize, problem: &AlgorithmKey) -> Result<Option<PreparedProduct>, CudaError> {
    use sys::cublasLtMatmulDescAttributes_t as of_product;
    use sys::cublasLtMatmulPreferenceAttributes_t as preferred;
    let (data, scale, compute) = problem.cublas_types();
    let mut product = std::ptr::null_mut();
    call_cublaslt!(cublasLtMatmulDescCreate(&raw mut product, compute, scale))?;
    // `CUBLAS_OP_N` and `CUBLAS_OP_T`.
    let is_transposed = |layout: MatrixLayout| i32::from(layout.is_transposed);
    set_cublaslt_attribute!(
        cublasLtMatmulDescSetAttribute,
        product,
        of_product::CUBLASLT_MATMUL_DESC_TRANSA,
        is_transposed(problem.right)
    )?;
    set_cublaslt_attribute!(
        cublasLtMatmulDescSetAttribute,
        product,
        of_product::CUBLASLT_MATMUL_DESC_TRANSB,
        is_transposed(problem.left)
    )?;
    if problem.added == AddedOperand::Row {
        let epilogue = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS as u32;
        set_cublaslt_attribute!(
            cublasLtMatmulDescSetAttribute,
            product,
            of_product::CUBLASLT_MATMUL_DESC_EPILOGUE,
            epilogue
        )?;
    }
    let added = if let AddedOperand::Matrix(layout) = problem.added { layout } else { problem.out };
    let layouts = [
        create_layout(data, problem.right, [problem.steps, problem.columns], problem.items)?,
        create_layout(data, problem.left, [problem.rows, problem.steps], problem.items)?,
        create_layout(data, added, [problem.rows, problem.columns], problem.items)?,
        create_layout(data, problem.out, [problem.rows, problem.columns], problem.items)?,
    ];

    let mut preference = std::ptr::null_mut();
    call_cublaslt!(cublasLtMatmulPreferenceCreate(&raw mut preference))?;
    let workspace = preferred::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
    set_cublaslt_attribute!(cublasLtMatmulPreferenceSetAttribute, preference, workspace, MAX_WORKSPACE_BYTES as u64)?;
    let [left, right, added, out] = problem.alignments;
    for (attribute, alignment) in [
        (preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, right),
        (preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, left),
        (preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, added),
        (preferred::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, out),
    ] {
        set_cublaslt_attribute!(cublasLtMatmulPreferenceSetAttribute, preference, attribute, alignment)?;
    }
    let [a, b, c, d] = layouts.map(|layout| layout as sys::cublasLtMatrixLayout_t);
    let (mut found, mut count) = (std::mem::MaybeUninit::<sys::cublasLtMatmulHeuristicResult_t>::zeroed(), 0);
    let status = call_cublaslt!(cublasLtMatmulAlgoGetHeuristic(
        handle as sys::cublasLtHandle_t,
        product,
        a,
        b,
        c,
        d,
        preference,
        1,
        found.as_mut_ptr(),
        &raw mut count,
    ));
    call_cublaslt!(cublasLtMatmulPreferenceDestroy(preference))?;
    if status.is_err() || count < 1 {
        return Ok(None);
    }
    // SAFETY: the library wrote a result.
    let found = unsafe { found.assume_init() };
    let workspace = i64::try_from(found.workspaceSize).unwrap_or(0);
    let prepared = PreparedProduct { product: product.addr(), layouts, algorithm: found.algo, workspace };
    Ok((found.state == sys::cublasStatus_t::CUBLAS_STATUS_SUCCESS).then_some(prepared))
}

/// Creates cuBLASLt's description of a batch of matrices with these rows and columns. For the column-major library, a matrix has its
/// rows and columns exchanged unless it is transposed.
fn create_layout(
    data: sys::cudaDataType,
    layout: MatrixLayout,
    lines: [i64; 2],
    items: i64,
) -> Result<usize, CudaError> {
    use sys::cublasLtMatrixLayoutAttribute_t as of_layout;
    let [rows, columns] = lines.map(i64::unsigned_abs);
    let (down, across) = if layout.is_transposed { (rows, columns) } else { (columns, rows) };
    let mut described = std::ptr::null_mut();
    call_cublaslt!(cublasLtMatrixLayoutCreate(&raw mut described, data, down, across, layout.leading_dimension))?;
    if items > 1 {
        let count = i32::try_from(items).unwrap_or(i32::MAX);
        set_cublaslt_attribute!(
            cublasLtMatrixLayoutSetAttribute,
            described,
            of_layout::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
            count
        )?;
        let offset = of_layout::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
        set_cublaslt_attribute!(cublasLtMatrixLayoutSetAttribute, described, offset, layout.batch_stride)?;
    }
    Ok(described.addr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::Device;

    fn matrix_view(sizes: [i64; 3], steps: [i64; 3]) -> MatrixView {
        MatrixView { sizes, strides: steps }
    }

    fn meta_tensor(sizes: &[i64], strides: &[i64]) -> Tensor {
        let geometry = Geometry::strided(sizes, strides, 0).unwrap();
        Spec { dtype: DType::F32, geometry }.on(Device::META).unwrap()
    }

    #[test]
    fn layouts_follow_from_strides() {
        let found = |sizes, steps| {
            MatrixLayout::from_view(&matrix_view(sizes, steps))
                .map(|layout| (layout.is_transposed, layout.leading_dimension))
        };
        assert_eq!(found([1, 3, 4], [0, 4, 1]), Some((false, 4)));
        assert_eq!(found([1, 3, 4], [0, 10, 1]), Some((false, 10)));
        assert_eq!(found([1, 3, 4], [0, 1, 3]), Some((true, 3)));
        assert_eq!(found([1, 3, 4], [0, 8, 2]), None);
        assert_eq!(found([1, 3, 4], [0, 0, 1]), None, "rows on top of each other");
        assert_eq!(found([1, 1, 4], [0, 0, 1]), Some((false, 4)), "one row has no next");
        assert_eq!(found([1, 3, 1], [0, 5, 7]), Some((false, 5)), "one column has no next");
    }

    #[test]
    fn added_operands_are_a_row_a_matrix_or_copied() {
        let (out, left, right) =
            (meta_tensor(&[2, 3], &[3, 1]), meta_tensor(&[2, 5], &[5, 1]), meta_tensor(&[5, 3], &[1, 5]));
        let of = |added: &Tensor, beta: i64| {
            let view = MatrixView::from_broadcast_tensor(added, &[2, 3]);
            let task = ProductTask {
                out: MatrixOperand::from_tensor(&out),
                left: MatrixOperand::from_tensor(&left),
                right: MatrixOperand::from_tensor(&right),
                alpha: Scalar::Int(1),
                added: Some((MatrixOperand { tensor: added, view }, Scalar::Int(beta))),
            };
            AlgorithmKey::from_task(&task, false).unwrap()
        };
        let (row, matrix, column) =
            (meta_tensor(&[3], &[1]), meta_tensor(&[2, 3], &[6, 1]), meta_tensor(&[2, 1], &[1, 1]));
        assert_eq!(of(&row, 1).added, AddedOperand::Row);
        assert_eq!(
            of(&row, 2).added,
            AddedOperand::Matrix(MatrixLayout { is_transposed: false, leading_dimension: 3, batch_stride: 0 })
        );
        assert_eq!(
            of(&matrix, 1).added,
            AddedOperand::Matrix(MatrixLayout { is_transposed: false, leading_dimension: 6, batch_stride: 0 })
        );
        assert_eq!(
            of(&column, 1).added,
            AddedOperand::Matrix(MatrixLayout { is_transposed: false, leading_dimension: 3, batch_stride: 0 })
        );
        let problem = of(&row, 1);
        assert_eq!((problem.rows, problem.columns, problem.steps), (2, 3, 5));
        assert_eq!(
            (problem.left.is_transposed, problem.right.is_transposed, problem.right.leading_dimension),
            (false, true, 5)
        );
    }
}
