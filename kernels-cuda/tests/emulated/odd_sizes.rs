//! Tests of sizes and layouts that the recordings lack: inputs too large for one block, and odd strides. The CPU backend gives the expected
//! results.

use dispatch_runtime::prelude::*;

use crate::{ReverseThreadOrderGuard, copy_to_device, lock_free_device};

/// Returns small integers, whose sums are exact. The largest one occurs several times.
fn integers_with_exact_sums(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|i| f32::from(i8::try_from(i * 7919 % 104_729 % 23).unwrap()) - 11.0);
    Tensor::from_vec(values.collect::<Vec<f32>>(), sizes).unwrap()
}

#[track_caller]
fn assert_same_as_cpu(case: &str, cuda: Device, x: &Tensor, f: impl Fn(&Tensor) -> Result<Vec<Tensor>>) {
    let expected = f(x).unwrap();
    let found = f(&copy_to_device(x, cuda)).unwrap();
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found.sizes(), expected.sizes(), "{case}, result {k}");
        let double = |tensor: &Tensor| {
            let tensor = aten::to_dtype(&copy_to_device(tensor, Device::CPU), DType::F64, false, false, None).unwrap();
            aten::contiguous(&tensor, dispatch_runtime::MemoryFormat::Contiguous).unwrap().to_vec::<f64>().unwrap()
        };
        for (at, (a, b)) in double(found).iter().zip(double(expected)).enumerate() {
            let near = (a - b).abs() <= 1e-4 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
            assert!(near, "{case} of {:?}, result {k} at {at}: {a}, expected {b}", x.sizes());
        }
    }
}

#[test]
fn reductions_of_any_size_and_layout_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    let cases: &[(&[i64], &[i64], bool)] = &[
        (&[100_003], &[], false),
        (&[3, 70_001], &[1], false),
        (&[70_001, 3], &[0], false),
        (&[5000, 64], &[0], false),
        (&[40_000, 128], &[0], false),
        (&[5, 640, 36], &[1], false),
        (&[7, 33, 129], &[0, 2], false),
        (&[24, 16, 1000], &[0, 2], false),
        (&[24, 16, 10], &[0, 2], false),
        (&[300, 17, 5], &[0, 2], true),
        (&[64, 300], &[0], true),
        (&[64, 300], &[1], true),
        (&[2000, 10], &[1], false),
        (&[9, 2, 3, 4, 5], &[1, 3], false),
    ];
    for &(sizes, dim, transposed) in cases {
        let x = integers_with_exact_sums(sizes);
        let x = if transposed { aten::transpose_int(&x, 0, -1).unwrap() } else { x };
        assert_same_as_cpu("sum", cuda, &x, |x| Ok(vec![aten::sum_dim_intlist(x, Some(dim), false, None)?]));
        assert_same_as_cpu("amax", cuda, &x, |x| Ok(vec![aten::amax(x, dim, true)?]));
        assert_same_as_cpu("var_mean", cuda, &x, |x| {
            let (var, mean) = aten::var_mean_correction(x, Some(dim), Some(1.into()), false)?;
            Ok(vec![var, mean])
        });
        assert_same_as_cpu("argmax", cuda, &x, |x| Ok(vec![aten::argmax(x, dim.first().copied(), false)?]));
        assert_same_as_cpu("logsumexp", cuda, &x, |x| Ok(vec![aten::logsumexp(x, dim, false)?]));
    }
}

#[test]
fn softmax_of_short_and_long_lines_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    for sizes in [&[300, 3][..], &[70, 17], &[33, 128], &[9, 1030], &[3, 4096], &[2, 20_000], &[2, 17_003]] {
        let x = integers_with_exact_sums(sizes);
        assert_same_as_cpu("softmax", cuda, &x, |x| Ok(vec![aten::_softmax(x, 1, false)?]));
        assert_same_as_cpu("softmax across", cuda, &x, |x| Ok(vec![aten::_softmax(x, 0, false)?]));
        assert_same_as_cpu("log_softmax", cuda, &x, |x| Ok(vec![aten::_log_softmax(x, 1, false)?]));
        assert_same_as_cpu("backward", cuda, &x, |x| {
            Ok(vec![aten::_softmax_backward_data(x, &aten::_softmax(x, 1, false)?, 1, DType::F32)?])
        });
    }
}

#[test]
#[expect(clippy::many_single_char_names, reason = "gradients of three arguments")]
fn normalisation_of_any_size_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    for sizes in [&[200, 5][..], &[70, 64], &[9, 1030], &[3, 4096], &[2, 20_000], &[2, 17_003], &[1000, 16]] {
        let (x, length) = (integers_with_exact_sums(sizes), sizes[1]);
        assert_same_as_cpu("layer_norm", cuda, &x, |x| {
            let weight = aten::amax(x, &[0], false)?;
            let (y, mean, rstd) = aten::native_layer_norm(x, &[length], Some(&weight), Some(&weight), 1e-5)?;
            let bias = Some(&weight);
            let (a, b, c) =
                aten::native_layer_norm_backward(x, x, &[length], &mean, &rstd, Some(&weight), bias, &[true; 3])?;
            Ok(vec![y, mean, rstd, a, b, c])
        });
    }
    for sizes in [[2, 4, 70, 70], [3, 64, 8, 8], [1, 2, 300, 301], [40, 8, 3, 5], [1, 2, 512, 512]] {
        for format in [dispatch_runtime::MemoryFormat::Contiguous, dispatch_runtime::MemoryFormat::ChannelsLast] {
            let x = aten::contiguous(&integers_with_exact_sums(&sizes), format).unwrap();
            assert_same_as_cpu("batch_norm", cuda, &x, |x| {
                let weight = aten::amax(x, &[0, 2, 3], false)?;
                let (y, mean, rstd) =
                    aten::native_batch_norm(x, Some(&weight), Some(&weight), None, None, true, 0.1, 1e-5)?;
                let (mean_given, rstd_given) = (Some(&mean), Some(&rstd));
                let (a, b, c) = aten::native_batch_norm_backward(
                    x,
                    x,
                    Some(&weight),
                    None,
                    None,
                    mean_given,
                    rstd_given,
                    true,
                    1e-5,
                    &[true; 3],
                )?;
                Ok(vec![y, mean, rstd, a, b, c])
            });
            let [images, channels, height, width] = sizes;
            assert_same_as_cpu("group_norm", cuda, &x, |x| {
                let (y, mean, rstd) =
                    aten::native_group_norm(x, None, None, images, channels, height * width, 2, 1e-5)?;
                let (a, b, c) = aten::native_group_norm_backward(
                    x,
                    x,
                    &mean,
                    &rstd,
                    None,
                    images,
                    channels,
                    height * width,
                    2,
                    &[true; 3],
                )?;
                Ok(vec![y, mean, rstd, a, b, c])
            });
        }
    }
}

#[test]
fn scans_of_any_length_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    for sizes in [&[100_003][..], &[3, 70_001], &[300, 7], &[40, 200], &[20, 1030], &[3000, 4], &[5, 600, 3]] {
        let x = integers_with_exact_sums(sizes);
        for dim in 0..i64::try_from(sizes.len()).unwrap() {
            assert_same_as_cpu("cumsum", cuda, &x, |x| Ok(vec![aten::cumsum(x, dim, None)?]));
            assert_same_as_cpu("cummax", cuda, &x, |x| {
                let (values, places) = aten::cummax(x, dim)?;
                Ok(vec![values, places])
            });
            assert_same_as_cpu("logcumsumexp", cuda, &x, |x| Ok(vec![aten::logcumsumexp(x, dim)?]));
        }
    }
}

#[test]
fn broadcast_operands_of_any_size_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    for sizes in [[33, 64], [37, 5], [1, 2056], [700, 24]] {
        for dtype in [DType::F32, DType::F64, DType::BF16, DType::I64, DType::U8] {
            let x = aten::to_dtype(&integers_with_exact_sums(&sizes), dtype, false, false, None).unwrap();
            assert_same_as_cpu("a row, a column and another order", cuda, &x, |x| {
                let (row, column) = (aten::amax(x, &[0], false)?, aten::amax(x, &[1], true)?);
                let turned = aten::contiguous(&aten::t(x)?, dispatch_runtime::MemoryFormat::Contiguous)?;
                let by = aten::mul(x, &row)?;
                let mask = aten::gt(x, &column)?;
                Ok(vec![
                    aten::add(&by, &column, 2.into())?,
                    aten::add(&aten::t(&turned)?, x, 1.into())?,
                    aten::where_self(&mask, &row, x)?,
                    mask,
                ])
            });
        }
    }
}

#[test]
fn out_of_range_floats_convert_to_integers_as_on_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let all = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e30, 3e9, -3e9, 300.7, -1.5];
    for from in [DType::F32, DType::F64] {
        let x = aten::to_dtype(&Tensor::from_slice(&all), from, false, false, None).unwrap();
        for whole in [DType::I64, DType::I32, DType::I8, DType::U8] {
            let there = aten::to_dtype(&copy_to_device(&x, cuda), whole, false, false, None).unwrap();
            let (found, expected) =
                (copy_to_device(&there, Device::CPU), aten::to_dtype(&x, whole, false, false, None).unwrap());
            assert!(aten::equal(&found, &expected).unwrap(), "{from} to {whole}: {found:?}, expected {expected:?}");
        }
    }
}

#[test]
fn convolutions_of_images_without_channels_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for transposed in [false, true] {
        let x = integers_with_exact_sums(&[2, 0, 4, 4]);
        assert_same_as_cpu("convolution", cuda, &x, |x| {
            let weight_sizes = if transposed { [0, 3, 2, 2] } else { [3, 0, 2, 2] };
            let weight = copy_to_device(&integers_with_exact_sums(&weight_sizes), x.device());
            let bias = copy_to_device(&integers_with_exact_sums(&[3]), x.device());
            let convolve =
                |bias| aten::convolution(x, &weight, bias, &[1, 1], &[0, 0], &[1, 1], transposed, &[0, 0], 1);
            Ok(vec![convolve(Some(&bias))?, convolve(None)?])
        });
    }
}

#[test]
fn index_fill_without_indices_returns_its_input() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for sizes in [&[][..], &[3]] {
        assert_same_as_cpu("index_fill", cuda, &integers_with_exact_sums(sizes), |x| {
            let index = copy_to_device(&Tensor::from_slice::<i64>(&[]), x.device());
            Ok(vec![aten::index_fill_int_scalar(x, 0, &index, 5.into())?])
        });
    }
}
