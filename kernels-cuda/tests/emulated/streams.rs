//! What holds on any device, tried on one that the CPU emulates.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::error::Error as _;

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{CudaError, Graph, Grid, Kernel, Launch, Stream, kernel};

use crate::{Backwards, alone, device, to};

fn numbers(tensor: &Tensor) -> Vec<f32> {
    to(tensor, Device::CPU).to_vec().unwrap()
}

#[test]
fn tensors_travel_and_compute() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[1.0_f32, 2.0, 3.0]), cuda);
    assert_eq!(x.device(), cuda);
    let y = aten::add(&aten::mul(&x, &Tensor::number(2.into())).unwrap(), &x, 1.into()).unwrap();
    assert_eq!(numbers(&y), [3.0, 6.0, 9.0]);
}

#[test]
fn the_default_device_of_a_backend_has_a_number() {
    let Some((_, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[1.0_f32]), "cuda".parse().unwrap());
    assert_eq!(x.device().to_string(), "cuda:0");
}

#[test]
fn tensors_of_two_devices_do_not_meet() {
    let Some((cuda, _alone)) = device() else { return };
    if kernels_cuda::count() < 2 {
        return println!("skipped: there is one device");
    }
    let here = to(&Tensor::from_slice(&[1.0_f32, 2.0]), cuda);
    let there = to(&here, "cuda:1".parse().unwrap());
    assert_eq!(numbers(&there), [1.0, 2.0]);
    let part = to(&aten::narrow(&here, 0, 1, 1).unwrap(), "cuda:1".parse().unwrap());
    assert_eq!(numbers(&part), [2.0]);
    let error = aten::add(&here, &there, 1.into()).unwrap_err().to_string();
    assert!(error.contains("`other` is on cuda:1"), "{error}");
    let error = aten::add(&here, &Tensor::from_slice(&[1.0_f32, 2.0]), 1.into()).unwrap_err().to_string();
    assert!(error.contains("`other` is on cpu"), "{error}");
}

#[test]
fn a_division_by_zero_is_found_when_the_device_is_waited_for_and_only_once() {
    let Some((cuda, _alone)) = device() else { return };
    let (x, zero) = (to(&Tensor::from_slice(&[6_i64, 7]), cuda), to(&Tensor::from_slice(&[3_i64, 0]), cuda));
    let quotient = aten::floor_divide(&x, &zero).unwrap();
    let error = cuda.synchronize().unwrap_err();
    let cause = error.source().and_then(|source| source.downcast_ref::<CudaError>());
    assert!(matches!(cause, Some(CudaError::Fault { .. })), "{error}");
    assert!(error.to_string().contains("divided by zero"), "{error}");
    cuda.synchronize().unwrap();
    assert_eq!(to(&quotient, Device::CPU).to_vec::<i64>().unwrap()[0], 2);
    let error = aten::floor_divide(&x, &Tensor::number(0.into())).unwrap_err();
    assert!(error.to_string().contains("zero"), "{error}");
}

#[test]
fn memory_is_counted_and_given_back() {
    let Some((cuda, _alone)) = device() else { return };
    let before = kernels_cuda::memory(0).unwrap();
    let tensor = Spec::contiguous(DType::F32, &[1000]).on(cuda).unwrap();
    let during = kernels_cuda::memory(0).unwrap();
    drop(tensor);
    let after = kernels_cuda::memory(0).unwrap();
    assert_eq!(during.in_use - before.in_use, 4000);
    assert_eq!(after.in_use, before.in_use);
    assert!(after.most >= during.in_use && after.blocks == before.blocks + 1);
}

#[test]
fn what_one_stream_writes_another_reads_and_a_third_gives_back() {
    let Some((cuda, _alone)) = device() else { return };
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
        assert_eq!(numbers(&y), vec![2.0 * f32::from(round); 64 * 64]);
    }
    writing.synchronize().unwrap();
}

/// Sixty-four rows of a number, as they are now.
fn rows(device: Device, number: u8) -> Tensor {
    aten::full(&[64, 64], f64::from(number).into(), Some(DType::F32), None, Some(device), None).unwrap()
}

#[test]
fn memory_that_was_given_back_in_a_stream_is_lent_again_there_and_not_elsewhere() {
    let Some((cuda, _alone)) = device() else { return };
    let (here, there) = (Stream::new(cuda).unwrap(), Stream::new(cuda).unwrap());
    let place = |stream: Stream| {
        let _entered = stream.enter();
        let tensor = Spec::contiguous(DType::U8, &[100_000]).on(cuda).unwrap();
        Launch::on(&tensor).unwrap().place(&tensor).unwrap()
    };
    let first = place(here);
    assert_eq!(place(here), first);
    assert_ne!(place(there), first);
    let reserved = kernels_cuda::memory(0).unwrap().reserved;
    kernels_cuda::empty_cache().unwrap();
    let after = kernels_cuda::memory(0).unwrap();
    assert!(after.reserved <= reserved - 200_000 && after.reserved >= after.in_use, "{after:?}");
}

#[test]
fn memory_is_not_lent_again_before_every_stream_that_read_it_is_done() {
    let Some((cuda, _alone)) = device() else { return };
    let [home, reading] = [(); 2].map(|()| Stream::new(cuda).unwrap());
    for round in 0..20_u8 {
        let y = {
            let _home = home.enter();
            let x = rows(cuda, round);
            let _reading = reading.enter();
            aten::add(&x, &x, 1.into()).unwrap()
        };
        // Nobody waits for the reader before memory of the same size is asked for, written and waited for.
        {
            let _home = home.enter();
            assert_eq!(numbers(&rows(cuda, 99))[0].to_bits(), 99_f32.to_bits());
        }
        assert_eq!(numbers(&y), vec![2.0 * f32::from(round); 64 * 64]);
    }
}

#[test]
fn a_write_waits_for_readers_in_all_streams_and_they_for_it() {
    let Some((cuda, _alone)) = device() else { return };
    let [first, second, writing] = [(); 3].map(|()| Stream::new(cuda).unwrap());
    let mut x = rows(cuda, 0);
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
            assert_eq!(numbers(&y), vec![2.0 * f32::from(round - 1); 64 * 64]);
        }
        assert_eq!(numbers(&x), vec![f32::from(round); 64 * 64]);
    }
}

#[test]
fn threads_with_streams_of_their_own_share_what_they_read() {
    let Some((cuda, _alone)) = device() else { return };
    let weight = rows(cuda, 3);
    std::thread::scope(|scope| {
        for number in 0..4_u8 {
            let weight = weight.clone();
            scope.spawn(move || {
                let _entered = Stream::new(cuda).unwrap().enter();
                for round in 0..50_u8 {
                    let y = aten::mul(&rows(cuda, number + round), &weight).unwrap();
                    assert_eq!(numbers(&y), vec![3.0 * f32::from(number + round); 64 * 64]);
                }
            });
        }
        drop(weight);
    });
}

#[test]
fn what_a_thread_wrote_in_its_stream_another_reads_when_it_is_joined() {
    let Some((cuda, _alone)) = device() else { return };
    let mut sum = rows(cuda, 0);
    let (shown, one) = (sum.clone(), rows(cuda, 1));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _entered = Stream::new(cuda).unwrap().enter();
            (0..200).for_each(|_| aten::add_(&mut sum, &one, 1.into()).unwrap());
        });
        // It looks while the other one writes.
        (0..20).for_each(|_| assert!(numbers(&shown)[0] <= 200.0));
    });
    assert_eq!(numbers(&shown), vec![200.0; 64 * 64]);
}

/// Memory is as it was when this goes.
struct Limited;

impl Limited {
    fn to(bytes: usize) -> Self {
        kernels_cuda::emulate_memory(bytes);
        Self
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        kernels_cuda::emulate_memory(usize::MAX);
    }
}

#[test]
fn where_memory_runs_out_what_lies_idle_is_given_back_first() {
    let Some((cuda, _alone)) = device() else { return };
    kernels_cuda::empty_cache().unwrap();
    let before = kernels_cuda::memory(0).unwrap().reserved;
    if kernels_cuda::properties(0).unwrap().memory != usize::MAX {
        return println!("skipped: a device's memory takes long to fill");
    }
    let block = |size: i64| Spec::contiguous(DType::U8, &[size]).on(cuda);
    // No other test allocates meanwhile.
    let _other = alone(1);
    let _limited = Limited::to(before + (8 << 20));
    let (here, there) = (Stream::new(cuda).unwrap(), Stream::new(cuda).unwrap());
    for (stream, other) in [(here, there), (there, here)] {
        let _entered = stream.enter();
        let blocks: Vec<Tensor> = (0..4).map(|_| block(1 << 20).unwrap()).collect();
        // Another stream is not done with one.
        let _other = other.enter();
        let sum = aten::sum(&blocks[0], None).unwrap();
        drop((blocks, sum));
    }
    let large = block(6 << 20).unwrap();
    let error = block(6 << 20).unwrap_err().to_string();
    assert!(error.contains("6291456 bytes"), "{error}");
    drop(large);
    block(7 << 20).unwrap();
}

#[test]
fn a_stream_is_current_until_its_guard_goes_in_whatever_order() {
    let Some((cuda, _alone)) = device() else { return };
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

#[test]
fn a_recorded_closure_is_replayed_on_what_its_inputs_hold_now() {
    let Some((cuda, _alone)) = device() else { return };
    let mut x = to(&Tensor::from_slice(&[1.0_f32, 2.0]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &x)).unwrap();
    aten::copy_(&mut x, &Tensor::from_slice(&[3.0_f32, 4.0]), false).unwrap();
    graph.replay().unwrap();
    assert_eq!(numbers(graph.result()), [9.0, 16.0]);
    aten::fill__scalar(&mut x, 5.into()).unwrap();
    graph.replay().unwrap();
    assert_eq!(numbers(graph.result()), [25.0, 25.0]);
}

#[test]
fn what_a_recorded_closure_gives_back_on_its_way_is_there_at_every_replay() {
    let Some((cuda, _alone)) = device() else { return };
    let mut x = to(&Tensor::from_slice(&[1.0_f32; 100]), cuda);
    let graph = Graph::record(cuda, || {
        let doubled = aten::add(&x, &x, 1.into())?;
        let squared = aten::mul(&doubled, &doubled)?;
        drop(doubled);
        aten::add(&squared, &x, 1.into())
    })
    .unwrap();
    for number in 1..5_u8 {
        aten::fill__scalar(&mut x, f64::from(number).into()).unwrap();
        let others: Vec<Tensor> = (0..20).map(|_| aten::add(&x, &x, 1.into()).unwrap()).collect();
        graph.replay().unwrap();
        let number = f32::from(number);
        assert_eq!(numbers(graph.result()), vec![4.0 * number * number + number; 100]);
        assert_eq!(numbers(&others[7]), vec![2.0 * number; 100]);
    }
}

#[test]
fn a_recording_keeps_what_its_closure_used() {
    let Some((cuda, _alone)) = device() else { return };
    let weight = to(&Tensor::from_slice(&[2.0_f32; 50]), cuda);
    let mut x = to(&Tensor::from_slice(&[1.0_f32; 50]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &weight)).unwrap();
    drop(weight);
    let others: Vec<Tensor> = (0..20).map(|_| aten::add(&x, &x, 1.into()).unwrap()).collect();
    aten::fill__scalar(&mut x, 4.into()).unwrap();
    graph.replay().unwrap();
    assert_eq!(numbers(graph.result()), [8.0; 50]);
    assert_eq!(numbers(&others[3]), [2.0; 50]);
}

#[test]
fn a_closure_may_replace_what_its_first_run_left() {
    let Some((cuda, _alone)) = device() else { return };
    let mut x = to(&Tensor::from_slice(&[1.0_f32; 50]), cuda);
    let mut kept = None;
    let graph = Graph::record(cuda, || {
        let made = aten::add(&x, &x, 1.into())?;
        let old = kept.replace(made.clone());
        drop(old);
        Ok(made)
    })
    .unwrap();
    drop(kept);
    aten::fill__scalar(&mut x, 6.into()).unwrap();
    graph.replay().unwrap();
    assert_eq!(numbers(graph.result()), [12.0; 50]);
}

#[test]
fn a_replay_counts_as_a_write_of_what_its_closure_wrote() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[1.0_f32; 5]), cuda);
    let mut sum = to(&Tensor::from_slice(&[0.0_f32; 5]), cuda);
    let (shown, read) = (sum.clone(), x.storage().version());
    let graph = Graph::record(cuda, || aten::add_(&mut sum, &x, 1.into())).unwrap();
    assert_eq!(numbers(&shown), [1.0; 5], "the first of two runs computes");
    let before = shown.storage().version();
    graph.replay().unwrap();
    graph.replay().unwrap();
    assert_eq!(numbers(&shown), [3.0; 5]);
    assert_eq!((shown.storage().version(), x.storage().version()), (before + 2, read));
}

#[test]
fn what_a_recording_makes_is_nothing_before_the_first_replay() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[2.0_f32; 5]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &x)).unwrap();
    for used in [
        aten::add(graph.result(), &x, 1.into()),
        aten::to_device(graph.result(), Device::CPU, DType::F32, false, false, None),
    ] {
        let error = used.unwrap_err().to_string();
        assert!(error.contains("before the first replay"), "{error}");
    }
    graph.replay().unwrap();
    assert_eq!(numbers(graph.result()), [4.0; 5]);
}

#[test]
fn a_replay_waits_for_whoever_reads_what_the_last_one_made() {
    let Some((cuda, _alone)) = device() else { return };
    let mut x = to(&Tensor::from_slice(&[1.0_f32; 9]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &x)).unwrap();
    let other = Stream::new(cuda).unwrap();
    let mut sums = Vec::new();
    for number in 1..6_u8 {
        aten::fill__scalar(&mut x, f64::from(number).into()).unwrap();
        graph.replay().unwrap();
        let _entered = other.enter();
        sums.push(aten::add(graph.result(), graph.result(), 1.into()).unwrap());
    }
    // The last replay's numbers are there for the other stream, too.
    for (sum, number) in sums.iter().zip(1..6_u8) {
        assert_eq!(numbers(sum), [2.0 * f32::from(number) * f32::from(number); 9]);
    }
}

#[test]
fn a_closure_that_enters_a_stream_is_not_recorded() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[1.0_f32]), cuda);
    let other = Stream::new(cuda).unwrap();
    let error = Graph::record(cuda, || {
        let _entered = other.enter();
        aten::mul(&x, &x)
    });
    assert!(error.unwrap_err().to_string().contains("entered a stream"));
    assert_eq!(numbers(&aten::mul(&x, &x).unwrap()), [1.0]);
}

#[test]
fn a_replay_draws_the_numbers_that_come_next() {
    let Some((cuda, _alone)) = device() else { return };
    let generator = |device: Device| Generator::new(device, 5);
    let (recorded, eager) = (generator(cuda), generator(cuda));
    let draw = |generator: &Generator| {
        let like = Spec::contiguous(DType::F32, &[700]).on(cuda)?;
        Ok([
            aten::uniform(&like, 0.0, 1.0, Some(generator))?,
            aten::normal_functional(&like, 0.0, 1.0, Some(generator))?,
        ])
    };
    let graph = Graph::record(cuda, || draw(&recorded)).unwrap();
    draw(&eager).unwrap();
    for round in 0..3 {
        graph.replay().unwrap();
        let expected = draw(&eager).unwrap();
        for (got, expected) in graph.result().iter().zip(&expected) {
            assert_eq!(numbers(got), numbers(expected), "replay {round}");
        }
        assert_eq!(recorded.position(), eager.position());
    }
    recorded.set_seed(9);
    eager.set_seed(9);
    graph.replay().unwrap();
    assert_eq!(numbers(&graph.result()[1]), numbers(&draw(&eager).unwrap()[1]));
}

#[test]
fn what_waits_for_the_device_cannot_be_recorded() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[1.0_f32]), cuda);
    let error = Graph::record(cuda, || aten::item(&x)).unwrap_err().to_string();
    assert!(error.contains("cannot be recorded"), "{error}");
    let error = Graph::record(cuda, || Graph::record(cuda, || aten::mul(&x, &x))).unwrap_err().to_string();
    assert!(error.contains("part of another"), "{error}");
    assert_eq!(numbers(&aten::mul(&x, &x).unwrap()), [1.0]);
}

#[test]
fn a_thread_waits_for_the_device_while_another_records() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&[1.0_f32, 2.0]), cuda);
    let graph = Graph::record(cuda, || {
        std::thread::scope(|scope| scope.spawn(|| cuda.synchronize()).join().unwrap())?;
        aten::add(&x, &x, 1.into())
    });
    let graph = graph.unwrap();
    graph.replay().unwrap();
    assert_eq!(numbers(graph.result()), [2.0, 4.0]);
}

#[test]
fn a_closure_that_fails_leaves_nothing_recorded() {
    let Some((cuda, _alone)) = device() else { return };
    let mut calls = 0;
    let failed = Graph::record(cuda, || {
        calls += 1;
        if calls == 2 { Err(Error::kernel("not the second time")) } else { Ok(()) }
    });
    assert!(failed.unwrap_err().to_string().contains("not the second time"));
    assert_eq!(numbers(&to(&Tensor::from_slice(&[1.0_f32]), cuda)), [1.0]);
}

#[test]
fn a_seed_gives_the_same_numbers_on_every_device() {
    let Some((cuda, _alone)) = device() else { return };
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

kernel! {
    // SAFETY: the test below launches it, with tensors of 256 elements and as many threads.
    static SUMS = unsafe { Kernel::new("sums", r#"
    #include "block.cuh"
    template <class T> __global__ void sums(T *out, const T *in) {
        __shared__ T scratch[32];
        u32 at = blockIdx.x * blockDim.x + threadIdx.x;
        T all = joined_in_block(in[at], Plus(), scratch);
        out[at] = all + T(__shfl_sync(~0u, i32(threadIdx.x), 3));
    }"#,
    |instances| instances.each("sums", &[DType::I32])) };
}

#[test]
fn the_threads_of_a_block_meet_in_any_order() {
    let Some((cuda, _alone)) = device() else { return };
    let x = to(&Tensor::from_slice(&(0..256).collect::<Vec<i32>>()), cuda);
    let run = || {
        let out = Spec::contiguous(DType::I32, &[256]).on(cuda).unwrap();
        let launch = Launch::on(&out).unwrap();
        let arguments = (launch.place(&out).unwrap(), launch.place(&x).unwrap());
        launch.run(&SUMS, "sums", &[DType::I32], Grid::new(2, 128), arguments).unwrap();
        to(&out, Device::CPU).to_vec::<i32>().unwrap()
    };
    let expected: Vec<i32> = (0..256).map(|at| if at < 128 { 8128 } else { 24_512 } + at % 128 / 32 * 32 + 3).collect();
    assert_eq!(run(), expected);
    let _backwards = Backwards::on(true);
    assert_eq!(run(), expected);
}

kernel! {
    // SAFETY: the test below launches it, with a tensor of four elements and as many threads.
    static FILLED = unsafe { Kernel::new("filled", r#"
    #include "opdispatch.cuh"
    template <class T> __global__ void filled(T *out, u8 value) { out[threadIdx.x] = T(value); }"#,
    |instances| instances.each("filled", &[DType::F32, DType::I64])) };
}

#[test]
fn listed_instances_are_compiled_together_and_others_when_they_are_launched() {
    let Some((cuda, _alone)) = device() else { return };
    let fill = |dtype: DType, value: u8| {
        let out = Spec::contiguous(dtype, &[4]).on(cuda).unwrap();
        let launch = Launch::on(&out).unwrap();
        let filled = launch.run(&FILLED, "filled", &[dtype], Grid::new(1, 4), (launch.place(&out).unwrap(), value));
        filled.map(|()| to(&aten::to_dtype!(&out, dtype = DType::F64).unwrap(), Device::CPU).to_vec::<f64>().unwrap())
    };
    assert_eq!(fill(DType::F32, 3).unwrap(), [3.0; 4]);
    assert_eq!(fill(DType::I64, 4).unwrap(), [4.0; 4]);
    assert_eq!(fill(DType::U8, 5).unwrap(), [5.0; 4]);
    assert_eq!(fill(DType::I64, 6).unwrap(), [6.0; 4]);
    let error = fill(DType::C64, 0).unwrap_err().to_string();
    assert!(error.contains("`filled` has no instance"), "{error}");
}
