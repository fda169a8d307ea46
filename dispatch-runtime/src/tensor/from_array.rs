//! Conversions of Rust's numbers, arrays and vectors to tensors.
//!
//! An array's sizes are in its type, so its conversion cannot fail. A vector of vectors can be ragged, so its conversion can return an
//! error.

use std::borrow::Cow;
use std::fmt;

use super::geometry::{Dims, Geometry};
use super::{IntoSizes, Tensor, access};
use crate::error::{BadArgument, Error};
use crate::key::Device;
use crate::memory::Storage;
use crate::scalar::{Bool, Element};

/// A number, or an array of numbers nested to any depth: a value whose type determines the sizes of a tensor.
///
/// ```
/// use dispatch_runtime::Tensor;
/// assert!(Tensor::from(2.5_f64).sizes().is_empty());
/// assert_eq!(Tensor::from([[1, 2, 3], [4, 5, 6]]).sizes(), [2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a number that tensors can hold nor an array of them",
    label = "write numbers of a tensor's dtypes, `bool`s, or arrays of them",
    note = "a vector of vectors can be ragged: use `Tensor::try_from`"
)]
pub trait NestedArray: Copy {
    /// The type of the tensor's elements.
    type Element: Element;

    /// Returns the elements of several values, one value after the other.
    fn flatten(several: &[Self]) -> Cow<'_, [Self::Element]>;

    /// Appends the sizes of the array to `sizes`, the outermost first. A number appends none.
    fn push_sizes(sizes: &mut Dims);
}

impl<T: Element> NestedArray for T {
    type Element = T;

    fn flatten(several: &[T]) -> Cow<'_, [T]> {
        Cow::Borrowed(several)
    }

    fn push_sizes(_: &mut Dims) {}
}

impl NestedArray for bool {
    type Element = Bool;

    fn flatten(several: &[Self]) -> Cow<'_, [Bool]> {
        several.iter().copied().map(Bool::from).collect()
    }

    fn push_sizes(_: &mut Dims) {}
}

impl<A: NestedArray, const N: usize> NestedArray for [A; N] {
    type Element = A::Element;

    fn flatten(several: &[Self]) -> Cow<'_, [A::Element]> {
        A::flatten(several.as_flattened())
    }

    fn push_sizes(sizes: &mut Dims) {
        sizes.push(length_to_i64(N));
        A::push_sizes(sizes);
    }
}

/// Converts a number to a tensor without dimensions, and an array to a tensor with one dimension for each level of nesting.
///
/// ```
/// use dispatch_runtime::{DType, Tensor};
/// let t = Tensor::from([[true, false], [false, true]]);
/// assert_eq!((t.dtype(), t.sizes()), (DType::Bool, &[2_i64, 2][..]));
/// ```
impl<A: NestedArray> From<A> for Tensor {
    fn from(value: A) -> Self {
        let mut sizes = Dims::new();
        A::push_sizes(&mut sizes);
        tensor_from_elements(&A::flatten(&[value]), &sizes)
    }
}

impl<A: NestedArray> From<&[A]> for Tensor {
    fn from(values: &[A]) -> Self {
        let mut sizes = Dims::from_slice(&[length_to_i64(values.len())]);
        A::push_sizes(&mut sizes);
        tensor_from_elements(&A::flatten(values), &sizes)
    }
}

impl<A: NestedArray, const N: usize> From<&[A; N]> for Tensor {
    fn from(values: &[A; N]) -> Self {
        values.as_slice().into()
    }
}

impl<A: NestedArray> From<Vec<A>> for Tensor {
    fn from(values: Vec<A>) -> Self {
        values.as_slice().into()
    }
}

impl<A: NestedArray> From<&Vec<A>> for Tensor {
    fn from(values: &Vec<A>) -> Self {
        values.as_slice().into()
    }
}

impl Tensor {
    /// Creates a tensor of these sizes from its elements in row-major order: the last dimension fastest.
    ///
    /// ```
    /// use dispatch_runtime::Tensor;
    /// let t = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], (2, 3)).unwrap();
    /// assert_eq!(t.to_string(), "tensor([[1, 2, 3],\n        [4, 5, 6]], dtype=int32)");
    /// assert!(Tensor::from_vec(vec![1, 2, 3], (2, 2)).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`BadArgument`] if the sizes do not multiply to the number of elements.
    #[expect(clippy::needless_pass_by_value, reason = "callers usually pass a vector that they need no more")]
    pub fn from_vec<A: NestedArray>(elements: Vec<A>, sizes: impl IntoSizes) -> Result<Self, BadArgument> {
        let (elements, sizes) = (A::flatten(&elements), sizes.into_sizes());
        let product = sizes.iter().try_fold(1_i64, |product, &size| product.checked_mul(size));
        let fits = sizes.iter().all(|&size| size >= 0) && product == Some(length_to_i64(elements.len()));
        if !fits {
            let expected = format!("sizes that multiply to {}, the number of elements", elements.len());
            return Err(BadArgument::sizes("sizes", &sizes, expected));
        }
        Ok(tensor_from_elements(&elements, &sizes))
    }
}

/// The error for nested vectors whose rows differ in length.
///
/// ```
/// use dispatch_runtime::Tensor;
/// let error = Tensor::try_from(vec![vec![1.0, 2.0], vec![3.0]]).unwrap_err();
/// assert_eq!(error.to_string(), "row [1] has length 1, but those before it have length 2");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaggedRows {
    /// The indices of the row, one for each outer dimension.
    pub row: Vec<usize>,
    /// The length of this row.
    pub found: usize,
    /// The length of the first row.
    pub expected: usize,
}

impl fmt::Display for RaggedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, found, expected } = self;
        write!(f, "row {row:?} has length {found}, but those before it have length {expected}")
    }
}

impl std::error::Error for RaggedRows {}

impl From<RaggedRows> for Error {
    #[cold]
    fn from(error: RaggedRows) -> Self {
        Self::kernel(error)
    }
}

/// A row of a tensor, or a part of a row: a number, an array, or a vector nested to any depth.
pub trait NestedRow {
    /// The type of the tensor's elements.
    type Element: Element;

    /// Appends the elements. Appends the sizes of the dimensions from `depth` on, or compares them with the sizes that are known. The
    /// indices of an error begin at this row.
    #[doc(hidden)]
    fn collect_into(
        &self,
        depth: usize,
        sizes: &mut Vec<usize>,
        elements: &mut Vec<Self::Element>,
    ) -> Result<(), RaggedRows>;
}

impl<A: NestedArray> NestedRow for A {
    type Element = A::Element;

    fn collect_into(
        &self,
        depth: usize,
        sizes: &mut Vec<usize>,
        elements: &mut Vec<A::Element>,
    ) -> Result<(), RaggedRows> {
        if sizes.len() == depth {
            let mut own = Dims::new();
            A::push_sizes(&mut own);
            sizes.extend(own.iter().map(|&size| usize::try_from(size).unwrap_or(0)));
        }
        elements.extend_from_slice(&A::flatten(std::slice::from_ref(self)));
        Ok(())
    }
}

impl<R: NestedRow> NestedRow for Vec<R> {
    type Element = R::Element;

    fn collect_into(
        &self,
        depth: usize,
        sizes: &mut Vec<usize>,
        elements: &mut Vec<R::Element>,
    ) -> Result<(), RaggedRows> {
        match sizes.get(depth) {
            None => sizes.push(self.len()),
            Some(&expected) if expected != self.len() => {
                return Err(RaggedRows { row: Vec::new(), found: self.len(), expected });
            }
            Some(_) => {}
        }
        for (index, row) in self.iter().enumerate() {
            row.collect_into(depth + 1, sizes, elements).map_err(|mut ragged| {
                ragged.row.insert(0, index);
                ragged
            })?;
        }
        Ok(())
    }
}

/// Converts nested vectors whose rows have equal lengths. Without any row, the sizes are `[0, 0]`.
///
/// ```
/// use dispatch_runtime::Tensor;
/// let rows = vec![vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]];
/// assert_eq!(Tensor::try_from(rows).unwrap().sizes(), [3, 2]);
/// ```
impl<R: NestedRow> TryFrom<Vec<Vec<R>>> for Tensor {
    type Error = RaggedRows;

    fn try_from(rows: Vec<Vec<R>>) -> Result<Self, RaggedRows> {
        let (mut sizes, mut elements) = (Vec::new(), Vec::new());
        rows.collect_into(0, &mut sizes, &mut elements)?;
        let mut sizes: Dims = sizes.into_iter().map(length_to_i64).collect();
        if sizes.len() < 2 {
            sizes.push(0);
        }
        Ok(tensor_from_elements(&elements, &sizes))
    }
}

fn length_to_i64(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Creates a CPU tensor with a copy of these elements. The sizes multiply to their number.
fn tensor_from_elements<T: Element>(elements: &[T], sizes: &[i64]) -> Tensor {
    let storage = Storage::new_host(size_of_val(elements));
    access::copy_into_storage(&storage, elements);
    Tensor::from_new_storage(storage, T::DTYPE, &Geometry::contiguous(sizes), Device::CPU)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu};
    use half::{bf16, f16};
    use num_complex::{Complex32, Complex64};

    #[test]
    fn a_number_of_every_type_is_a_tensor_without_dimensions() {
        let all = [
            Tensor::from(1_u8),
            Tensor::from(1_i8),
            Tensor::from(1_i16),
            Tensor::from(1_i32),
            Tensor::from(1_i64),
            Tensor::from(f16::ONE),
            Tensor::from(1.0_f32),
            Tensor::from(1.0),
            Tensor::from(Complex32::new(1.0, 2.0)),
            Tensor::from(Complex64::new(1.0, 2.0)),
            Tensor::from(true),
            Tensor::from(bf16::ONE),
            Tensor::from(Float8E5M2::from_f32(1.0)),
            Tensor::from(Float8E4M3Fn::from_f32(1.0)),
            Tensor::from(Float8E5M2Fnuz::from_f32(1.0)),
            Tensor::from(Float8E4M3Fnuz::from_f32(1.0)),
            Tensor::from(Float8E8M0Fnu::from_f32(1.0)),
        ];
        assert!(all.iter().map(Tensor::dtype).eq(DType::ALL));
        assert!(all.iter().all(|tensor| tensor.sizes().is_empty()));
    }

    #[test]
    fn arrays_vectors_and_slices_give_their_sizes() {
        let deep = Tensor::from([[[[1_i64, 2], [3, 4]]], [[[5, 6], [7, 8]]]]);
        assert_eq!(deep.sizes(), [2, 1, 2, 2]);
        assert_eq!(deep.to_vec::<i64>().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Tensor::from(vec![[1.0_f32; 3]; 5]).sizes(), [5, 3]);
        assert_eq!(Tensor::from(&[1_u8, 2][..]).to_vec::<u8>().unwrap(), [1, 2]);
        assert_eq!(Tensor::from(vec![true, false]).to_vec::<Bool>().unwrap(), [Bool(1), Bool(0)]);
        assert_eq!(Tensor::from(Vec::<[f32; 3]>::new()).sizes(), [0, 3]);
        assert_eq!(Tensor::from([[0.0_f32; 0]; 2]).sizes(), [2, 0]);
    }

    #[test]
    fn sizes_must_multiply_to_the_number_of_elements() {
        assert_eq!(Tensor::from_vec(vec![true; 4], [2, 2]).unwrap().dtype(), DType::Bool);
        assert_eq!(Tensor::from_vec(vec![1, 2], (2, 1_usize)).unwrap().sizes(), [2, 1]);
        assert_eq!(Tensor::from_vec(vec![1], ()).unwrap().sizes(), []);
        assert_eq!(Tensor::from_vec(Vec::<f32>::new(), [3, 0]).unwrap().sizes(), [3, 0]);
        for sizes in [&[3][..], &[-2, -2], &[i64::MAX, 4], &[]] {
            assert!(Tensor::from_vec(vec![1.0; 4], sizes).is_err(), "{sizes:?}");
        }
    }

    #[test]
    fn the_error_for_ragged_rows_has_the_index_of_the_row() {
        let ragged = Tensor::try_from(vec![vec![vec![1, 2], vec![3, 4]], vec![vec![5, 6], vec![7]]]).unwrap_err();
        assert_eq!(ragged, RaggedRows { row: vec![1, 1], found: 1, expected: 2 });
        let ragged = Tensor::try_from(vec![vec![[1, 2]], vec![]]).unwrap_err();
        assert_eq!(ragged, RaggedRows { row: vec![1], found: 0, expected: 1 });
        assert_eq!(Tensor::try_from(vec![vec![[1, 2]], vec![[3, 4]]]).unwrap().sizes(), [2, 1, 2]);
        assert_eq!(Tensor::try_from(vec![Vec::<f32>::new(); 2]).unwrap().sizes(), [2, 0]);
        assert_eq!(Tensor::try_from(Vec::<Vec<f32>>::new()).unwrap().sizes(), [0, 0]);
    }
}
