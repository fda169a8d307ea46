//! Tests of pooling over random windows, and of gradients with arbitrary indices.

use dispatch_runtime::prelude::*;

use crate::{ReverseThreadOrderGuard, copy_to_device, lock_free_device};

fn convert_dtype(tensor: &Tensor, dtype: DType) -> Tensor {
    aten::to_dtype(tensor, dtype, false, false, None).unwrap()
}

fn to_f64_vec(tensor: &Tensor) -> Vec<f64> {
    convert_dtype(&copy_to_device(tensor, Device::CPU), DType::F64).to_vec().unwrap()
}

/// Returns unordered numbers, some of which are equal.
fn numbers_with_ties(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|i| f64::from(i32::try_from(i * 7919 % 104_729 % 201).unwrap()) / 64.0 - 1.5);
    Tensor::from_vec(values.collect::<Vec<f64>>(), sizes).unwrap()
}

/// Returns the random numbers that determine the windows of images.
fn window_samples(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|i| f64::from(i32::try_from(i * 6151 % 997).unwrap()) / 997.0);
    Tensor::from_vec(values.collect::<Vec<f64>>(), sizes).unwrap()
}

const FLOATING_DTYPES: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

#[test]
fn fractional_max_pool_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    let cases: &[(&[i64], &[i64], &[i64])] = &[
        (&[3, 5, 61, 47], &[2, 3], &[23, 31]),
        (&[2, 3, 40, 8], &[4, 8], &[37, 1]),
        (&[4, 9, 30], &[1, 2], &[9, 7]),
        (&[2, 3, 9, 20, 17], &[2, 3, 2], &[5, 11, 8]),
        (&[2, 7, 6, 5], &[3, 2, 1], &[2, 5, 5]),
    ];
    for &(sizes, kernel, output) in cases {
        let rank = kernel.len();
        let (forward, backward) = match rank {
            2 => (
                aten::fractional_max_pool2d as fn(&_, &_, &_, &_) -> _,
                aten::fractional_max_pool2d_backward as fn(&_, &_, &_, &_, &_) -> _,
            ),
            _ => (
                aten::fractional_max_pool3d as fn(&_, &_, &_, &_) -> _,
                aten::fractional_max_pool3d_backward as fn(&_, &_, &_, &_, &_) -> _,
            ),
        };
        let batch = if sizes.len() == rank + 1 { 1 } else { sizes[0] };
        let channels = sizes[sizes.len() - rank - 1];
        let random = window_samples(&[batch, channels, i64::try_from(rank).unwrap()]);
        for dtype in FLOATING_DTYPES {
            let all = |device| -> [Vec<f64>; 3] {
                let [x, random] = [numbers_with_ties(sizes), random.clone()]
                    .map(|tensor| copy_to_device(&convert_dtype(&tensor, dtype), device));
                let (found, indices): (Tensor, Tensor) = Result::unwrap(forward(&x, kernel, output, &random));
                let grads = copy_to_device(&convert_dtype(&numbers_with_ties(found.sizes()), dtype), device);
                let gradient: Tensor = Result::unwrap(backward(&grads, &x, kernel, output, &indices));
                [to_f64_vec(&found), to_f64_vec(&indices), to_f64_vec(&gradient)]
            };
            let (expected, found) = (all(Device::CPU), all(cuda));
            assert_eq!(found, expected, "{sizes:?} {kernel:?} {output:?} {dtype}");
        }
    }
}

#[test]
fn windows_of_invalid_samples_stay_inside_the_image() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let x = convert_dtype(&numbers_with_ties(&[1, 8, 20, 20]), DType::F32);
    let odd = [-0.4_f32, -7.0, 1.0, 9.5, 1e10, -1e10, f32::INFINITY, f32::NAN];
    let odd = Tensor::from_vec(odd.iter().flat_map(|&x| [x, 0.5]).collect::<Vec<f32>>(), [1, 8, 2]).unwrap();
    let pooled = |device| {
        let [x, odd] = [&x, &odd].map(|tensor| copy_to_device(tensor, device));
        let (found, indices) = aten::fractional_max_pool2d(&x, &[3, 2], &[7, 9], &odd).unwrap();
        (to_f64_vec(&found), to_f64_vec(&indices))
    };
    assert_eq!(pooled(cuda), pooled(Device::CPU));
}

#[test]
fn gradients_are_added_at_indices_outside_of_the_window() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let (x, grads) = (numbers_with_ties(&[1, 2, 9, 9]), numbers_with_ties(&[1, 2, 4, 4]));
    let anywhere = Tensor::from_vec((0..32).map(|i| i * 37 % 81).collect::<Vec<i64>>(), [1, 2, 4, 4]).unwrap();
    let gradients = |device| {
        let [x, grads, anywhere] = [&x, &grads, &anywhere].map(|tensor| copy_to_device(tensor, device));
        // The windows are dilated, so they have gaps.
        let windows =
            aten::max_pool2d_with_indices_backward(&grads, &x, &[2, 2], &[1, 1], &[0, 0], &[5, 5], false, &anywhere);
        let random = aten::fractional_max_pool2d_backward(&grads, &x, &[3, 2], &[4, 4], &anywhere);
        let adaptive = aten::adaptive_max_pool2d_backward(&grads, &x, &anywhere);
        [windows, random, adaptive].map(|gradient| to_f64_vec(&gradient.unwrap()))
    };
    assert_eq!(gradients(cuda), gradients(Device::CPU));
}

#[test]
fn an_index_outside_of_the_image_is_an_error() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let (x, grads) = (
        copy_to_device(&numbers_with_ties(&[1, 2, 9, 9]), cuda),
        copy_to_device(&numbers_with_ties(&[1, 2, 4, 4]), cuda),
    );
    let mut indices = vec![0_i64; 32];
    indices[7] = 81;
    let outside = copy_to_device(&Tensor::from_vec(indices, [1, 2, 4, 4]).unwrap(), cuda);
    aten::fractional_max_pool2d_backward(&grads, &x, &[3, 2], &[4, 4], &outside).unwrap();
    let error = cuda.synchronize().unwrap_err().to_string();
    assert!(
        error.contains("aten::fractional_max_pool2d_backward, argument `indices`") && error.contains("81"),
        "{error}"
    );
}
