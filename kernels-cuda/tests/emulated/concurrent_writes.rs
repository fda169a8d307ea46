//! Tests of memory that another thread writes between two kernels of one call: the results may mix old and new elements, but no kernel
//! writes out of bounds.
//!
//! The emulator checks the guard lines around a block when the block is freed, and ends the program if a kernel wrote to one.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Spec, keys};

use crate::{device, to};

/// Calls `read` while another thread keeps filling the same memory with two numbers in turn.
fn while_it_changes(changing: &Tensor, numbers: [i64; 2], mut read: impl FnMut(&Tensor)) {
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
fn a_mask_that_changes_after_it_was_counted_picks_no_more_than_there_is_room_for() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from((0..64_i16).map(f32::from).collect::<Vec<f32>>()), cuda);
    let mask = Spec::contiguous(DType::Bool, &[64]).on(cuda).unwrap();
    while_it_changes(&mask, [0, 1], |mask| {
        let picked = aten::masked_select(&x, mask).unwrap();
        assert!(picked.sizes()[0] <= 64);
        assert!(aten::nonzero(mask).unwrap().sizes()[0] <= 64);
    });
    cuda.synchronize().unwrap();
}

#[test]
fn numbers_that_change_after_the_largest_was_found_are_counted_only_if_there_is_a_count_for_them() {
    let Some((cuda, _alone)) = device() else { return };
    assert_eq!(cuda.key(), keys::CUDA);
    let numbers = to(&Tensor::from_slice(&[0_i64; 64]), cuda);
    while_it_changes(&numbers, [0, 20], |numbers| {
        assert!(aten::bincount(numbers, None, 0).unwrap().sizes()[0] <= 21);
    });
    cuda.synchronize().unwrap();
}

#[test]
fn a_histogram_of_a_range_that_overflows_counts_every_value_inside() {
    let Some((cuda, _alone)) = device() else { return };
    let most = f32::MAX;
    let x = to(&Tensor::from_slice(&[-most, most, 0.0, most / 2.0]), cuda);
    let counts = aten::histc(&x, 4, (-f64::from(most)).into(), f64::from(most).into()).unwrap();
    let counts = to(&counts, Device::CPU).to_vec::<f32>().unwrap();
    assert_eq!(counts.into_iter().map(f64::from).sum::<f64>().to_bits(), 4.0_f64.to_bits());
}
