//! Tests of memory that another thread writes between two kernels of one call: the results may mix old and new elements, but no kernel
//! writes out of bounds.
//!
//! The emulator checks the guard lines around a block when the block is freed, and ends the program if a kernel wrote to one.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Spec, keys};

use crate::{copy_to_device, lock_first_device};

/// Calls `read` while another thread keeps filling the same memory with two numbers in turn.
fn call_during_writes(changing: &Tensor, numbers: [i64; 2], mut read: impl FnMut(&Tensor)) {
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut written = changing.clone();
        let done = &done;
        scope.spawn(move || {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                for number in numbers {
                    aten::fill__scalar(&mut written, number.into()).unwrap();
                }
            }
        });
        for _ in 0..400 {
            read(changing);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_mask_that_changes_during_a_call_selects_within_bounds() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from((0..64_i16).map(f32::from).collect::<Vec<f32>>()), cuda);
    let mask = Spec::contiguous(DType::Bool, &[64]).on(cuda).unwrap();
    call_during_writes(&mask, [0, 1], |mask| {
        let picked = aten::masked_select(&x, mask).unwrap();
        assert!(picked.sizes()[0] <= 64);
        assert!(aten::nonzero(mask).unwrap().sizes()[0] <= 64);
    });
    cuda.synchronize().unwrap();
}

#[test]
fn bincount_of_changing_numbers_writes_within_bounds() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    assert_eq!(cuda.key(), keys::CUDA);
    let numbers = copy_to_device(&Tensor::from_slice(&[0_i64; 64]), cuda);
    call_during_writes(&numbers, [0, 20], |numbers| {
        assert!(aten::bincount(numbers, None, 0).unwrap().sizes()[0] <= 21);
    });
    cuda.synchronize().unwrap();
}

#[test]
fn histc_counts_all_values_if_the_range_overflows() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let max = f32::MAX;
    let x = copy_to_device(&Tensor::from_slice(&[-max, max, 0.0, max / 2.0]), cuda);
    let counts = aten::histc(&x, 4, (-f64::from(max)).into(), f64::from(max).into()).unwrap();
    let counts = copy_to_device(&counts, Device::CPU).to_vec::<f32>().unwrap();
    assert_eq!(counts.into_iter().map(f64::from).sum::<f64>().to_bits(), 4.0_f64.to_bits());
}
