//! Tests of matrix products: every product is compared with its definition, computed in integers.

use super::*;
use crate::thread_pool::set_num_threads;
use dispatch_runtime::{Complex32, Complex64, bf16, f16};
use proptest::prelude::*;

/// A matrix entry for tests: it can be made from a small integer.
trait TestEntry: Entry {
    fn from_int(value: i64) -> Self;
    fn sum_from_int(value: i64) -> Self::Sum;
    /// Returns a value that makes the result wrong if a product reads it.
    fn poison_value() -> Self;
}

macro_rules! impl_test_entry {
    ($($T:ty: $of:expr, $poison:expr;)*) => {$(
        impl TestEntry for $T {
            fn from_int(value: i64) -> Self {
                Self::narrow_from_sum(Self::sum_from_int(value))
            }

            fn sum_from_int(value: i64) -> Self::Sum {
                $of(value)
            }

            fn poison_value() -> Self {
                $poison
            }
        }
    )*};
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn to_f64(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, reason = "integers wrap on purpose, and floats are small")]
mod entry_types {
    use super::*;
    impl_test_entry! {
        f32: |x| to_f64(x) as f32, Self::NAN;
        f64: to_f64, Self::NAN;
        f16: |x| to_f64(x) as f32, Self::NAN;
        bf16: |x| to_f64(x) as f32, Self::NAN;
        Complex32: |x| Self::new(to_f64(x) as f32, 0.0), Self::new(f32::NAN, 0.0);
        Complex64: |x| Self::new(to_f64(x), 0.0), Self::new(f64::NAN, 0.0);
        u8: |x: i64| x.cast_unsigned() as Self, 77;
        i8: |x| x as Self, 77;
        i16: |x| x as Self, 777;
        i32: |x| x as Self, 777;
        i64: |x| x, 777;
    }
}

/// The memory layout of a matrix.
#[derive(Clone, Copy, Debug)]
enum Layout {
    RowMajor,
    ColumnMajor,
    /// Every other column, with a gap between rows.
    EveryOtherColumn,
    /// One row, repeated with stride 0.
    RepeatedRow,
}

impl Layout {
    fn strides(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::RowMajor => [columns, 1],
            Self::ColumnMajor => [1, rows],
            Self::EveryOtherColumn => [2 * columns + 3, 2],
            Self::RepeatedRow => [0, 1],
        }
    }
}

fn required_length(sizes: [usize; 2], strides: [usize; 2]) -> usize {
    sizes.iter().zip(strides).map(|(size, stride)| size * stride).sum::<usize>() + 1
}

#[derive(Clone, Debug)]
struct ProductCase {
    sizes: [usize; 3],
    layouts: [Layout; 3],
    alpha: i64,
    beta: i64,
    threads: usize,
    seed: i64,
}

fn random_written_layout() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::RowMajor), Just(Layout::ColumnMajor), Just(Layout::EveryOtherColumn)]
}

fn random_read_layout() -> impl Strategy<Value = Layout> {
    prop_oneof![3 => random_written_layout(), 1 => Just(Layout::RepeatedRow)]
}

fn random_size() -> impl Strategy<Value = usize> {
    prop_oneof![1 => 0..2_usize, 4 => 1..20_usize, 4 => 20..140_usize]
}

fn random_case() -> impl Strategy<Value = ProductCase> {
    (
        (
            [random_size(), random_size(), random_size()],
            (random_read_layout(), random_read_layout(), random_written_layout()),
        ),
        (-2..3_i64, -2..3_i64, 1..4_usize, 0..1000_i64),
    )
        .prop_map(|((sizes, (a, b, c)), (alpha, beta, threads, seed))| ProductCase {
            sizes,
            layouts: [a, b, c],
            alpha,
            beta,
            threads,
            seed,
        })
}

/// Returns numbers from -1 to 1: sums of a hundred products are exact in every dtype.
fn test_numbers(seed: i64, length: usize) -> Vec<i64> {
    let mut state = seed * 7919 + 13;
    (0..length)
        .map(|_| {
            state = (state * 1_103_515_245 + 12345) & 0x7fff_ffff;
            (state >> 16) % 3 - 1
        })
        .collect()
}

#[expect(clippy::many_single_char_names, reason = "the usual names of the sizes of a matrix product")]
fn check_product<T: TestEntry>(case: &ProductCase) {
    let ProductCase { sizes: [m, n, k], layouts, alpha, beta, threads, seed } = *case;
    set_num_threads(threads);
    let sizes = [[m, k], [k, n], [m, n]];
    let strides: [_; 3] = std::array::from_fn(|index| layouts[index].strides(sizes[index]));
    let [a, b, mut c] = std::array::from_fn(|index| {
        test_numbers(seed + i64::try_from(index).unwrap(), required_length(sizes[index], strides[index]))
    });

    let entries = |numbers: &[i64]| numbers.iter().map(|&x| T::from_int(x)).collect::<Vec<T>>();
    let (left, right) = (entries(&a), entries(&b));
    let mut found = if beta == 0 { vec![T::poison_value(); c.len()] } else { entries(&c) };
    gemm(
        T::sum_from_int(alpha),
        Matrix::new(&left, sizes[0], strides[0]).unwrap(),
        Matrix::new(&right, sizes[1], strides[1]).unwrap(),
        T::sum_from_int(beta),
        MatrixMut::new(&mut found, sizes[2], strides[2]).unwrap(),
    );

    let mut is_entry = vec![false; c.len()];
    for row in 0..m {
        for column in 0..n {
            let at = |index: usize, row, column| row * strides[index][0] + column * strides[index][1];
            let sum: i64 = (0..k).map(|inner| a[at(0, row, inner)] * b[at(1, inner, column)]).sum();
            let entry = at(2, row, column);
            c[entry] = alpha * sum + beta * c[entry];
            is_entry[entry] = true;
            assert!(
                found[entry] == T::from_int(c[entry]),
                "{} at {row}, {column}: {:?} and not {}",
                T::DTYPE,
                found[entry],
                c[entry]
            );
        }
    }
    for (index, &found) in found.iter().enumerate().filter(|&(index, _)| !is_entry[index] && beta != 0) {
        assert!(found == T::from_int(c[index]), "{} wrote outside of the matrix, at {index}", T::DTYPE);
    }
}

/// Compares a product with a summand to the product over a copy of the summand.
#[expect(clippy::many_single_char_names, reason = "the usual names of the sizes of a matrix product")]
fn check_summand<T: TestEntry>(case: &ProductCase, layout: Layout) {
    let ProductCase { sizes: [m, n, k], layouts, alpha, beta, threads, seed } = *case;
    set_num_threads(threads);
    let (sizes, layouts) = ([[m, k], [k, n], [m, n], [m, n]], [layouts[0], layouts[1], layouts[2], layout]);
    let strides: [_; 4] = std::array::from_fn(|index| layouts[index].strides(sizes[index]));
    let [a, b, c, summand] = std::array::from_fn(|index| {
        let numbers = test_numbers(seed + i64::try_from(index).unwrap(), required_length(sizes[index], strides[index]));
        numbers.into_iter().map(T::from_int).collect::<Vec<T>>()
    });
    let (mut found, mut expected) = (c.clone(), c);
    for row in 0..m {
        for column in 0..n {
            expected[row * strides[2][0] + column * strides[2][1]] =
                summand[row * strides[3][0] + column * strides[3][1]];
        }
    }
    let (alpha, beta) = (T::sum_from_int(alpha), T::sum_from_int(beta));
    let (a, b) = (Matrix::new(&a, sizes[0], strides[0]).unwrap(), Matrix::new(&b, sizes[1], strides[1]).unwrap());
    let summand = Matrix::new(&summand, sizes[3], strides[3]).unwrap();
    gemm(alpha, a, b, beta, MatrixMut::new(&mut expected, sizes[2], strides[2]).unwrap());
    gemm_with_summand(alpha, a, b, beta, summand, MatrixMut::new(&mut found, sizes[2], strides[2]).unwrap());
    let differs = (0..found.len()).find(|&index| found[index] != expected[index]);
    assert_eq!(differs, None, "{} differs at this element", T::DTYPE);
}

#[test]
fn a_summand_of_several_pieces_is_added_once() {
    let layouts = [Layout::RowMajor, Layout::ColumnMajor, Layout::RowMajor];
    for threads in 1..4 {
        let case = ProductCase { sizes: [700, 300, 20], layouts, alpha: 1, beta: 1, threads, seed: 1 };
        check_summand::<f32>(&case, Layout::RepeatedRow);
        check_summand::<f64>(&case, Layout::ColumnMajor);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn products_equal_their_definition(case in random_case()) {
        check_product::<f32>(&case);
        check_product::<f64>(&case);
        check_product::<f16>(&case);
        check_product::<bf16>(&case);
        check_product::<Complex32>(&case);
        check_product::<Complex64>(&case);
        check_product::<u8>(&case);
        check_product::<i8>(&case);
        check_product::<i16>(&case);
        check_product::<i32>(&case);
        check_product::<i64>(&case);
    }

    #[test]
    fn a_product_with_a_summand_equals_the_product_over_its_copy(case in random_case(), summand in random_read_layout()) {
        check_summand::<f32>(&case, summand);
        check_summand::<f64>(&case, summand);
        check_summand::<i32>(&case, summand);
    }

    #[test]
    fn a_batched_product_equals_its_single_products(count in 0..9_usize, sizes in [0..40_usize, 0..40_usize, 0..40_usize], threads in 1..4_usize, shared in any::<bool>()) {
        set_num_threads(threads);
        let [m, n, k] = sizes;
        let numbers = |seed, length| test_numbers(seed, length).into_iter().map(f32::sum_from_int).collect::<Vec<_>>();
        let (a, b) = (numbers(1, count * m * k + 1), numbers(2, count * k * n + 1));
        let (mut together, mut alone) = (vec![f32::NAN; count * m * n + 1], vec![f32::NAN; count * m * n + 1]);
        let step = if shared { 0 } else { k * n };
        batched_gemm(
            1.0,
            Batch::new(&a, [count, m, k], [m * k, k, 1]).unwrap(),
            Batch::new(&b, [count, k, n], [step, n, 1]).unwrap(),
            0.0,
            BatchMut::new(&mut together, [count, m, n], [m * n, n, 1]).unwrap(),
        );
        for index in 0..count {
            gemm(
                1.0,
                Matrix::new(&a[index * m * k..], [m, k], [k, 1]).unwrap(),
                Matrix::new(&b[index * step..], [k, n], [n, 1]).unwrap(),
                0.0,
                MatrixMut::new(&mut alone[index * m * n..], [m, n], [n, 1]).unwrap(),
            );
        }
        let bits = |entries: Vec<f32>| entries.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        prop_assert_eq!(bits(together), bits(alone));
    }
}

#[test]
fn complex_products_equal_their_definition() {
    let [rows, columns, terms] = [33, 21, 18];
    let numbers = |seed, length| -> Vec<Complex64> {
        let parts: Vec<f64> = test_numbers(seed, 2 * length).into_iter().map(to_f64).collect();
        parts.chunks(2).map(|parts| Complex64::new(parts[0], parts[1])).collect()
    };
    let (a, b, before) = (numbers(1, rows * terms), numbers(2, 2 * terms * columns), numbers(3, rows * columns));
    let (alpha, beta) = (Complex64::new(2.0, -1.0), Complex64::new(0.0, 3.0));
    let mut c = before.clone();
    gemm(
        alpha,
        Matrix::new(&a, [rows, terms], [1, rows]).unwrap(),
        Matrix::new(&b, [terms, columns], [2 * columns, 2]).unwrap(),
        beta,
        MatrixMut::new(&mut c, [rows, columns], [columns, 1]).unwrap(),
    );
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let products = (0..terms).map(|term| a[term * rows + row] * b[term * 2 * columns + 2 * column]);
        let expected = alpha * products.sum::<Complex64>() + beta * before[row * columns + column];
        assert_eq!(c[row * columns + column], expected, "{row}, {column}");
    }
}

#[test]
fn negative_strides_do_not_change_the_product() {
    let [rows, columns, terms] = [40, 30, 50];
    let numbers = |seed, length| test_numbers(seed, length).into_iter().map(f32::sum_from_int).collect::<Vec<_>>();
    let (a, b) = (numbers(1, rows * terms), numbers(2, terms * columns));
    let product = |a: Matrix<'_, f32>, b: Matrix<'_, f32>, c: &mut [f32], strides: [isize; 2]| {
        let start = if strides[0] < 0 { c.len() - 1 } else { 0 };
        // SAFETY: the strides reach all of `c`, from its first or its last entry on.
        gemm(2.0, a, b, 0.0, unsafe { MatrixMut::from_raw(&raw mut c[start], [rows, columns], strides) });
    };
    let (mut forwards, mut backwards) = (vec![f32::NAN; rows * columns], vec![f32::NAN; rows * columns]);
    let (left, right) = (Matrix::new(&a, [rows, terms], [terms, 1]), Matrix::new(&b, [terms, columns], [columns, 1]));
    product(left.unwrap(), right.unwrap(), &mut forwards, [columns.cast_signed(), 1]);
    let (a, b): (Vec<f32>, Vec<f32>) = (a.into_iter().rev().collect(), b.into_iter().rev().collect());
    // SAFETY: the strides reach all entries, from the last one on.
    let (left, right) = unsafe {
        (
            Matrix::from_raw(&raw const a[rows * terms - 1], [rows, terms], [-terms.cast_signed(), -1]),
            Matrix::from_raw(&raw const b[terms * columns - 1], [terms, columns], [-columns.cast_signed(), -1]),
        )
    };
    product(left, right, &mut backwards, [-columns.cast_signed(), -1]);
    backwards.reverse();
    assert_eq!(forwards, backwards);
}

#[test]
fn floats_of_16_bits_widen_exactly() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        assert!(
            half.widen_to_sum().to_bits() == half.to_f32().to_bits() || half.is_nan() && half.widen_to_sum().is_nan(),
            "{bits:x}"
        );
        assert!(
            brain.widen_to_sum().to_bits() == brain.to_f32().to_bits()
                || brain.is_nan() && brain.widen_to_sum().is_nan(),
            "{bits:x}"
        );
    }
}

#[test]
fn products_of_16_bit_floats_are_rounded_once() {
    // Each term is lost when added to 2048 in f16; the sum of several terms is not.
    let terms = 3000;
    let (a, b) = (vec![f16::ONE; 8 * terms], vec![f16::ONE; 8 * terms]);
    let mut c = [f16::ZERO; 64];
    gemm(
        1.0,
        Matrix::new(&a, [8, terms], [terms, 1]).unwrap(),
        Matrix::new(&b, [terms, 8], [8, 1]).unwrap(),
        0.0,
        MatrixMut::new(&mut c, [8, 8], [8, 1]).unwrap(),
    );
    assert_eq!(c, [f16::from_f32(3000.0); 64]);
}

/// Multiplies small integers, whose products are summed without rounding if there are few terms.
#[test]
fn products_of_16_bit_floats_do_not_depend_on_blocks() {
    let (rows, columns, terms) = (530, 2070, 3);
    let number = |place: usize| to_f64(i64::try_from(place * 7 % 5).unwrap() - 2);
    let a: Vec<bf16> = (0..rows * terms).map(|place| bf16::from_f64(number(place))).collect();
    let b: Vec<bf16> = (0..terms * columns).map(|place| bf16::from_f64(number(place))).collect();
    for by_rows in [true, false] {
        let mut c = vec![bf16::ONE; rows * columns];
        let strides = if by_rows { [columns, 1] } else { [1, rows] };
        gemm(
            2.0,
            Matrix::new(&a, [rows, terms], [terms, 1]).unwrap(),
            Matrix::new(&b, [terms, columns], [1, terms]).unwrap(),
            3.0,
            MatrixMut::new(&mut c, [rows, columns], strides).unwrap(),
        );
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let sum: f64 = (0..terms).map(|term| number(row * terms + term) * number(column * terms + term)).sum();
            assert_eq!(c[row * strides[0] + column * strides[1]].to_f64(), 2.0 * sum + 3.0, "{row}, {column}");
        }
    }
}

#[test]
fn products_without_entries_return_at_once_for_any_size() {
    let huge = 1 << 60;
    let none = Matrix::new(&[0.0_f32; 0], [huge, 0], [0, 1]).unwrap();
    let square = Matrix::new(&[0.0_f32; 0], [0, 0], [0, 1]).unwrap();
    gemm(1.0, none, square, 1.0, MatrixMut::new(&mut [], [huge, 0], [0, 1]).unwrap());
    gemm(1.0, square, none.transposed(), 1.0, MatrixMut::new(&mut [], [0, huge], [1, 0]).unwrap());
}

#[test]
#[should_panic(expected = "sizes do not match: 2x3 times 2x3 is not 2x3")]
fn mismatched_sizes_panic() {
    let a = [0; 6];
    let a = Matrix::new(&a, [2, 3], [3, 1]).unwrap();
    gemm(1, a, a, 0, MatrixMut::new(&mut [0; 6], [2, 3], [3, 1]).unwrap());
}

#[test]
fn out_of_bounds_views_are_rejected() {
    assert!(Matrix::new(&[0; 5], [2, 3], [3, 1]).is_none());
    assert!(Matrix::new(&[0; 5], [2, usize::MAX], [3, usize::MAX]).is_none());
    assert!(Matrix::new(&[0; 0], [0, 3], [3, 1]).is_some());
    assert!(MatrixMut::new(&mut [0; 9], [3, 3], [1, 1]).is_none());
    assert!(MatrixMut::new(&mut [0; 9], [2, 3], [2, 1]).is_none());
    assert!(BatchMut::new(&mut [0; 9], [2, 2, 2], [1, 4, 2]).is_some());
    assert!(BatchMut::new(&mut [0; 9], [2, 2, 2], [3, 4, 2]).is_none());
}
