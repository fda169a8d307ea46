//! The reduction engine: sums, extremes and other folds over dimensions.
//!
//! An operator supplies a [`Fold`]: a few C++ expressions that combine elements. The engine examines the strides and launches one of three
//! loops (kernels/include/reduce.cuh): over rows of adjacent elements, over adjacent columns, or over elements with any strides. If there
//! are too few results for the device, each is split into parts. A second launch joins the parts in order, so that equal calls return equal
//! bits.

use crate::compile::source::Instances;
use crate::engine::elementwise::REAL_DTYPES;
use crate::engine::scalars::unsupported_dtype;
use crate::engine::walk::{WalkDimList, WalkDims, WalkPart};
use crate::prelude::*;

/// The kernel of a reduction, and its properties.
pub(crate) struct Fold {
    pub(crate) kernel: Kernel,
    /// The types that the reduction computes in, among F32, F64 and I64.
    pub(crate) compute_dtypes: &'static [DType],
    /// Whether the fold uses the elements' indices, as `argmax` does.
    pub(crate) uses_indices: bool,
}

const THREADS_PER_BLOCK: u32 = 256;
/// The number of columns that a thread reduces.
const COLUMNS_PER_THREAD: u64 = 4;
/// The maximum size of a partial total, in values of the computed type.
const MAX_VALUES_PER_PARTIAL: usize = 4;

define_parameters! {
    /// The kernels' `struct ReductionShape`: the division of a reduction among threads and blocks.
    #[derive(Default)]
    struct ReductionShape {
        scalars: [f64; 2],
        /// The index of this launch's first result.
        first_result: u64,
        /// The number of elements of a line, or of everything that is reduced; and the number of elements of a part.
        length: u64,
        chunk: u64,
        results: u32,
        /// The number of threads that share a result.
        lanes: u32,
        /// The number of parts of a line.
        chunks: u32,
        /// The number of parts of a result in all launches, and the index of this launch's first part.
        parts: u32,
        first_part: u32,
        /// The distance from a column's result to the next column's, in results.
        column_stride: u32,
        dtypes: [i32; 2],
        element_sizes: [u32; 2],
    }

    /// The kernels' `struct ReductionTarget`: the addresses of the results and of the partial totals.
    struct ReductionTarget {
        results: [DevicePointer; 2],
        partials: DevicePointer,
    }
}

/// The memory layout of the reduced elements, which selects the loop.
#[derive(Clone, Copy, PartialEq)]
enum ElementLayout {
    Rows,
    Columns,
    Strided,
}

impl Fold {
    pub(crate) fn add_instances(&self, instances: &mut Instances) {
        for dtype in REAL_DTYPES {
            if let Some(class) = self.compute_dtype(dtype) {
                for layout in ["reduce_rows", "reduce_columns", "reduce_strided"] {
                    instances.add(layout, &[class, dtype]);
                }
            }
        }
        instances.add_for_each_dtype("merge_partials", self.compute_dtypes);
    }

    fn compute_dtype(&self, dtype: DType) -> Option<DType> {
        reduction_dtype(dtype).filter(|class| self.compute_dtypes.contains(class))
    }
}

/// Returns the type that elements of a dtype are reduced in, or `None` for complex dtypes.
pub(crate) fn reduction_dtype(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(DType::F32),
        DType::F64 => Some(DType::F64),
        DType::C64 | DType::C128 => None,
        _ => Some(DType::I64),
    }
}

/// Reduces the dimensions that `reduced_dims` marks into one or two fresh tensors, whose elements are those of the kept dimensions. It
/// computes in the compute dtype of `computed`. `scalars` are values that the fold's expressions use.
pub(crate) fn reduce<O: Operation>(
    fold: &'static Fold,
    this: &Tensor,
    reduced_dims: &[bool],
    computed: DType,
    scalars: [f64; 2],
    outs: &[&Tensor],
) -> Result<()> {
    if this.dtype().is_float8() {
        return reduce::<O>(fold, &contiguous(this, DType::F32)?, reduced_dims, DType::F32, scalars, outs);
    }
    let Some(wanted) = fold.compute_dtype(computed) else {
        return Err(unsupported_dtype(O::operator(), "self", computed, fold.compute_dtypes));
    };
    let results = outs.first().map_or(0, |out| out.geometry().count());
    if results == 0 {
        return Ok(());
    }
    let this = if reduction_dtype(this.dtype()) == Some(wanted) { this.clone() } else { contiguous(this, computed)? };
    // An index counts elements in logical order, so several reduced dimensions must be contiguous.
    let several = reduced_dims.iter().filter(|is_reduced| **is_reduced).count() > 1;
    let this = if fold.uses_indices && several { contiguous(&this, this.dtype())? } else { this };
    let (kept, reduced) = split_kept_and_reduced_dims(&this, reduced_dims);
    let launch = Launch::on_device_of(&this)?;
    let mut target = ReductionTarget { results: [DevicePointer::NULL; 2], partials: DevicePointer::NULL };
    let mut shape = ReductionShape { scalars, ..ReductionShape::default() };
    for (k, out) in outs.iter().enumerate().take(2) {
        target.results[k] = launch.pointer(out)?;
        shape.dtypes[k] = out.dtype() as i32;
        shape.element_sizes[k] = u32::try_from(out.dtype().size()).unwrap_or(0);
    }
    let passes = ReductionLaunches::new(launch, launch.pointer(&this)?, this.dtype().size() as u64, kept, reduced);
    passes.launch_all(fold, [wanted, this.dtype()], shape, target, results)
}

/// Returns the kept dimensions, with the strides of the elements and of the results' indices, and the reduced dimensions.
fn split_kept_and_reduced_dims(this: &Tensor, reduced_dims: &[bool]) -> (WalkDims, WalkDims) {
    let element = element_size(this);
    let (mut sizes, mut strides) = ([Dims::new(), Dims::new()], [Dims::new(), Dims::new()]);
    for (dim, &is_reduced) in reduced_dims.iter().enumerate() {
        sizes[usize::from(is_reduced)].push(this.sizes()[dim]);
        strides[usize::from(is_reduced)].push(this.strides()[dim].saturating_mul(element));
    }
    let mut numbers = Dims::from_elem(1, sizes[0].len());
    for dim in (1..numbers.len()).rev() {
        numbers[dim - 1] = numbers[dim] * sizes[0][dim].max(1);
    }
    let [kept, reduced] = strides;
    (WalkDims::new(&sizes[0], &[kept, numbers]), WalkDims::new(&sizes[1], &[reduced]))
}

/// The launches of a reduction.
struct ReductionLaunches {
    launch: Launch,
    from: DevicePointer,
    layout: ElementLayout,
    kept: smallvec::SmallVec<[WalkPart; 1]>,
    /// The reduced lines for [`ElementLayout::Rows`], or else all reduced elements.
    reduced: smallvec::SmallVec<[WalkPart; 1]>,
    /// The number of elements of a line.
    length: u64,
    lanes: u32,
    column_stride: u32,
    /// The number of parts that a result should have, and the minimum number of elements of a part.
    target_parts: u64,
    min_part: u64,
}

impl ReductionLaunches {
    fn new(
        launch: Launch,
        from: DevicePointer,
        element: u64,
        WalkDims(mut kept): WalkDims,
        WalkDims(mut reduced): WalkDims,
    ) -> Self {
        let results: u64 = kept.iter().map(|(size, _)| size).product();
        let count: u64 = reduced.iter().map(|(size, _)| size).product();
        let (inner, step) = reduced.first().map_or((1, i64::MAX), |(size, steps)| (*size, steps[0]));
        let is_step = |step: i64| step.unsigned_abs() == element;
        let threads = u64::from(launch.multiprocessors()) * 2048;
        let layout = if is_step(step) && inner > 0 && (reduced.len() == 1 || inner >= 32) {
            ElementLayout::Rows
        } else if count > 0
            && from.is_aligned_to(COLUMNS_PER_THREAD * element)
            && Self::can_load_adjacent_columns(&kept, &reduced, element)
        {
            ElementLayout::Columns
        } else {
            ElementLayout::Strided
        };
        let (mut length, mut column_stride, lanes) = (
            count,
            0,
            match layout {
                ElementLayout::Rows => {
                    let packs = inner * element / 16 + 1;
                    let warps = results * (count / inner) * 32;
                    if packs >= 256 || packs >= 64 && warps < threads {
                        THREADS_PER_BLOCK
                    } else {
                        packs.next_power_of_two().min(32) as u32
                    }
                }
                ElementLayout::Columns => 1,
                ElementLayout::Strided => {
                    let across = kept.first().map_or(i64::MAX, |(_, steps)| steps[0]) < step;
                    match count {
                        _ if across && results >= 32 => 1,
                        0..1024 => count.max(1).next_power_of_two().min(32) as u32,
                        _ => THREADS_PER_BLOCK,
                    }
                }
            },
        );
        let (blocks, min_part) = match layout {
            ElementLayout::Rows => {
                reduced.remove(0);
                length = inner;
                (
                    results * (count / inner) * u64::from(lanes) / u64::from(THREADS_PER_BLOCK),
                    u64::from(lanes) * 64 / element,
                )
            }
            ElementLayout::Columns => {
                let (size, steps) = &mut kept[0];
                column_stride = u32::try_from(steps[1]).unwrap_or(0);
                *size /= COLUMNS_PER_THREAD;
                for step in steps.iter_mut() {
                    *step *= COLUMNS_PER_THREAD.cast_signed();
                }
                (results / (32 * COLUMNS_PER_THREAD), 64)
            }
            ElementLayout::Strided => {
                (results * u64::from(lanes) / u64::from(THREADS_PER_BLOCK), u64::from(lanes) * 16)
            }
        };
        let target_parts = threads / 512 / blocks.max(1);
        let reduced = if count == 0 { WalkDims::new(&[], &[]) } else { WalkDims(reduced) };
        Self {
            launch,
            from,
            layout,
            kept: WalkDims(kept).split_for_32_bits(),
            reduced: reduced.split_for_32_bits(),
            length,
            lanes,
            column_stride,
            target_parts,
            min_part,
        }
    }

    /// Whether a thread can load [`COLUMNS_PER_THREAD`] adjacent columns at once.
    fn can_load_adjacent_columns(kept: &WalkDimList, reduced: &WalkDimList, element: u64) -> bool {
        let pack = (COLUMNS_PER_THREAD * element).cast_signed();
        match kept.split_first() {
            Some(((size, steps), others)) => {
                steps[0] == element.cast_signed()
                    && size % COLUMNS_PER_THREAD == 0
                    && *size >= 32
                    && others.iter().chain(reduced).all(|(_, steps)| steps[0] % pack == 0)
            }
            None => false,
        }
    }

    /// Returns the number of elements of a part, and the number of parts, of `length` elements.
    fn part_size_and_count(&self, length: u64) -> (u64, u32) {
        let pieces = self.target_parts.min(length / self.min_part).clamp(1, 1 << 16);
        let chunk = length.div_ceil(pieces).next_multiple_of(self.min_part).max(1);
        (chunk, u32::try_from(length.div_ceil(chunk)).unwrap_or(1).max(1))
    }

    fn launch_all(
        &self,
        fold: &'static Fold,
        dtypes: [DType; 2],
        shape: ReductionShape,
        target: ReductionTarget,
        results: i64,
    ) -> Result<()> {
        let by_line = self.layout == ElementLayout::Rows;
        // The parts of a line, or of the elements that one launch reduces.
        let pieces = |count: u32| {
            if by_line {
                self.part_size_and_count(self.length)
            } else {
                self.part_size_and_count(self.length.min(count.into()))
            }
        };
        let shares = |count: u32| if by_line { count * pieces(count).1 } else { pieces(count).1 };
        let all: u32 = self.reduced.iter().map(|(_, count, _)| shares(*count)).sum();
        let partials = if all == 1 {
            None
        } else {
            let bytes = i64::try_from(MAX_VALUES_PER_PARTIAL * dtypes[0].size()).unwrap_or(i64::MAX);
            Some(Spec::contiguous(DType::U8, &[results * i64::from(all) * bytes]).on(self.launch.device())?)
        };
        let mut target = target;
        if let Some(partials) = &partials {
            target.partials = self.launch.pointer(partials)?;
        }
        let mut first_part = 0;
        for (reduced, count, skipped) in &self.reduced {
            let (chunk, chunks) = pieces(*count);
            let length = if by_line { self.length } else { self.length.min((*count).into()) };
            for (kept, results, offsets) in &self.kept {
                let (first_result, parts) = (offsets[1], all);
                let shape = ReductionShape {
                    first_result,
                    length,
                    chunk,
                    results: *results,
                    lanes: self.lanes,
                    chunks,
                    parts,
                    first_part,
                    column_stride: self.column_stride,
                    ..shape
                };
                let blocks = if self.layout == ElementLayout::Columns {
                    results.div_ceil(32)
                } else {
                    results.div_ceil(THREADS_PER_BLOCK / self.lanes)
                };
                let grid = Grid::new(blocks * shares(*count), THREADS_PER_BLOCK);
                let from = self.from.offset(offsets[0] + skipped[0]);
                let name = match self.layout {
                    ElementLayout::Rows => "reduce_rows",
                    ElementLayout::Columns => "reduce_columns",
                    ElementLayout::Strided => "reduce_strided",
                };
                self.launch.run(&fold.kernel, name, &dtypes, grid, (from, target, *kept, *reduced, shape))?;
            }
            first_part += shares(*count);
        }
        if all > 1 {
            let results = u32::try_from(results).unwrap_or(u32::MAX);
            let lanes = if all < 64 { all.next_power_of_two().min(32) } else { THREADS_PER_BLOCK };
            let shape = ReductionShape { length: all.into(), results, lanes, parts: 1, ..shape };
            let grid = Grid::new(results.div_ceil(THREADS_PER_BLOCK / lanes), THREADS_PER_BLOCK);
            self.launch.run(&fold.kernel, "merge_partials", &dtypes[..1], grid, (target.partials, target, shape))?;
        }
        Ok(())
    }
}

/// Declares the folds of reductions, in C++: the computed types, the type of a total, the first total, how `x`, an element with the index
/// `at`, is added to `total`, how totals `a` and `b` are joined, and the results. The expressions can use `scalars` and `C`, the type that
/// elements are converted to.
///
/// # Safety
///
/// The expressions compute values from these variables only: they terminate, and access no memory.
macro_rules! define_folds {
    (unsafe { $($vis:vis $name:ident $kernel:literal [$($ty:ident)+] ordered $ordered:literal, $total:literal: $begin:literal, $add:literal, $join:literal => $first:literal, $second:literal;)* }) => {$(
        $vis static $name: $crate::engine::reduce::Fold = $crate::engine::reduce::Fold {
            // SAFETY: a `Fold` is launched by this file alone, which passes addresses inside of the operand and as many results as there
            // are. The rest of the text are the expressions, for which the macro's caller vouches with `unsafe`.
            kernel: unsafe {
                $crate::Kernel::new(
                    $kernel,
                    concat!(
                        "#include \"folds.cuh\"\ntemplate <class C> struct Fold {\n    typedef ", $total,
                        " Total;\n    C scalars[2];\n    __device__ __forceinline__ Total initial() const { return ", $begin,
                        "; }\n    __device__ __forceinline__ Total add(Total total, C x, i64 at) const { return ", $add,
                        "; }\n    __device__ __forceinline__ Total join(Total a, Total b) const { return ", $join,
                        "; }\n    __device__ __forceinline__ auto first(Total total) const { return ", $first,
                        "; }\n    __device__ __forceinline__ auto second(Total total) const { return ", $second,
                        "; }\n};\n#include \"reduce.cuh\"\n"
                    ),
                    |instances| $name.add_instances(instances),
                )
            },
            compute_dtypes: &[$(dispatch_runtime::DType::$ty),+],
            uses_indices: $ordered,
        };
        $crate::register_kernel!($name.kernel);
    )*};
}
pub(crate) use define_folds;

/// Declares kernels of reductions that compute in the dtype of their input: an operator, its fold, and the fold's results that it returns.
macro_rules! define_reductions {
    ($($name:ident $fold:ident $results:tt;)*) => { $(define_reductions! { $results $name $fold })* };
    ([first] $name:ident $fold:ident) => {
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
            reduce::<aten::$name>(&$fold, this, &plan.is_reduced, this.dtype(), [0.0; 2], &[out])
        }
    };
    ([both] $name:ident $fold:ident) => {
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &ReductionDims, [first, second]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            reduce::<aten::$name>(&$fold, this, &plan.is_reduced, this.dtype(), [0.0; 2], &[first, second])
        }
    };
    ([second] $name:ident $fold:ident) => {
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &ReductionDims, out: &mut Tensor, this: &Tensor) -> Result<()> {
            let first = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
            reduce::<aten::$name>(&$fold, this, &plan.is_reduced, this.dtype(), [0.0; 2], &[&first, out])
        }
    };
}
pub(crate) use define_reductions;
