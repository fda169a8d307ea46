//! Tests of streams: they wait for other streams' work on the same memory, and for nothing else.

use dispatch_runtime::prelude::*;
use kernels_cuda::Stream;

use crate::{lock_first_device, to_f32_vec};

#[test]
fn one_stream_writes_another_reads_and_a_third_frees() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let [writing, reading, freeing] = [(); 3].map(|()| Stream::new(cuda).unwrap());
    for round in 0..100_u8 {
        let x = {
            let _entered = writing.enter();
            aten::full(&[64, 64], f64::from(round).into(), Some(DType::F32), None, Some(cuda), None).unwrap()
        };
        let y = {
            let _entered = reading.enter();
            aten::add(&x, &x, 1.into()).unwrap()
        };
        {
            let _entered = freeing.enter();
            drop(x);
        }
        assert_eq!(to_f32_vec(&y), vec![2.0 * f32::from(round); 64 * 64]);
    }
    writing.synchronize().unwrap();
}

/// Returns a tensor of 64 x 64 elements that are filled with a number.
fn filled_tensor(device: Device, number: u8) -> Tensor {
    aten::full(&[64, 64], f64::from(number).into(), Some(DType::F32), None, Some(device), None).unwrap()
}

#[test]
fn memory_is_reused_only_after_all_streams_that_read_it() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let [home, reading] = [(); 2].map(|()| Stream::new(cuda).unwrap());
    for round in 0..20_u8 {
        let y = {
            let _home = home.enter();
            let x = filled_tensor(cuda, round);
            let _reading = reading.enter();
            aten::add(&x, &x, 1.into()).unwrap()
        };
        // No stream waits for the reader before memory of the same size is allocated, written and waited for.
        {
            let _home = home.enter();
            assert_eq!(to_f32_vec(&filled_tensor(cuda, 99))[0].to_bits(), 99_f32.to_bits());
        }
        assert_eq!(to_f32_vec(&y), vec![2.0 * f32::from(round); 64 * 64]);
    }
}

#[test]
fn a_write_waits_for_readers_in_all_streams() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let [first, second, writing] = [(); 3].map(|()| Stream::new(cuda).unwrap());
    let mut x = filled_tensor(cuda, 0);
    for round in 1..20_u8 {
        let doubled = [first, second].map(|stream| {
            let _entered = stream.enter();
            aten::add(&x, &x, 1.into()).unwrap()
        });
        {
            let _entered = writing.enter();
            aten::fill__scalar(&mut x, f64::from(round).into()).unwrap();
        }
        writing.synchronize().unwrap();
        for y in doubled {
            assert_eq!(to_f32_vec(&y), vec![2.0 * f32::from(round - 1); 64 * 64]);
        }
        assert_eq!(to_f32_vec(&x), vec![f32::from(round); 64 * 64]);
    }
}

#[test]
fn threads_with_different_streams_read_one_tensor() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let weight = filled_tensor(cuda, 3);
    std::thread::scope(|scope| {
        for number in 0..4_u8 {
            let weight = weight.clone();
            scope.spawn(move || {
                let _entered = Stream::new(cuda).unwrap().enter();
                for round in 0..50_u8 {
                    let y = aten::mul(&filled_tensor(cuda, number + round), &weight).unwrap();
                    assert_eq!(to_f32_vec(&y), vec![3.0 * f32::from(number + round); 64 * 64]);
                }
            });
        }
        drop(weight);
    });
}

#[test]
fn a_write_of_a_joined_thread_is_visible() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut sum = filled_tensor(cuda, 0);
    let (shown, one) = (sum.clone(), filled_tensor(cuda, 1));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _entered = Stream::new(cuda).unwrap().enter();
            (0..200).for_each(|_| aten::add_(&mut sum, &one, 1.into()).unwrap());
        });
        // The main thread reads while the other thread writes.
        (0..20).for_each(|_| assert!(to_f32_vec(&shown)[0] <= 200.0));
    });
    assert_eq!(to_f32_vec(&shown), vec![200.0; 64 * 64]);
}

#[test]
fn stream_guards_may_be_dropped_in_any_order() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let name = |stream: Stream| format!("{stream:?}");
    let (outer, inner) = (Stream::new(cuda).unwrap(), Stream::new(cuda).unwrap());
    let before = name(Stream::current(cuda).unwrap());
    let (first, second) = (outer.enter(), inner.enter());
    assert_eq!(name(Stream::current(cuda).unwrap()), name(inner));
    drop(first);
    assert_eq!(name(Stream::current(cuda).unwrap()), name(inner));
    drop(second);
    assert_eq!(name(Stream::current(cuda).unwrap()), before);
}
