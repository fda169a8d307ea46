//! Arrays with many elements, and the numbers in them.

use dispatch_checks::plumbing::Array;
use dispatch_runtime::{Complex64, DType, Scalar};

/// The categories of numbers: all dtypes of a category have the same expected results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DTypeCategory {
    Real,
    Integer,
    Unsigned,
    Bool,
    Complex,
}

impl DTypeCategory {
    pub(super) const ALL: [Self; 5] = [Self::Real, Self::Integer, Self::Unsigned, Self::Bool, Self::Complex];

    /// The categories whose numbers are ordered.
    pub(super) const ORDERED: &[Self] = &[Self::Real, Self::Integer, Self::Unsigned, Self::Bool];

    /// Returns the dtypes of the category. The first is one that every backend supports.
    pub(super) const fn dtypes(self) -> &'static [DType] {
        match self {
            Self::Real => &[DType::F32, DType::F64, DType::F16, DType::BF16],
            Self::Integer => &[DType::I64, DType::I32, DType::I16, DType::I8],
            Self::Unsigned => &[DType::U8],
            Self::Bool => &[DType::Bool],
            Self::Complex => &[DType::C64, DType::C128],
        }
    }

    /// Returns the dtype in which expected results are computed.
    pub(super) const fn reference_dtype(self) -> DType {
        match self {
            Self::Real => DType::F64,
            Self::Integer | Self::Unsigned | Self::Bool => DType::I64,
            Self::Complex => DType::C128,
        }
    }

    /// Converts a number to the category. Unsigned integers take its magnitude, booleans whether it is nonzero, and complex numbers get an
    /// imaginary part.
    #[expect(clippy::cast_precision_loss, reason = "numbers are small")]
    pub(super) fn to_scalar(self, number: i64) -> Scalar {
        match self {
            Self::Real => Scalar::Float(number as f64),
            Self::Integer => Scalar::Int(number),
            Self::Unsigned => Scalar::Int(number.abs()),
            Self::Bool => Scalar::Int(i64::from(number != 0)),
            // Numbers up to 2 stay real, so that products of them do not grow.
            Self::Complex => {
                let imaginary = if number.abs() > 2 { number * 3 % 5 } else { 0 };
                Scalar::Complex(Complex64::new(number as f64, imaginary as f64))
            }
        }
    }

    /// Creates a contiguous array with `f(i)` at logical index `i`.
    pub(super) fn create_array(self, sizes: &[i64], f: impl Fn(i64) -> i64) -> Array {
        let count: i64 = sizes.iter().product();
        Array::new(self.reference_dtype(), sizes, (0..count).map(|i| self.to_scalar(f(i))).collect())
    }
}

/// The layout of an array of one or two dimensions, and the dimension along which operators work. A line is the elements along this
/// dimension at a fixed index of the other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineLayout {
    pub(super) sizes: &'static [i64],
    pub(super) dim: usize,
    /// Whether the array is in column-major order: the first dimension is innermost in memory.
    pub(super) column_major: bool,
}

/// Layouts of few long lines: contiguous, and strided.
pub(super) const LONG_LINE_LAYOUTS: &[LineLayout] = &[
    LineLayout { sizes: &[3, 23_417], dim: 1, column_major: false },
    LineLayout { sizes: &[23_417, 3], dim: 0, column_major: false },
];

/// Other layouts: one line; many lines, contiguous and strided; and lines of an array in column-major order.
pub(super) const OTHER_LINE_LAYOUTS: &[LineLayout] = &[
    LineLayout { sizes: &[70_253], dim: 0, column_major: false },
    LineLayout { sizes: &[901, 100], dim: 1, column_major: false },
    LineLayout { sizes: &[100, 901], dim: 0, column_major: false },
    LineLayout { sizes: &[3, 23_417], dim: 1, column_major: true },
];

impl LineLayout {
    /// Creates an array with this layout and `f(i)` at logical index `i`.
    pub(super) fn create_array(self, kind: DTypeCategory, f: impl Fn(i64) -> i64) -> Array {
        let array = kind.create_array(self.sizes, f);
        match (self.column_major, self.sizes) {
            (true, &[rows, _]) => Array { strides: vec![1, rows], ..array },
            _ => array,
        }
    }

    pub(super) fn label(self) -> String {
        format!("along {} of {:?}{}", self.dim, self.sizes, if self.column_major { ", column_major" } else { "" })
    }
}

/// Returns a number from -4 to 4, mostly zero: sums of 90,000 of them stay in the range of `F16`.
pub(super) fn mostly_zero_number(i: i64) -> i64 {
    let hash = (i * 37 + i / 101 + i / 7919) % 1009;
    if hash % 5 == 0 { hash / 5 % 9 - 4 } else { 0 }
}

/// Returns a number from -100 to 100.
pub(super) fn varied_number(i: i64) -> i64 {
    (i * 7919 + i / 211) % 201 - 100
}

/// Slices, lines and other shapes of an array.
pub(super) trait ArrayLines: Sized {
    /// Returns the slice of `count` indices from `from` along a dimension.
    fn narrowed(&self, dim: usize, from: usize, count: usize) -> Self;

    /// Concatenates arrays along a dimension.
    fn concatenated(parts: &[Self], dim: usize) -> Self;

    /// Returns the products of the sizes before, of, and after a dimension.
    fn size_products_around(&self, dim: usize) -> (usize, usize, usize);

    /// Returns, for each line along a dimension, the logical indices of its elements.
    fn line_indices(&self, dim: usize) -> impl Iterator<Item = Vec<usize>> + use<Self>;

    /// Returns the array flattened to one dimension.
    fn flattened(&self) -> Self;

    /// Returns the array reshaped to other sizes.
    fn reshaped(&self, sizes: &[i64]) -> Self;
}

impl ArrayLines for Array {
    fn narrowed(&self, dim: usize, from: usize, count: usize) -> Self {
        let (outer, length, inner) = self.size_products_around(dim);
        let line = |at: usize| (at * length + from) * inner..(at * length + from + count) * inner;
        let mut sizes = self.sizes.clone();
        sizes[dim] = i64::try_from(count).unwrap_or(0);
        Self::new(self.dtype, &sizes, (0..outer).flat_map(|at| &self.elements[line(at)]).copied().collect())
    }

    fn concatenated(parts: &[Self], dim: usize) -> Self {
        let mut sizes = parts[0].sizes.clone();
        sizes[dim] = parts.iter().map(|part| part.sizes[dim]).sum();
        let outer: i64 = sizes[..dim].iter().product();
        let mut elements = Vec::new();
        for at in 0..usize::try_from(outer).unwrap_or(0) {
            for part in parts {
                let (_, length, inner) = part.size_products_around(dim);
                elements.extend_from_slice(&part.elements[at * length * inner..(at + 1) * length * inner]);
            }
        }
        Self::new(parts[0].dtype, &sizes, elements)
    }

    fn size_products_around(&self, dim: usize) -> (usize, usize, usize) {
        let count = |sizes: &[i64]| usize::try_from(sizes.iter().product::<i64>()).unwrap_or(0);
        (count(&self.sizes[..dim]), count(&self.sizes[dim..=dim]), count(&self.sizes[dim + 1..]))
    }

    fn line_indices(&self, dim: usize) -> impl Iterator<Item = Vec<usize>> + use<> {
        let (outer, length, inner) = self.size_products_around(dim);
        let line = move |at, within| (0..length).map(|i| (at * length + i) * inner + within).collect();
        (0..outer).flat_map(move |at| (0..inner).map(move |within| line(at, within)))
    }

    fn flattened(&self) -> Self {
        self.reshaped(&[i64::try_from(self.elements.len()).unwrap_or(0)])
    }

    fn reshaped(&self, sizes: &[i64]) -> Self {
        Self::new(self.dtype, sizes, self.elements.clone())
    }
}
