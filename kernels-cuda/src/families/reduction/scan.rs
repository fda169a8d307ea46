//! CUDA kernels of scans: `cumsum`, `cumprod`, `logcumsumexp`, `cummax` and `cummin`.
//!
//! A line of adjacent elements is scanned by a warp, by a block, or by many blocks, which first reduce each chunk. If a line's elements are
//! not adjacent, one thread scans it.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::compile::source::Instances;
use crate::engine::scalars::unsupported_dtype;
use crate::prelude::*;

/// The kernel of a scan, and its dtypes.
struct ScanKernel {
    kernel: Kernel,
    /// The dtypes that the scan computes in.
    dtypes: &'static [DType],
}

const FLOATING_AND_I64_DTYPES: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64];

/// Declares scans, in C++: the dtypes, the type of the state, the initial state, the state of one element `x` with the index `at`, the join
/// of the states `a` and then `b`, and the results.
///
/// # Safety
///
/// The expressions compute values from these variables only: they terminate, and access no memory.
macro_rules! define_scans {
    (unsafe { $($name:ident $kernel:literal $dtypes:expr, $state:literal: $begin:literal, $of:literal, $join:literal => $first:literal, $second:literal;)* }) => {$(
        static $name: ScanKernel = ScanKernel {
            // SAFETY: a `ScanKernel` is launched by this file alone, which passes packed tensors with the elements of `ScanShape`. The rest
            // of the text are the expressions, for which the macro's caller vouches with `unsafe`.
            kernel: unsafe {
                Kernel::new(
                    $kernel,
                    concat!(
                        "#include \"folds.cuh\"\ntemplate <class C> struct Scan {\n    typedef ",
                        $state,
                        " State;\n    __device__ __forceinline__ State initial() const { return ",
                        $begin,
                        "; }\n    __device__ __forceinline__ State from_element(C x, i64 at) const { return ",
                        $of,
                        "; }\n    __device__ __forceinline__ State join(State a, State b) const { return ",
                        $join,
                        "; }\n    __device__ __forceinline__ C first(State state) const { return ",
                        $first,
                        "; }\n    __device__ __forceinline__ i64 second(State state) const { return ",
                        $second,
                        "; }\n};\n#include \"scan.cuh\"\n"
                    ),
                    |instances: &mut Instances| {
                        instances.add_templates_for_each_dtype(&["scan_lines", "scan_columns"], $dtypes);
                    },
                )
            },
            dtypes: $dtypes,
        };
        $crate::register_kernel!($name.kernel);
    )*};
}

define_scans!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    SUMS "cumsum" FLOATING_AND_I64_DTYPES, "C": "0", "x", "a + b" => "state", "0";
    PRODUCTS "cumprod" FLOATING_AND_I64_DTYPES, "C": "1", "x", "a * b" => "state", "0";
    EXPONENTIALS "logcumsumexp" &FLOATING_DTYPES, "C": "Limits<C>::min_value()", "x", "logaddexp(a, b)" => "state", "0";
    LARGEST "cummax" FLOATING_AND_I64_DTYPES, "ValueAndIndex<C>": "ValueAndIndex<C>{Limits<C>::min_value(), -1}", "ValueAndIndex<C>{x, at}", "max_with_last_index(a, b)" => "state.value", "state.index";
    SMALLEST "cummin" FLOATING_AND_I64_DTYPES, "ValueAndIndex<C>": "ValueAndIndex<C>{Limits<C>::max_value(), -1}", "ValueAndIndex<C>{x, at}", "min_with_last_index(a, b)" => "state.value", "state.index";
});

define_parameters! {
    /// The kernels' `struct ScanShape`: the lines of a scan and their chunks.
    struct ScanShape {
        length: i64,
        inner: i64,
        lines: i64,
        chunk: i64,
        chunks: u32,
        lanes: u32,
    }
}

const THREADS_PER_BLOCK: u32 = 256;
/// The number of elements that a thread scans at a time.
const ELEMENTS_PER_THREAD: i64 = 4;
/// The maximum size of a state in bytes.
const MAX_STATE_BYTES: i64 = 16;

impl ScanShape {
    fn new(launch: Launch, count: i64, length: i64, inner: i64) -> Self {
        let few = count < i64::from(launch.multiprocessors()) * 2;
        let lanes = if length > 32 * ELEMENTS_PER_THREAD * 8 || few && length > 32 * ELEMENTS_PER_THREAD {
            THREADS_PER_BLOCK
        } else {
            32
        };
        let tile = i64::from(lanes) * ELEMENTS_PER_THREAD;
        // A chunk is long enough for a block, and a line has fewer chunks than a block has threads.
        let wanted =
            if few && lanes == THREADS_PER_BLOCK { i64::from(launch.multiprocessors()) * 2 / count.max(1) } else { 1 };
        let chunks = wanted.min(length / (tile * 4)).clamp(1, i64::from(THREADS_PER_BLOCK) - 1);
        let tiles = (length.max(1) - 1) / (tile * chunks) + 1;
        let chunks = (length.max(1) - 1) / (tile * tiles) + 1;
        Self { length, inner, lines: count, chunk: tiles * tile, chunks: u32::try_from(chunks).unwrap_or(1), lanes }
    }

    fn grid(&self) -> Grid {
        let runs = self.lines.unsigned_abs() * u64::from(self.chunks);
        Grid::from_block_count(runs.div_ceil(u64::from(THREADS_PER_BLOCK / self.lanes)), THREADS_PER_BLOCK)
    }
}

/// Scans along a dimension into one or two tensors: the results and, if requested, their indices.
fn scan_dim<O: Operation>(
    scan: &'static ScanKernel,
    out: &mut Tensor,
    indices: Option<&mut Tensor>,
    this: &Tensor,
    dim: usize,
) -> Result<()> {
    let dtype = out.dtype();
    if dtype.is_complex() || (dtype.is_integral() && !scan.dtypes.contains(&DType::I64)) {
        return Err(unsupported_dtype(O::operator(), "self", dtype, scan.dtypes));
    }
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let computed = if scan.dtypes.contains(&dtype) { dtype } else { DType::I64 };
    let to = if computed == dtype { out.clone() } else { out.allocate_like(computed)? };
    let (length, inner) = (this.sizes().get(dim).copied().unwrap_or(1), this.sizes().iter().skip(dim + 1).product());
    let lines = out.geometry().count() / length;
    let launch = Launch::on_device_of(out)?;
    // If there are too few lines for one thread each, the lines are made contiguous first.
    let together = inner > 1 && length >= 512 && lines < i64::from(launch.multiprocessors()) * 64;
    if together {
        let last = |tensor: &Tensor| move_dim_last(tensor, dim);
        let from = contiguous(&last(this)?, computed)?;
        let (contiguous_out, contiguous_indices) = (
            to.allocate_like(computed)?,
            indices.as_ref().map(|indices| indices.allocate_like(DType::I64)).transpose()?,
        );
        let contiguous_out = contiguous_out.restride(Geometry::contiguous(from.sizes()))?;
        launch_scan(
            scan,
            launch,
            &from,
            &contiguous_out,
            contiguous_indices.as_ref(),
            ScanShape::new(launch, lines, length, 1),
        )?;
        copy_into(&mut last(&to)?, &contiguous_out)?;
        if let (Some(indices), Some(contiguous_out)) = (indices, contiguous_indices) {
            copy_into(&mut last(indices)?, &contiguous_out.restride(Geometry::contiguous(from.sizes()))?)?;
        }
    } else {
        let shape = ScanShape::new(launch, lines, length, inner);
        launch_scan(scan, launch, &contiguous(this, computed)?, &to, indices.as_deref(), shape)?;
    }
    if computed == dtype { Ok(()) } else { copy_into(out, &to) }
}

/// Returns a view of a tensor with dimension `dim` moved to the end.
fn move_dim_last(tensor: &Tensor, dim: usize) -> Result<Tensor> {
    let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
    for list in [&mut sizes, &mut strides] {
        list[dim..].rotate_left(1);
    }
    let geometry = Geometry::strided(&sizes, &strides, tensor.geometry().offset());
    Ok(tensor.restride(geometry.unwrap_or_else(|| tensor.geometry().clone()))?)
}

fn launch_scan(
    scan: &'static ScanKernel,
    launch: Launch,
    this: &Tensor,
    out: &Tensor,
    indices: Option<&Tensor>,
    shape: ScanShape,
) -> Result<()> {
    let dtypes = [out.dtype()];
    if shape.inner > 1 {
        return launch.run_per_element(&scan.kernel, "scan_columns", &dtypes, shape.lines, (this, out, indices, shape));
    }
    if shape.chunks == 1 {
        let arguments = (this, out, indices, DevicePointer::NULL, shape);
        return Ok(launch.run(&scan.kernel, "scan_lines", &dtypes, shape.grid(), arguments)?);
    }
    let bytes = shape.lines * i64::from(shape.chunks) * MAX_STATE_BYTES;
    let partials = Spec::contiguous(DType::U8, &[bytes]).on(out.device())?;
    launch.run(
        &scan.kernel,
        "scan_lines",
        &dtypes,
        shape.grid(),
        (this, DevicePointer::NULL, DevicePointer::NULL, &partials, shape),
    )?;
    Ok(launch.run(&scan.kernel, "scan_lines", &dtypes, shape.grid(), (this, out, indices, &partials, shape))?)
}

macro_rules! define_scan_kernels {
    ([$($name:ident $scan:ident;)*] [$($with_indices:ident $indexed_scan:ident;)*]) => {
        $(#[op_impl(aten::$name, CUDA)]
        fn $name(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
            scan_dim::<aten::$name>(&$scan, out, None, this, *plan)
        })*

        $(#[op_impl(aten::$with_indices, CUDA)]
        fn $with_indices(plan: &usize, [values, indices]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            scan_dim::<aten::$with_indices>(&$indexed_scan, values, Some(indices), this, *plan)
        })*
    };
}

define_scan_kernels! {
    [cumsum SUMS; cumprod PRODUCTS; logcumsumexp EXPONENTIALS;]
    [cummax LARGEST; cummin SMALLEST;]
}
