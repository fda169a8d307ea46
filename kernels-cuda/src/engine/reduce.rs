//! The reduction engine.
//!
//! An operator brings a [`Fold`]: how elements are gathered, in a few expressions of C++. The engine finds how they lie (kernels/include/reduce.cuh)
//! and launches one of three loops: along lines of elements side by side, over columns whose neighbours are, or over elements at any
//! places. Where results are too few for the device, each is made of parts, which a second launch joins in order, so that the
//! same call gives the same bits.

use crate::compile::source::Instances;
use crate::engine::elementwise::DTYPES;
use crate::engine::number::unsupported;
use crate::engine::walk::{Dims as Nested, Part, Steps};
use crate::prelude::*;

/// A reduction's loops.
pub(crate) struct Fold {
    pub(crate) kernel: Kernel,
    /// The types that it computes in, of F32, F64 and I64.
    pub(crate) computes: &'static [DType],
    /// Whether it matters where an element is.
    pub(crate) ordered: bool,
}

const THREADS: u32 = 256;
/// How many columns a thread has.
const WIDTH: u64 = 4;
/// How many numbers, of the type that elements are gathered in, a partial total takes at most.
const TOTAL: usize = 4;

parameters! {
    /// `struct Cut` of the kernels.
    #[derive(Default)]
    struct Cut {
        given: [f64; 2],
        /// Which result this launch begins with.
        first: u64,
        /// How many elements a line, or all that is reduced, has; and how many of them a part.
        length: u64,
        chunk: u64,
        results: u32,
        /// How many threads share a result.
        lanes: u32,
        /// How many parts a line has.
        chunks: u32,
        /// How many parts a result has, of all launches, and which this launch begins with.
        parts: u32,
        first_part: u32,
        /// How many results on from a column the next one is.
        along: u32,
        dtypes: [i32; 2],
        bytes: [u32; 2],
    }

    /// `struct Target` of the kernels.
    struct Target {
        results: [Place; 2],
        partials: Place,
    }
}

/// How elements lie, which says what goes through them.
#[derive(Clone, Copy, PartialEq)]
enum ElementLayout {
    Rows,
    Columns,
    Strided,
}

impl Fold {
    pub(crate) fn instances(&self, instances: &mut Instances) {
        for dtype in DTYPES {
            if let Some(class) = self.class(dtype) {
                for layout in ["rows", "columns", "strided"] {
                    instances.one(layout, &[class, dtype]);
                }
            }
        }
        instances.each("merged", self.computes);
    }

    fn class(&self, dtype: DType) -> Option<DType> {
        class(dtype).filter(|class| self.computes.contains(class))
    }
}

/// The type that elements of a dtype are gathered in.
pub(crate) fn class(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(DType::F32),
        DType::F64 => Some(DType::F64),
        DType::C64 | DType::C128 => None,
        _ => Some(DType::I64),
    }
}

/// Reduces the dimensions that are `gone`, computing in the type of a dtype, into one or two fresh tensors, whose elements are those of the
/// dimensions that are kept. `given` are numbers that the fold knows.
pub(crate) fn folded<O: Operation>(
    fold: &'static Fold,
    this: &Tensor,
    gone: &[bool],
    computed: DType,
    given: [f64; 2],
    outs: &[&Tensor],
) -> Result<()> {
    let Some(wanted) = fold.class(computed) else {
        return Err(unsupported(O::operator(), "self", computed, fold.computes));
    };
    let results = outs.first().map_or(0, |out| out.geometry().count());
    if results == 0 {
        return Ok(());
    }
    let this = if class(this.dtype()) == Some(wanted) { this.clone() } else { contiguous(this, computed)? };
    // Places are counted in order, whatever order elements lie in.
    let several = gone.iter().filter(|gone| **gone).count() > 1;
    let this = if fold.ordered && several { contiguous(&this, this.dtype())? } else { this };
    let (kept, reduced) = dims(&this, gone);
    let launch = Launch::on(&this)?;
    let mut target = Target { results: [Place::NULL; 2], partials: Place::NULL };
    let mut cut = Cut { given, ..Cut::default() };
    for (k, out) in outs.iter().enumerate().take(2) {
        target.results[k] = launch.place(out)?;
        cut.dtypes[k] = out.dtype() as i32;
        cut.bytes[k] = u32::try_from(out.dtype().size()).unwrap_or(0);
    }
    let passes = Passes::of(launch, launch.place(&this)?, this.dtype().size() as u64, kept, reduced);
    passes.run(fold, [wanted, this.dtype()], cut, target, results)
}

/// The dimensions that are kept, with steps of the elements and of the results' numbers, and those that are reduced.
fn dims(this: &Tensor, gone: &[bool]) -> (Steps, Steps) {
    let element = element_size(this);
    let (mut sizes, mut strides) = ([Dims::new(), Dims::new()], [Dims::new(), Dims::new()]);
    for (dim, &gone) in gone.iter().enumerate() {
        sizes[usize::from(gone)].push(this.sizes()[dim]);
        strides[usize::from(gone)].push(this.strides()[dim].saturating_mul(element));
    }
    let mut numbers = Dims::from_elem(1, sizes[0].len());
    for dim in (1..numbers.len()).rev() {
        numbers[dim - 1] = numbers[dim] * sizes[0][dim].max(1);
    }
    let [kept, reduced] = strides;
    (Steps::new(&sizes[0], &[kept, numbers]), Steps::new(&sizes[1], &[reduced]))
}

/// The launches that go through all elements.
struct Passes {
    launch: Launch,
    from: Place,
    layout: ElementLayout,
    kept: smallvec::SmallVec<[Part; 1]>,
    /// Lines that are reduced, or all that is.
    reduced: smallvec::SmallVec<[Part; 1]>,
    /// How many elements each of these lines has.
    length: u64,
    lanes: u32,
    along: u32,
    /// How many parts a result is worth, and how many elements are worth a part.
    wanted: u64,
    least: u64,
}

impl Passes {
    fn of(launch: Launch, from: Place, element: u64, Steps(mut kept): Steps, Steps(mut reduced): Steps) -> Self {
        let results: u64 = kept.iter().map(|(size, _)| size).product();
        let count: u64 = reduced.iter().map(|(size, _)| size).product();
        let (inner, step) = reduced.first().map_or((1, i64::MAX), |(size, steps)| (*size, steps[0]));
        let is_step = |step: i64| step.unsigned_abs() == element;
        let threads = u64::from(launch.multiprocessors()) * 2048;
        let layout = if is_step(step) && inner > 0 && (reduced.len() == 1 || inner >= 32) {
            ElementLayout::Rows
        } else if count > 0 && from.is_aligned_to(WIDTH * element) && Self::has_columns(&kept, &reduced, element) {
            ElementLayout::Columns
        } else {
            ElementLayout::Strided
        };
        let (mut length, mut along, lanes) = (
            count,
            0,
            match layout {
                ElementLayout::Rows => {
                    let packs = inner * element / 16 + 1;
                    let warps = results * (count / inner) * 32;
                    if packs >= 256 || packs >= 64 && warps < threads {
                        THREADS
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
                        _ => THREADS,
                    }
                }
            },
        );
        let (blocks, least) = match layout {
            ElementLayout::Rows => {
                reduced.remove(0);
                length = inner;
                (results * (count / inner) * u64::from(lanes) / u64::from(THREADS), u64::from(lanes) * 64 / element)
            }
            ElementLayout::Columns => {
                let (size, steps) = &mut kept[0];
                along = u32::try_from(steps[1]).unwrap_or(0);
                *size /= WIDTH;
                for step in steps.iter_mut() {
                    *step *= WIDTH.cast_signed();
                }
                (results / (32 * WIDTH), 64)
            }
            ElementLayout::Strided => (results * u64::from(lanes) / u64::from(THREADS), u64::from(lanes) * 16),
        };
        let wanted = threads / 512 / blocks.max(1);
        let reduced = if count == 0 { Steps::new(&[], &[]) } else { Steps(reduced) };
        Self {
            launch,
            from,
            layout,
            kept: Steps(kept).parts(),
            reduced: reduced.parts(),
            length,
            lanes,
            along,
            wanted,
            least,
        }
    }

    /// Whether columns can be taken several at a time.
    fn has_columns(kept: &Nested, reduced: &Nested, element: u64) -> bool {
        let pack = (WIDTH * element).cast_signed();
        match kept.split_first() {
            Some(((size, steps), others)) => {
                steps[0] == element.cast_signed()
                    && size % WIDTH == 0
                    && *size >= 32
                    && others.iter().chain(reduced).all(|(_, steps)| steps[0] % pack == 0)
            }
            None => false,
        }
    }

    /// How many elements a part of one that has so many has, and how many parts there are.
    fn chunks(&self, length: u64) -> (u64, u32) {
        let pieces = self.wanted.min(length / self.least).clamp(1, 1 << 16);
        let chunk = length.div_ceil(pieces).next_multiple_of(self.least).max(1);
        (chunk, u32::try_from(length.div_ceil(chunk)).unwrap_or(1).max(1))
    }

    fn run(&self, fold: &'static Fold, dtypes: [DType; 2], cut: Cut, target: Target, results: i64) -> Result<()> {
        let by_line = self.layout == ElementLayout::Rows;
        // Of a line, or of the elements that one launch reduces.
        let pieces =
            |count: u32| if by_line { self.chunks(self.length) } else { self.chunks(self.length.min(count.into())) };
        let shares = |count: u32| if by_line { count * pieces(count).1 } else { pieces(count).1 };
        let all: u32 = self.reduced.iter().map(|(_, count, _)| shares(*count)).sum();
        let partials = if all == 1 {
            None
        } else {
            let bytes = i64::try_from(TOTAL * dtypes[0].size()).unwrap_or(i64::MAX);
            Some(Spec::contiguous(DType::U8, &[results * i64::from(all) * bytes]).on(self.launch.device())?)
        };
        let mut target = target;
        if let Some(partials) = &partials {
            target.partials = self.launch.place(partials)?;
        }
        let mut first_part = 0;
        for (gone, count, skipped) in &self.reduced {
            let (chunk, chunks) = pieces(*count);
            let length = if by_line { self.length } else { self.length.min((*count).into()) };
            for (kept, results, offsets) in &self.kept {
                let (first, parts) = (offsets[1], all);
                let cut = Cut {
                    first,
                    length,
                    chunk,
                    results: *results,
                    lanes: self.lanes,
                    chunks,
                    parts,
                    first_part,
                    along: self.along,
                    ..cut
                };
                let blocks = if self.layout == ElementLayout::Columns {
                    results.div_ceil(32)
                } else {
                    results.div_ceil(THREADS / self.lanes)
                };
                let grid = Grid::new(blocks * shares(*count), THREADS);
                let from = self.from.offset(offsets[0] + skipped[0]);
                let name = match self.layout {
                    ElementLayout::Rows => "rows",
                    ElementLayout::Columns => "columns",
                    ElementLayout::Strided => "strided",
                };
                self.launch.run(&fold.kernel, name, &dtypes, grid, (from, target, *kept, *gone, cut))?;
            }
            first_part += shares(*count);
        }
        if all > 1 {
            let results = u32::try_from(results).unwrap_or(u32::MAX);
            let lanes = if all < 64 { all.next_power_of_two().min(32) } else { THREADS };
            let cut = Cut { length: all.into(), results, lanes, parts: 1, ..cut };
            let grid = Grid::new(results.div_ceil(THREADS / lanes), THREADS);
            self.launch.run(&fold.kernel, "merged", &dtypes[..1], grid, (target.partials, target, cut))?;
        }
        Ok(())
    }
}

/// A reduction, in C++: the types that it computes in, what elements are gathered in, how that begins, how `x`, an element with its place
/// `at`, is added to it, how `a` and `b` are joined, and what results. Expressions know `C`, which elements are converted to, and `given`.
///
/// # Safety
///
/// The expressions compute values from what they know: they end, and touch no memory.
macro_rules! fold {
    (unsafe { $($vis:vis $name:ident $kernel:literal [$($ty:ident)+] ordered $ordered:literal, $total:literal: $begin:literal, $add:literal, $join:literal => $first:literal, $second:literal;)* }) => {$(
        $vis static $name: $crate::engine::reduce::Fold = $crate::engine::reduce::Fold {
            // SAFETY: a `Fold` is launched by this file alone, which gives places inside of the operand and as many results as there are.
            // The rest of the text are the expressions, and those who invoke this macro with `unsafe` promise what they do.
            kernel: unsafe {
                $crate::Kernel::new(
                    $kernel,
                    concat!(
                        "#include \"folds.cuh\"\ntemplate <class C> struct Fold {\n    typedef ", $total,
                        " Total;\n    C given[2];\n    __device__ __forceinline__ Total begin() const { return ", $begin,
                        "; }\n    __device__ __forceinline__ Total add(Total total, C x, i64 at) const { return ", $add,
                        "; }\n    __device__ __forceinline__ Total join(Total a, Total b) const { return ", $join,
                        "; }\n    __device__ __forceinline__ auto first(Total total) const { return ", $first,
                        "; }\n    __device__ __forceinline__ auto second(Total total) const { return ", $second,
                        "; }\n};\n#include \"reduce.cuh\"\n"
                    ),
                    |instances| $name.instances(instances),
                )
            },
            computes: &[$(dispatch_runtime::DType::$ty),+],
            ordered: $ordered,
        };
        $crate::register_kernel!($name.kernel);
    )*};
}
pub(crate) use fold;

/// Kernels of reductions that compute in the dtype of their input: an operator, its fold, and which of the fold's results it gives.
macro_rules! reductions {
    ($($name:ident $fold:ident $results:tt;)*) => { $(reductions! { $results $name $fold })* };
    ([first] $name:ident $fold:ident) => {
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
            folded::<aten::$name>(&$fold, this, &plan.gone, this.dtype(), [0.0; 2], &[out])
        }
    };
    ([both] $name:ident $fold:ident) => {
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &Reduced, [first, second]: [&mut Tensor; 2], this: &Tensor) -> Result<()> {
            folded::<aten::$name>(&$fold, this, &plan.gone, this.dtype(), [0.0; 2], &[first, second])
        }
    };
    ([second] $name:ident $fold:ident) => {
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &Reduced, out: &mut Tensor, this: &Tensor) -> Result<()> {
            let first = Spec::contiguous(this.dtype(), out.sizes()).on(this.device())?;
            folded::<aten::$name>(&$fold, this, &plan.gone, this.dtype(), [0.0; 2], &[&first, out])
        }
    };
}
pub(crate) use reductions;
