//! Factorisations whose results are unique only up to sign, phase or order, such as eigenvectors.
//!
//! Any correct result counts. So the results are replaced by what determines them and is unique: the product of the factors, and the products
//! that show which factors are orthogonal or triangular.

use std::cmp::Ordering;

use dispatch_runtime::{Complex64, Name, Scalar, Value};

use crate::array::Array;
use crate::datum::Datum;
use crate::known_operators::known_base;
use crate::tensors::to_complex;

/// Returns the unique values that stand for the results of a call, or `None` if the results are unique themselves.
pub(crate) fn unique_values(name: Name<'_>, arguments: &[Datum], results: &[Datum]) -> Option<Vec<Datum>> {
    let matrices = |index: usize| results.get(index).and_then(Datum::as_array).and_then(Matrices::from_array);
    let values = |index: usize| results.get(index).and_then(Datum::as_array).cloned();
    let computes_vectors = !matches!(arguments.get(2), Some(Datum::NonTensor(Value::Bool(false))));
    let unique = match known_base(name) {
        "linalg_eigh" | "_linalg_eigh" if computes_vectors => {
            let (eigenvalues, vectors) = (values(0)?, matrices(1)?);
            let matrix = vectors.with_scaled_columns(&eigenvalues).product(&vectors.adjoint());
            vec![eigenvalues, matrix.to_array(), vectors.adjoint().product(&vectors).to_array()]
        }
        "linalg_svd" => singular_values(&matrices(0)?, values(1)?, &matrices(2)?),
        "_linalg_svd" if computes_vectors => singular_values(&matrices(0)?, values(1)?, &matrices(2)?),
        "svd" if computes_vectors => singular_values(&matrices(0)?, values(1)?, &matrices(2)?.adjoint()),
        "linalg_eig" => {
            let given = Matrices::from_array(arguments.first()?.as_array()?)?;
            let (eigenvalues, vectors) = (values(0)?, matrices(1)?);
            let scaled = vectors.with_scaled_columns(&eigenvalues);
            let residual = given.product(&vectors).difference(&scaled);
            let of_norm_one = vectors.column_norms();
            vec![with_sorted_rows(&eigenvalues), Matrices { dtype: vectors.dtype, ..residual }.to_array(), of_norm_one]
        }
        "linalg_eigvals" | "_linalg_eigvals" => vec![with_sorted_rows(&values(0)?)],
        "linalg_qr" => {
            let (orthogonal, triangle) = (matrices(0)?, matrices(1)?);
            let below = triangle.below_diagonal().to_array();
            if orthogonal.elements.is_empty() {
                vec![triangle.adjoint().product(&triangle).to_array(), below]
            } else {
                let unit = orthogonal.adjoint().product(&orthogonal);
                vec![orthogonal.product(&triangle).to_array(), unit.to_array(), below]
            }
        }
        // The matrix or its transpose is decomposed, as its strides decide.
        "_linalg_det" => vec![values(0)?, lu_product(&matrices(1)?, &values(2)?).to_array()],
        "_linalg_slogdet" => vec![values(0)?, values(1)?, lu_product(&matrices(2)?, &values(3)?).to_array()],
        "linalg_polar" => {
            let (orthogonal, positive) = (matrices(0)?, matrices(1)?);
            vec![orthogonal.product(&positive).to_array(), positive.to_array()]
        }
        _ => return None,
    };
    Some(unique.into_iter().map(Datum::Array).collect())
}

/// Returns the singular values, the product of the factors, and the products of each factor with its adjoint.
fn singular_values(left: &Matrices, values: Array, right: &Matrices) -> Vec<Array> {
    let matrix = left.with_scaled_columns(&values).product(right).to_array();
    let unit = |columns: Matrices| columns.adjoint().product(&columns).to_array();
    let units = [unit(left.clone()), unit(right.adjoint())];
    [values, matrix].into_iter().chain(units).collect()
}

/// Returns the matrices of LU decompositions, plus their transposes.
fn lu_product(factors: &Matrices, pivots: &Array) -> Matrices {
    let size = factors.rows;
    let (zero, one) = (Complex64::new(0.0, 0.0), Complex64::new(1.0, 0.0));
    let lower = factors.with_elements(size, size, |matrix, row, column| match row.cmp(&column) {
        Ordering::Less => zero,
        Ordering::Equal => one,
        Ordering::Greater => factors.at(matrix, row, column),
    });
    let upper = factors.with_elements(
        size,
        size,
        |matrix, row, column| {
            if row > column { zero } else { factors.at(matrix, row, column) }
        },
    );
    let mut product = lower.product(&upper);
    let pivots: Vec<usize> = pivots.elements.iter().map(|pivot| usize::try_from(pivot.to_i64()).unwrap_or(1)).collect();
    for (matrix, pivots) in pivots.chunks(size.max(1)).enumerate() {
        for (row, &pivot) in pivots.iter().enumerate().rev() {
            for column in 0..size {
                let start = matrix * size * size + column;
                product.elements.swap(start + row * size, start + (pivot - 1) * size);
            }
        }
    }
    product.with_elements(size, size, |matrix, row, column| {
        product.at(matrix, row, column) + product.at(matrix, column, row)
    })
}

/// Sorts the complex numbers of each row. The order is that of their components along a line that is no axis, so rounding errors do not
/// exchange conjugates.
fn with_sorted_rows(array: &Array) -> Array {
    let row = array.sizes.last().map_or(1, |&size| usize::try_from(size).unwrap_or(0)).max(1);
    let place = |number: &Scalar| to_complex(*number).re * 1.0_f64.cos() + to_complex(*number).im * 1.0_f64.sin();
    let mut sorted = array.contiguous();
    sorted.elements.chunks_mut(row).for_each(|row| row.sort_by(|one, other| place(one).total_cmp(&place(other))));
    sorted
}

/// A batch of matrices in row-major order.
#[derive(Clone)]
struct Matrices {
    dtype: dispatch_runtime::DType,
    batch: Vec<i64>,
    rows: usize,
    columns: usize,
    elements: Vec<Complex64>,
}

impl Matrices {
    fn from_array(array: &Array) -> Option<Self> {
        let [batch @ .., rows, columns] = &array.sizes[..] else { return None };
        let elements = array.elements.iter().map(|&element| to_complex(element)).collect();
        let (rows, columns) = (usize::try_from(*rows).ok()?, usize::try_from(*columns).ok()?);
        Some(Self { dtype: array.dtype, batch: batch.to_vec(), rows, columns, elements })
    }

    fn to_array(&self) -> Array {
        let sizes = [self.rows, self.columns].map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        let sizes = [&self.batch[..], &sizes].concat();
        Array::new(self.dtype, &sizes, self.elements.iter().map(|&element| Scalar::Complex(element)).collect())
    }

    /// Computes the element at each place from the index of the matrix, the row and the column.
    fn with_elements(&self, rows: usize, columns: usize, element: impl Fn(usize, usize, usize) -> Complex64) -> Self {
        let count = usize::try_from(self.batch.iter().product::<i64>()).unwrap_or(0);
        let places = (0..count * rows * columns).map(|at| (at / (rows * columns), at / columns % rows, at % columns));
        let elements = places.map(|(matrix, row, column)| element(matrix, row, column)).collect();
        Self { dtype: self.dtype, batch: self.batch.clone(), rows, columns, elements }
    }

    fn at(&self, matrix: usize, row: usize, column: usize) -> Complex64 {
        self.elements[(matrix * self.rows + row) * self.columns + column]
    }

    fn adjoint(&self) -> Self {
        self.with_elements(self.columns, self.rows, |matrix, row, column| self.at(matrix, column, row).conj())
    }

    /// Multiplies by other matrices. The longer of the two inner dimensions is cut: a full factor has columns that the product does not use.
    fn product(&self, other: &Self) -> Self {
        let inner = self.columns.min(other.rows);
        self.with_elements(self.rows, other.columns, |matrix, row, column| {
            (0..inner).map(|k| self.at(matrix, row, k) * other.at(matrix, k, column)).sum()
        })
    }

    fn difference(&self, other: &Self) -> Self {
        self.with_elements(self.rows, self.columns, |matrix, row, column| {
            self.at(matrix, row, column) - other.at(matrix, row, column)
        })
    }

    fn below_diagonal(&self) -> Self {
        self.with_elements(self.rows, self.columns, |matrix, row, column| {
            if row > column { self.at(matrix, row, column) } else { Complex64::default() }
        })
    }

    /// Multiplies each column by a number, and removes the columns without one.
    fn with_scaled_columns(&self, numbers: &Array) -> Self {
        let columns = numbers.sizes.last().map_or(0, |&size| usize::try_from(size).unwrap_or(0)).min(self.columns);
        self.with_elements(self.rows, columns, |matrix, row, column| {
            self.at(matrix, row, column) * to_complex(numbers.elements[matrix * columns + column])
        })
    }

    fn column_norms(&self) -> Array {
        let norms = self.with_elements(1, self.columns, |matrix, _, column| {
            (0..self.rows).map(|row| self.at(matrix, row, column).norm_sqr()).sum::<f64>().sqrt().into()
        });
        norms.to_array()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch_runtime::DType;

    fn floats(sizes: &[i64], elements: &[f64]) -> Datum {
        Datum::Array(Array::from_floats(sizes, elements))
    }

    fn eigen(values: &[f64], vectors: &[f64]) -> Vec<Datum> {
        let name = Name::parse("aten::linalg_eigh").unwrap();
        unique_values(name, &[], &[floats(&[2], values), floats(&[2, 2], vectors)]).unwrap()
    }

    fn are_equal(one: &[Datum], other: &[Datum]) -> bool {
        one.iter().zip(other).all(|(one, other)| crate::compare::compare(one, other).is_ok())
    }

    #[test]
    fn the_sign_of_a_vector_does_not_matter_but_its_direction_and_length_do() {
        let expected = eigen(&[1.0, 2.0], &[1.0, 0.0, 0.0, 1.0]);
        assert!(are_equal(&eigen(&[1.0, 2.0], &[-1.0, 0.0, 0.0, 1.0]), &expected));
        assert!(!are_equal(&eigen(&[1.0, 2.0], &[0.0, 1.0, 1.0, 0.0]), &expected));
        assert!(!are_equal(&eigen(&[0.0, 0.0], &[1.0, 0.0, 0.0, 2.0]), &eigen(&[0.0, 0.0], &[1.0, 0.0, 0.0, 1.0])));
    }

    #[test]
    fn the_order_of_eigenvalues_does_not_matter() {
        let complex = |imaginary: [f64; 2]| {
            let numbers = imaginary.map(|im| Scalar::Complex(Complex64::new(1.0, im)));
            [Datum::Array(Array::new(DType::C128, &[2], numbers.to_vec()))]
        };
        let sorted = |of| unique_values(Name::parse("aten::linalg_eigvals").unwrap(), &[], &complex(of)).unwrap();
        assert!(are_equal(&sorted([2.0, -2.0]), &sorted([-2.0, 2.0])));
        assert!(!are_equal(&sorted([2.0, 2.0]), &sorted([-2.0, 2.0])));
    }
}
