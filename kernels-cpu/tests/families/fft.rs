//! Tests of Fourier transforms: they equal sums of waves, for every kind of length, and forget old lengths.

#![expect(clippy::cast_precision_loss, reason = "the lengths are small")]

use aten::prelude::*;
use dispatch_runtime::{Complex64, DType, Result, Tensor};

const TAU: f64 = std::f64::consts::TAU;

/// Returns numbers without a pattern.
fn signal(length: usize) -> Vec<Complex64> {
    let number = |at: usize| ((at * at * 7 + at * 3) % 23) as f64 / 8.0 - 1.0;
    (0..length).map(|at| Complex64::new(number(at), number(at + 5))).collect()
}

/// Computes the transform by its definition.
fn sums_of_waves(signal: &[Complex64]) -> Vec<Complex64> {
    let length = signal.len();
    let wave = |product: usize| Complex64::from_polar(1.0, -TAU * (product % length) as f64 / length as f64);
    (0..length).map(|k| signal.iter().enumerate().map(|(at, x)| x * wave(k * at)).sum()).collect()
}

fn assert_close(found: &[Complex64], expected: &[Complex64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // Each of the elements, which are below 3, may be rounded a few times by the transform and by the sum.
    let bound = 16.0 * f64::EPSILON * (1 + found.len()) as f64;
    let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).norm() < bound);
    assert!(close, "{what}: {found:?}, but expected {expected:?}");
}

#[test]
fn transforms_equal_sums_of_waves_for_every_kind_of_length() -> Result<()> {
    for length in (1..70).chain([97, 120, 121, 127, 128, 189, 211, 250, 256, 289, 509, 1024]) {
        let size = i64::try_from(length).unwrap_or(0);
        let (numbers, what) = (signal(length), format!("length {length}"));
        let complex = Tensor::from_vec(numbers.clone(), [size])?;
        let expected = sums_of_waves(&numbers);
        let found = aten::fft_fft!(&complex)?;
        assert_close(&found.to_vec()?, &expected, &what);
        assert_close(&aten::fft_ifft!(&found)?.to_vec()?, &numbers, &what);

        let real: Vec<Complex64> = numbers.iter().map(|x| x.re.into()).collect();
        let expected = sums_of_waves(&real);
        let input = complex.real()?;
        let half = aten::fft_rfft!(&input)?;
        assert_close(&half.to_vec()?, &expected[..=length / 2], &what);
        assert_close(&aten::fft_fft!(&input)?.to_vec()?, &expected, &what);
        let again: Vec<f64> = aten::fft_irfft!(&half, n = size)?.to_vec()?;
        assert_close(&again.iter().map(|&x| x.into()).collect::<Vec<_>>(), &real, &what);
    }
    Ok(())
}

#[test]
fn all_dimensions_and_orders_of_dimensions_give_the_same_frequencies() -> Result<()> {
    let sizes = [3, 9, 2, 70];
    let count = sizes.iter().product::<i64>();
    let x = Tensor::from_vec(signal(usize::try_from(count).unwrap_or(0)), sizes)?;
    let turned = x.permute([3, 1, 0, 2])?.contiguous()?.permute([2, 1, 3, 0])?;
    for dims in [&[0, 1, 2, 3][..], &[3, 1], &[2, 0], &[1]] {
        let mut expected = x.clone();
        for &dim in dims {
            expected = aten::fft_fft!(&expected, dim = dim)?;
        }
        for input in [&x, &turned] {
            let found = aten::fft_fftn!(input, dim = dims)?;
            assert_close(&found.contiguous()?.to_vec()?, &expected.contiguous()?.to_vec()?, &format!("{dims:?}"));
        }
    }
    Ok(())
}

#[test]
fn a_line_with_nan_leaves_the_other_lines_unchanged() -> Result<()> {
    for length in [8, 9, 100] {
        let mut x = Tensor::ones([3, length], DType::F32)?;
        x.i((1, 0))?.fill_(f32::NAN)?;
        x = aten::fft_irfft!(&aten::fft_rfft!(&x)?, n = length)?;
        let has_nan = x.isnan()?.any_dims(1)?.to(DType::U8)?.to_vec::<u8>()?;
        assert_eq!(has_nan, [0, 1, 0], "length {length}");
    }
    Ok(())
}

#[test]
fn more_lengths_than_are_cached_from_several_threads() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for length in (1..300).map(|at| (at * 7 + thread * 50) % 300 + 1) {
                    let x = Tensor::ones(length, DType::F64).unwrap();
                    let first =
                        aten::fft_rfft!(&x).unwrap().real().unwrap().contiguous().unwrap().to_vec::<f64>().unwrap()[0];
                    assert!(
                        (first - f64::from(length)).abs() <= 4.0 * f64::EPSILON * f64::from(length),
                        "{first} for length {length}"
                    );
                }
            });
        }
    });
}
