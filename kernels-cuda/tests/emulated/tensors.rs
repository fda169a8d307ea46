//! Tests of copies between devices, errors of devices, and random numbers.

use std::error::Error as _;

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::CudaError;

use crate::{copy_to_device, lock_first_device, to_f32_vec};

#[test]
fn operators_run_on_copied_tensors() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[1.0_f32, 2.0, 3.0]), cuda);
    assert_eq!(x.device(), cuda);
    let y = aten::add(&aten::mul(&x, &Tensor::number(2.into())).unwrap(), &x, 1.into()).unwrap();
    assert_eq!(to_f32_vec(&y), [3.0, 6.0, 9.0]);
}

#[test]
fn the_default_device_is_cuda_0() {
    let Some((_, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[1.0_f32]), "cuda".parse().unwrap());
    assert_eq!(x.device().to_string(), "cuda:0");
}

#[test]
fn operands_on_two_devices_are_an_error() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    if kernels_cuda::device_count() < 2 {
        return println!("skipped: there is only one device");
    }
    let here = copy_to_device(&Tensor::from_slice(&[1.0_f32, 2.0]), cuda);
    let there = copy_to_device(&here, "cuda:1".parse().unwrap());
    assert_eq!(to_f32_vec(&there), [1.0, 2.0]);
    let part = copy_to_device(&aten::narrow(&here, 0, 1, 1).unwrap(), "cuda:1".parse().unwrap());
    assert_eq!(to_f32_vec(&part), [2.0]);
    let error = aten::add(&here, &there, 1.into()).unwrap_err().to_string();
    assert!(error.contains("`other` is on cuda:1"), "{error}");
    let error = aten::add(&here, &Tensor::from_slice(&[1.0_f32, 2.0]), 1.into()).unwrap_err().to_string();
    assert!(error.contains("`other` is on cpu"), "{error}");
}

#[test]
fn a_division_by_zero_is_reported_once_at_the_next_wait() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let (x, zero) = (
        copy_to_device(&Tensor::from_slice(&[6_i64, 7]), cuda),
        copy_to_device(&Tensor::from_slice(&[3_i64, 0]), cuda),
    );
    let quotient = aten::floor_divide(&x, &zero).unwrap();
    let error = cuda.synchronize().unwrap_err();
    let cause = error.source().and_then(|source| source.downcast_ref::<CudaError>());
    assert!(matches!(cause, Some(CudaError::InvalidValue { .. })), "{error}");
    assert!(error.to_string().contains("divided by zero"), "{error}");
    cuda.synchronize().unwrap();
    assert_eq!(copy_to_device(&quotient, Device::CPU).to_vec::<i64>().unwrap()[0], 2);
    let error = aten::floor_divide(&x, &Tensor::number(0.into())).unwrap_err();
    assert!(error.to_string().contains("zero"), "{error}");
}

#[test]
fn a_seed_gives_the_same_numbers_on_cpu_and_cuda() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    for dtype in [DType::F32, DType::F64] {
        let drawn = |device: Device| {
            let generator = Generator::new(device, 11);
            let mut numbers = Spec::contiguous(dtype, &[1000]).on(device).unwrap();
            let mut all = Vec::new();
            for _ in 0..2 {
                aten::normal_(&mut numbers, 1.0, 2.0, Some(&generator)).unwrap();
                let there = aten::to_device(&numbers, Device::CPU, DType::F64, false, false, None).unwrap();
                all.extend(there.to_vec::<f64>().unwrap());
            }
            all
        };
        let (here, there) = (drawn(Device::CPU), drawn(cuda));
        assert!(here.iter().zip(&there).all(|(a, b)| (a - b).abs() < 1e-5), "{dtype}");
    }
}
