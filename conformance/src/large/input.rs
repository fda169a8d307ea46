//! Large inputs.

use dispatch_runtime::{Complex64, DType, Scalar};

use crate::array::Array;

/// Numbers that the same expectation holds for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Real,
    Whole,
    Natural,
    Truth,
    Complex,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Real, Self::Whole, Self::Natural, Self::Truth, Self::Complex];

    /// Those whose numbers have an order.
    pub(super) const ORDERED: &[Self] = &[Self::Real, Self::Whole, Self::Natural, Self::Truth];

    /// The dtypes that hold such numbers, the one that every backend has first.
    pub(super) const fn dtypes(self) -> &'static [DType] {
        match self {
            Self::Real => &[DType::F32, DType::F64, DType::F16, DType::BF16],
            Self::Whole => &[DType::I64, DType::I32, DType::I16, DType::I8],
            Self::Natural => &[DType::U8],
            Self::Truth => &[DType::Bool],
            Self::Complex => &[DType::C64, DType::C128],
        }
    }

    /// The dtype in which expectations are computed.
    pub(super) const fn wide(self) -> DType {
        match self {
            Self::Real => DType::F64,
            Self::Whole | Self::Natural | Self::Truth => DType::I64,
            Self::Complex => DType::C128,
        }
    }

    /// This number, or the nearest that is of the kind.
    #[expect(clippy::cast_precision_loss, reason = "numbers are small")]
    pub(super) fn number(self, number: i64) -> Scalar {
        match self {
            Self::Real => Scalar::Float(number as f64),
            Self::Whole => Scalar::Int(number),
            Self::Natural => Scalar::Int(number.abs()),
            Self::Truth => Scalar::Int(i64::from(number != 0)),
            // Products of small ones stay real, and do not grow.
            Self::Complex => {
                let imaginary = if number.abs() > 2 { number * 3 % 5 } else { 0 };
                Scalar::Complex(Complex64::new(number as f64, imaginary as f64))
            }
        }
    }

    /// An array whose element number `i` is `f(i)`.
    pub(super) fn array(self, sizes: &[i64], f: impl Fn(i64) -> i64) -> Array {
        let count: i64 = sizes.iter().product();
        Array::new(self.wide(), sizes, (0..count).map(|i| self.number(f(i))).collect())
    }
}

/// Lines of numbers along one dimension of an array of one or two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    pub(super) sizes: &'static [i64],
    pub(super) dim: usize,
    /// The first dimension is the innermost in memory.
    pub(super) turned: bool,
}

/// Long lines along memory and across.
pub(super) const FEW_LINES: &[Lines] =
    &[Lines { sizes: &[3, 23_417], dim: 1, turned: false }, Lines { sizes: &[23_417, 3], dim: 0, turned: false }];

/// One line, many lines along memory and across, and lines along a memory whose first dimension is the innermost.
pub(super) const OTHER_LINES: &[Lines] = &[
    Lines { sizes: &[70_253], dim: 0, turned: false },
    Lines { sizes: &[901, 100], dim: 1, turned: false },
    Lines { sizes: &[100, 901], dim: 0, turned: false },
    Lines { sizes: &[3, 23_417], dim: 1, turned: true },
];

impl Lines {
    /// The numbers `f(i)`.
    pub(super) fn array(self, kind: Kind, f: impl Fn(i64) -> i64) -> Array {
        let array = kind.array(self.sizes, f);
        match (self.turned, self.sizes) {
            (true, &[rows, _]) => Array { strides: vec![1, rows], ..array },
            _ => array,
        }
    }

    pub(super) fn label(self) -> String {
        format!("along {} of {:?}{}", self.dim, self.sizes, if self.turned { ", turned" } else { "" })
    }
}

/// Numbers from -4 to 4, most of them zero: sums of 90,000 of them stay below what halves hold.
pub(super) fn sparse(i: i64) -> i64 {
    let hash = (i * 37 + i / 101 + i / 7919) % 1009;
    if hash % 5 == 0 { hash / 5 % 9 - 4 } else { 0 }
}

/// Numbers from -100 to 100.
pub(super) fn varied(i: i64) -> i64 {
    (i * 7919 + i / 211) % 201 - 100
}

impl Array {
    /// What is at these positions of a dimension.
    pub(super) fn part(&self, dim: usize, from: usize, count: usize) -> Self {
        let (outer, length, inner) = self.split(dim);
        let line = |at: usize| (at * length + from) * inner..(at * length + from + count) * inner;
        let mut sizes = self.sizes.clone();
        sizes[dim] = i64::try_from(count).unwrap_or(0);
        Self::new(self.dtype, &sizes, (0..outer).flat_map(|at| &self.elements[line(at)]).copied().collect())
    }

    /// Several arrays behind each other.
    pub(super) fn joined(parts: &[Self], dim: usize) -> Self {
        let mut sizes = parts[0].sizes.clone();
        sizes[dim] = parts.iter().map(|part| part.sizes[dim]).sum();
        let outer: i64 = sizes[..dim].iter().product();
        let mut elements = Vec::new();
        for at in 0..usize::try_from(outer).unwrap_or(0) {
            for part in parts {
                let (_, length, inner) = part.split(dim);
                elements.extend_from_slice(&part.elements[at * length * inner..(at + 1) * length * inner]);
            }
        }
        Self::new(parts[0].dtype, &sizes, elements)
    }

    /// How many positions are outside of a dimension, along it, and inside of it.
    pub(super) fn split(&self, dim: usize) -> (usize, usize, usize) {
        let count = |sizes: &[i64]| usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0);
        (count(&self.sizes[..dim]), count(&self.sizes[dim..=dim]), count(&self.sizes[dim + 1..]))
    }

    /// The numbers of the elements of each line along a dimension, in order.
    pub(super) fn lines(&self, dim: usize) -> impl Iterator<Item = Vec<usize>> + use<> {
        let (outer, length, inner) = self.split(dim);
        let line = move |at, within| (0..length).map(|i| (at * length + i) * inner + within).collect();
        (0..outer).flat_map(move |at| (0..inner).map(move |within| line(at, within)))
    }

    /// All elements in one dimension.
    pub(super) fn row(&self) -> Self {
        self.sized(&[i64::try_from(self.elements.len()).unwrap_or(0)])
    }

    /// The same elements with other sizes.
    pub(super) fn sized(&self, sizes: &[i64]) -> Self {
        Self::new(self.dtype, sizes, self.elements.clone())
    }
}
