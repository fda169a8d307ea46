//! Gather and scatter: elements that are read from, or written to, indexed positions.
//!
//! Each list of indices is for one dimension of the indexed tensor, and is broadcast to the sizes of the other side. A thread reports an
//! index that is out of range, and skips it.
#![expect(unsafe_code, reason = "kernels are native code")]

use smallvec::SmallVec;

use crate::engine::data_movement::{Side, WORDS, word};
use crate::engine::number::encoded;
use crate::engine::walk::{Part, Steps, steps};
use crate::prelude::*;

kernel! {
    // SAFETY: each side and list comes with its strides through the sizes of the walk. Indices are checked where they are read.
    static GATHER = unsafe { Kernel::new("gather", include_str!("../../kernels/engine/gather.cu"), |instances| {
        instances.all(&["gathered", "put"], WORDS);
        instances.one("places", &[]);
        instances.all(&["reduced", "shared_among"], COMPUTED);
    }) };
}

const COMPUTED: &[DType] = &[DType::F32, DType::F64, DType::I32, DType::I64];

/// Returns the type that elements of a dtype are combined in.
pub(crate) fn computed_in(dtype: DType) -> DType {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => DType::F32,
        DType::F64 | DType::I64 | DType::C64 | DType::C128 => dtype,
        _ => DType::I32,
    }
}

/// Returns the `Site` of an operator's argument, looked up once for each use of the macro.
macro_rules! site {
    ($operator:expr, $argument:literal) => {{
        static SITE: std::sync::OnceLock<$crate::Site> = std::sync::OnceLock::new();
        *SITE.get_or_init(|| $crate::Site::of($operator, $argument))
    }};
}
pub(crate) use site;

/// Indices into a dimension of size `size`, whose elements are `step` bytes apart.
#[derive(Clone)]
pub(crate) struct List {
    index: Tensor,
    /// The index tensor's strides through the sizes of the walk, in bytes.
    steps: Dims,
    size: i64,
    step: i64,
}

impl List {
    /// Creates a list from an index tensor, broadcast to the sizes of the walk.
    pub(crate) fn of(index: &Tensor, sizes: &[i64], (size, step): (i64, i64)) -> Self {
        Self { index: index.clone(), steps: steps(index, sizes), size, step }
    }

    /// Creates a list from a one-dimensional index, which runs along one dimension of the walk.
    pub(crate) fn along(index: &Tensor, rank: usize, dim: usize, (size, step): (i64, i64)) -> Self {
        let mut steps = Dims::from_elem(0, rank);
        if let Some(own) = steps.get_mut(dim) {
            *own = index.strides().first().copied().unwrap_or(1) * element_size(index);
        }
        Self { index: index.clone(), steps, size, step }
    }
}

/// The index lists of a call, whether negative indices wrap, and the argument for errors.
pub(crate) struct Lists {
    pub(crate) all: SmallVec<[List; MOST]>,
    pub(crate) wraps: bool,
    pub(crate) site: Site,
}

const MOST: usize = 4;

parameters! {
    /// The kernels' `struct Lists`: up to four lists of indices.
    struct Given {
        at: [Place; MOST],
        sizes: [i64; MOST],
        steps: [i64; MOST],
        count: u32,
        narrow: u32,
        wraps: bool,
        site: Site,
        fault: Place,
    }
}

impl Given {
    fn offset(mut self, offsets: &[u64]) -> Self {
        self.at.iter_mut().zip(&offsets[2..]).for_each(|(at, offset)| *at = at.offset(*offset));
        self
    }
}

impl Lists {
    pub(crate) fn one(list: List, wraps: bool, site: Site) -> Self {
        Self { all: SmallVec::from_elem(list, 1), wraps, site }
    }

    fn given(&self, launch: Launch) -> Result<Given> {
        let (count, fault) = (u32::try_from(self.all.len()).unwrap_or(0), launch.faults());
        let (wraps, site) = (self.wraps, self.site);
        let mut given =
            Given { at: [Place::NULL; MOST], sizes: [0; MOST], steps: [0; MOST], count, narrow: 0, wraps, site, fault };
        for (k, list) in self.all.iter().enumerate() {
            given.at[k] = launch.place(&list.index)?;
            given.narrow |= u32::from(list.index.dtype() == DType::I32) << k;
            (given.sizes[k], given.steps[k]) = (list.size, list.step);
        }
        Ok(given)
    }

    /// Reduces the lists to at most [`MOST`]: several lists are combined into one list of byte offsets.
    fn few(mut self, launch: Launch, sizes: &[i64]) -> Result<Self> {
        while self.all.len() > MOST {
            let all: SmallVec<_> = self.all.drain(..MOST).collect();
            let some = Self { all, wraps: self.wraps, site: self.site };
            self.all.push(List::of(&some.places(launch, sizes, 0)?, sizes, (i64::MAX, 1)));
        }
        Ok(self)
    }

    /// Returns the byte offset for each index, or `otherwise` if the index is out of range.
    pub(crate) fn places(self, launch: Launch, sizes: &[i64], otherwise: i64) -> Result<Tensor> {
        let lists = self.few(launch, sizes)?;
        let out = Spec::contiguous(DType::I64, sizes).on(launch.device())?;
        if sizes.contains(&0) {
            return Ok(out);
        }
        let (to, given) = (Side::of(launch, &out, sizes)?, lists.given(launch)?);
        for (walk, count, offsets) in lists.steps(sizes, &to.steps, &to.steps).parts() {
            let arguments = (count, to.at.offset(offsets[0]), walk, given.offset(&offsets), otherwise);
            launch.cover(&GATHER, "places", &[], count.into(), arguments)?;
        }
        Ok(out)
    }

    fn steps(&self, sizes: &[i64], first: &Dims, second: &Dims) -> Steps {
        let all: SmallVec<[Dims; 6]> =
            [first, second].into_iter().chain(self.all.iter().map(|list| &list.steps)).cloned().collect();
        Steps::new(sizes, &all)
    }

    /// Calls `run` for each part of a walk through these sizes. Adjacent elements are moved as one word.
    fn walk(
        self,
        launch: Launch,
        element: usize,
        sizes: &[i64],
        [to, from]: [&Side; 2],
        run: impl Fn(DType, Part, [Place; 2], Given) -> Result<()>,
    ) -> Result<()> {
        if sizes.contains(&0) {
            return Ok(());
        }
        let lists = self.few(launch, sizes)?;
        let given = lists.given(launch)?;
        let mut steps = lists.steps(sizes, &to.steps, &from.steps);
        let picked = lists.all.iter().fold(0, |all, list| all | list.step.unsigned_abs());
        let word = word(steps.widen(element, to.at.address() | from.at.address() | picked));
        for part in steps.parts() {
            let from = if from.at == Place::NULL { from.at } else { from.at.offset(part.2[1]) };
            let (to, given) = (to.at.offset(part.2[0]), given.offset(&part.2));
            run(word, part, [to, from], given)?;
        }
        Ok(())
    }
}

/// Fills `to` with the elements of `from` at the indexed positions. `from` has stride 0 in the dimensions of the indices.
pub(crate) fn gathered(
    launch: Launch,
    dtype: DType,
    sizes: &[i64],
    to: &Side,
    from: &Side,
    lists: Lists,
) -> Result<()> {
    lists.walk(launch, dtype.size(), sizes, [to, from], |word, (walk, count, _), [to, from], lists| {
        launch.cover(&GATHER, "gathered", &[word], count.into(), (count, to, from, walk, lists))
    })
}

/// The source of a scatter: elements or a scalar.
pub(crate) enum Source {
    Elements(Side),
    Number(Scalar),
}

impl Source {
    fn side(&self, rank: usize) -> Side {
        match self {
            Self::Elements(side) => side.clone(),
            Self::Number(_) => Side { at: Place::NULL, steps: Dims::from_elem(0, rank) },
        }
    }
}

/// Writes elements or a scalar to the indexed positions of `to`.
pub(crate) fn put(launch: Launch, dtype: DType, sizes: &[i64], to: &Side, source: &Source, lists: Lists) -> Result<()> {
    let number = if let Source::Number(number) = source { stored(*number, dtype) } else { 0 };
    lists.walk(
        launch,
        dtype.size(),
        sizes,
        [to, &source.side(sizes.len())],
        |word, (walk, count, _), [to, from], lists| {
            let arguments = (count, to, from, walk, lists, number);
            launch.cover(&GATHER, "put", &[word], count.into(), arguments)
        },
    )
}

/// Returns the bits of a scalar as an element of a dtype.
fn stored(number: Scalar, dtype: DType) -> u64 {
    use dispatch_runtime::{bf16, f16};
    let real = || f64::from_bits(encoded(number, DType::F64));
    match dtype {
        DType::F16 => f16::from_f64(real()).to_bits().into(),
        DType::BF16 => bf16::from_f64(real()).to_bits().into(),
        DType::F32 | DType::F64 => encoded(number, dtype),
        DType::Bool => u64::from(real() != 0.0),
        _ => encoded(number, DType::I64),
    }
}

/// The operation that combines an existing element with a new one. The discriminant is the kernels' number of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine {
    Sum,
    Product,
    Greatest,
    Least,
}

/// Combines elements with those at the indexed positions of `to`, whose dtype is `computed`.
pub(crate) fn combined(
    launch: Launch,
    [computed, dtype]: [DType; 2],
    sizes: &[i64],
    to: &Side,
    source: &Source,
    lists: Lists,
    how: Combine,
) -> Result<()> {
    let number = if let Source::Number(number) = source { encoded(*number, computed) } else { 0 };
    // With the widest element size, `walk` does not combine elements into words.
    let from = source.side(sizes.len());
    lists.walk(launch, 16, sizes, [to, &from], |_, (walk, count, _), [to, from], lists| {
        let arguments = (count, to, from, walk, lists, number, dtype as i32, how as i32);
        launch.cover(&GATHER, "reduced", &[computed], count.into(), arguments)
    })
}

/// Divides sums elementwise by counts of the same layout.
pub(crate) fn share(launch: Launch, sums: &Tensor, counts: &Tensor) -> Result<()> {
    let count = sums.geometry().count();
    launch.cover(&GATHER, "shared_among", &[sums.dtype()], count, (count, sums, counts))
}
