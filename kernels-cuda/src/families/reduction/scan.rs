//! CUDA kernels of scans: `cumsum`, `cumprod`, `logcumsumexp`, `cummax` and `cummin`.
//!
//! A line of adjacent elements is scanned by a warp, by a block, or by many blocks, which first reduce each chunk. If a line's elements are
//! not adjacent, one thread scans it.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::compile::source::Instances;
use crate::engine::number::unsupported;
use crate::prelude::*;

/// The kernel of a scan, and its dtypes.
struct Scan {
    kernel: Kernel,
    /// The dtypes that it computes in.
    dtypes: &'static [DType],
}

const ALL: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64];

/// Declares scans, in C++: the dtypes, the type of the state, the initial state, the state of one element `x` with the index `at`, the join
/// of the states `a` and then `b`, and the results.
///
/// # Safety
///
/// The expressions compute values from these variables only: they terminate, and access no memory.
macro_rules! scan {
    (unsafe { $($name:ident $kernel:literal $dtypes:expr, $state:literal: $begin:literal, $of:literal, $join:literal => $first:literal, $second:literal;)* }) => {$(
        static $name: Scan = Scan {
            // SAFETY: a `Scan` is launched by this file alone, which passes packed tensors with the elements of `Course`. The rest of the
            // text are the expressions, for which the macro's caller vouches with `unsafe`.
            kernel: unsafe {
                Kernel::new(
                    $kernel,
                    concat!(
                        "#include \"folds.cuh\"\ntemplate <class C> struct Scan {\n    typedef ",
                        $state,
                        " State;\n    __device__ __forceinline__ State begin() const { return ",
                        $begin,
                        "; }\n    __device__ __forceinline__ State of(C x, i64 at) const { return ",
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
                        instances.all(&["lines", "columns"], $dtypes);
                    },
                )
            },
            dtypes: $dtypes,
        };
        $crate::register_kernel!($name.kernel);
    )*};
}

scan!(unsafe {
    // SAFETY: the expressions compute values from their variables only.
    SUMS "cumsum" ALL, "C": "0", "x", "a + b" => "state", "0";
    PRODUCTS "cumprod" ALL, "C": "1", "x", "a * b" => "state", "0";
    EXPONENTIALS "logcumsumexp" &FLOATING, "C": "Bounds<C>::least()", "x", "log_sum(a, b)" => "state", "0";
    LARGEST "cummax" ALL, "Placed<C>": "Placed<C>{Bounds<C>::least(), -1}", "Placed<C>{x, at}", "last_highest(a, b)" => "state.value", "state.at";
    SMALLEST "cummin" ALL, "Placed<C>": "Placed<C>{Bounds<C>::most(), -1}", "Placed<C>{x, at}", "last_lowest(a, b)" => "state.value", "state.at";
});

parameters! {
    /// The kernels' `struct Course`: the lines of a scan and their chunks.
    struct Course {
        length: i64,
        inner: i64,
        lines: i64,
        chunk: i64,
        chunks: u32,
        lanes: u32,
    }
}

const THREADS: u32 = 256;
/// The number of elements that a thread scans at a time.
const EACH: i64 = 4;
/// The maximum size of a state in bytes.
const STATE: i64 = 16;

impl Course {
    fn of(launch: Launch, count: i64, length: i64, inner: i64) -> Self {
        let few = count < i64::from(launch.multiprocessors()) * 2;
        let lanes = if length > 32 * EACH * 8 || few && length > 32 * EACH { THREADS } else { 32 };
        let tile = i64::from(lanes) * EACH;
        // A chunk is long enough for a block, and a line has fewer chunks than a block has threads.
        let wanted = if few && lanes == THREADS { i64::from(launch.multiprocessors()) * 2 / count.max(1) } else { 1 };
        let chunks = wanted.min(length / (tile * 4)).clamp(1, i64::from(THREADS) - 1);
        let tiles = (length.max(1) - 1) / (tile * chunks) + 1;
        let chunks = (length.max(1) - 1) / (tile * tiles) + 1;
        Self { length, inner, lines: count, chunk: tiles * tile, chunks: u32::try_from(chunks).unwrap_or(1), lanes }
    }

    fn grid(&self) -> Grid {
        let runs = self.lines.unsigned_abs() * u64::from(self.chunks);
        Grid::of(runs.div_ceil(u64::from(THREADS / self.lanes)), THREADS)
    }
}

/// Scans along a dimension into one or two tensors: the results and, if requested, their indices.
fn scanned<O: Operation>(
    scan: &'static Scan,
    out: &mut Tensor,
    places: Option<&mut Tensor>,
    this: &Tensor,
    dim: usize,
) -> Result<()> {
    let dtype = out.dtype();
    if dtype.is_complex() || (dtype.is_integral() && !scan.dtypes.contains(&DType::I64)) {
        return Err(unsupported(O::operator(), "self", dtype, scan.dtypes));
    }
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let computed = if scan.dtypes.contains(&dtype) { dtype } else { DType::I64 };
    let to = if computed == dtype { out.clone() } else { out.fresh_like(computed)? };
    let (length, inner) = (this.sizes().get(dim).copied().unwrap_or(1), this.sizes().iter().skip(dim + 1).product());
    let lines = out.geometry().count() / length;
    let launch = Launch::on(out)?;
    // If there are too few lines for one thread each, the lines are made contiguous first.
    let together = inner > 1 && length >= 512 && lines < i64::from(launch.multiprocessors()) * 64;
    if together {
        let last = |tensor: &Tensor| moved_last(tensor, dim);
        let from = contiguous(&last(this)?, computed)?;
        let (beside, beside_places) =
            (to.fresh_like(computed)?, places.as_ref().map(|places| places.fresh_like(DType::I64)).transpose()?);
        let beside = beside.restride(Geometry::contiguous(from.sizes()))?;
        run(scan, launch, &from, &beside, beside_places.as_ref(), Course::of(launch, lines, length, 1))?;
        write(&mut last(&to)?, &beside)?;
        if let (Some(places), Some(beside)) = (places, beside_places) {
            write(&mut last(places)?, &beside.restride(Geometry::contiguous(from.sizes()))?)?;
        }
    } else {
        let course = Course::of(launch, lines, length, inner);
        run(scan, launch, &contiguous(this, computed)?, &to, places.as_deref(), course)?;
    }
    if computed == dtype { Ok(()) } else { write(out, &to) }
}

/// Returns a view of a tensor with dimension `dim` moved to the end.
fn moved_last(tensor: &Tensor, dim: usize) -> Result<Tensor> {
    let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
    for list in [&mut sizes, &mut strides] {
        list[dim..].rotate_left(1);
    }
    let geometry = Geometry::strided(&sizes, &strides, tensor.geometry().offset());
    Ok(tensor.restride(geometry.unwrap_or_else(|| tensor.geometry().clone()))?)
}

fn run(
    scan: &'static Scan,
    launch: Launch,
    this: &Tensor,
    out: &Tensor,
    places: Option<&Tensor>,
    course: Course,
) -> Result<()> {
    let dtypes = [out.dtype()];
    if course.inner > 1 {
        return launch.cover(&scan.kernel, "columns", &dtypes, course.lines, (this, out, places, course));
    }
    if course.chunks == 1 {
        let arguments = (this, out, places, Place::NULL, course);
        return Ok(launch.run(&scan.kernel, "lines", &dtypes, course.grid(), arguments)?);
    }
    let bytes = course.lines * i64::from(course.chunks) * STATE;
    let partials = Spec::contiguous(DType::U8, &[bytes]).on(out.device())?;
    launch.run(&scan.kernel, "lines", &dtypes, course.grid(), (this, Place::NULL, Place::NULL, &partials, course))?;
    Ok(launch.run(&scan.kernel, "lines", &dtypes, course.grid(), (this, out, places, &partials, course))?)
}

macro_rules! kernels {
    ([$($name:ident $scan:ident;)*] [$($with_places:ident $placed_scan:ident;)*]) => {
        $(#[op_impl(aten::$name, CUDA)]
        fn $name(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
            scanned::<aten::$name>(&$scan, out, None, this, *plan)
        })*

        $(#[op_impl(aten::$with_places, CUDA)]
        fn $with_places(plan: &usize, [values, indices]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            scanned::<aten::$with_places>(&$placed_scan, values, Some(indices), this, *plan)
        })*
    };
}

kernels! {
    [cumsum SUMS; cumprod PRODUCTS; logcumsumexp EXPONENTIALS;]
    [cummax LARGEST; cummin SMALLEST;]
}
