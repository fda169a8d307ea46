//! Tests under load: many threads and streams at once, many replays, memory that runs out, and a kernel that crashes.
#![expect(unsafe_code, reason = "kernels are native code")]

use std::error::Error as _;

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{CudaError, Graph, Grid, Kernel, Launch, Stream, kernel};

use crate::{copy_to_device, lock_first_device};

/// Returns `device` on a GPU and `emulated` on an emulated device, which repeats a test less often in the same time.
fn repetition_count(device: i64, emulated: i64) -> i64 {
    if kernels_cuda::device_properties(0).unwrap().memory == usize::MAX { emulated } else { device }
}

fn filled_tensor(cuda: Device, count: i64, number: i64) -> Tensor {
    aten::full(&[count], number.into(), Some(DType::F32), None, Some(cuda), None).unwrap()
}

/// Returns the number of elements that differ from `number`.
fn count_differences(tensor: &Tensor, number: i64) -> Tensor {
    aten::sum(&aten::ne_scalar(tensor, number.into()).unwrap(), None).unwrap()
}

#[test]
fn threads_write_read_and_free_in_different_streams() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let streams: Vec<Stream> = (0..16).map(|_| Stream::new(cuda).unwrap()).collect();
    let rounds = repetition_count(2000, 20);
    let stream = |number: i64| streams[usize::try_from(number % 16).unwrap()];
    let work = |thread: i64| {
        let mut differences = Vec::new();
        for round in 0..rounds {
            // Sizes repeat, so that blocks are reused while other streams still read their old content.
            let (count, number) = (64 << ((thread + round) % 13), round % 1000);
            let mut x = {
                let _writing = stream(thread + round).enter();
                filled_tensor(cuda, count, number)
            };
            let doubled = {
                let _reading = stream(3 * thread + 5 * round + 1).enter();
                aten::add(&x, &x, 1.into()).unwrap()
            };
            let _freeing = stream(7 * thread + 11 * round + 2).enter();
            aten::add_(&mut x, &doubled, 1.into()).unwrap();
            drop(doubled);
            differences.push(count_differences(&x, 3 * number));
        }
        differences.iter().map(|wrong| copy_to_device(wrong, Device::CPU).to_vec::<i64>().unwrap()[0]).sum::<i64>()
    };
    let wrong: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(wrong, [0; 8]);
    cuda.synchronize().unwrap();
}

#[test]
fn many_replays_equal_as_many_calls() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut x = filled_tensor(cuda, 1000, 0);
    let mut sum = aten::full(&[1000], 0.into(), Some(DType::I64), None, Some(cuda), None).unwrap();
    let seen = sum.clone();
    let graph = Graph::record(cuda, || {
        let doubled = aten::add(&x, &x, 1.into())?;
        let rounded = aten::to_dtype(&doubled, DType::I64, false, true, None)?;
        aten::add_(&mut sum, &rounded, 1.into())?;
        aten::sum(&rounded, None)
    })
    .unwrap();
    let mut expected = 0;
    for replay in 0..10_000 {
        if replay % 100 == 0 {
            aten::fill__scalar(&mut x, (replay / 100).into()).unwrap();
        }
        expected += 2 * (replay / 100);
        graph.replay().unwrap();
    }
    assert_eq!(copy_to_device(&seen, Device::CPU).to_vec::<i64>().unwrap(), vec![expected; 1000]);
    assert_eq!(copy_to_device(graph.result(), Device::CPU).to_vec::<i64>().unwrap(), [2 * 99 * 1000]);
}

#[test]
fn threads_record_and_replay_concurrently() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let rounds = repetition_count(1000, 20);
    std::thread::scope(|scope| {
        for thread in 0..8_i64 {
            scope.spawn(move || {
                let _entered = Stream::new(cuda).unwrap().enter();
                let mut x = filled_tensor(cuda, 5000, 0);
                let mut graph = Graph::record(cuda, || aten::add(&x, &x, 1.into())).unwrap();
                let mut differences = Vec::new();
                for round in 0..rounds {
                    if round % 50 == 49 {
                        graph = Graph::record(cuda, || aten::add(&x, &x, 1.into())).unwrap();
                    }
                    aten::fill__scalar(&mut x, (thread + round).into()).unwrap();
                    graph.replay().unwrap();
                    differences.push(count_differences(graph.result(), 2 * (thread + round)));
                }
                for wrong in differences {
                    assert_eq!(copy_to_device(&wrong, Device::CPU).to_vec::<i64>().unwrap(), [0]);
                }
            });
        }
    });
}

#[test]
fn allocation_works_again_after_out_of_memory() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let is_out_of_memory = |error: &Error| {
        let cause = error.source().and_then(|source| source.downcast_ref::<CudaError>());
        matches!(cause, Some(CudaError::OutOfMemory { .. }))
    };
    let error = Spec::contiguous(DType::U8, &[1 << 45]).on(cuda).unwrap_err();
    assert!(is_out_of_memory(&error), "{error}");
    let total = kernels_cuda::device_properties(0).unwrap().memory;
    if total < 1 << 40 {
        let mut blocks = Vec::new();
        let error = loop {
            match Spec::contiguous(DType::U8, &[1 << 30]).on(cuda) {
                Ok(block) => blocks.push(block),
                Err(error) => break error,
            }
            assert!(blocks.len() <= total >> 30, "more blocks were allocated than the device has memory for");
        };
        assert!(is_out_of_memory(&error), "{error}");
        let of_the_last = aten::sum(&blocks[0], None);
        drop(blocks);
        drop(of_the_last);
    }
    assert_eq!(
        copy_to_device(&count_differences(&filled_tensor(cuda, 100_000, 7), 7), Device::CPU).to_vec::<i64>().unwrap(),
        [0]
    );
    cuda.synchronize().unwrap();
    kernels_cuda::empty_cache().unwrap();
}

kernel! {
    // SAFETY: it writes to an invalid address, which ends the device's work for the process. The test below launches it in a separate
    // process, on a GPU only, as an emulated device shares the memory of the process.
    static CRASHING_KERNEL = unsafe { Kernel::new("crashes", "__global__ void crashes(float *) { *(volatile float *)16 = 1; }", |instances| {
        instances.add("crashes", &[]);
    }) };
}

#[test]
fn the_next_wait_names_the_kernel_that_crashed() {
    const CHILD_VARIABLE: &str = "OPDISPATCH_TEST_CRASH";
    if std::env::var_os(CHILD_VARIABLE).is_some() {
        let cuda: Device = "cuda:0".parse().unwrap();
        let x = filled_tensor(cuda, 8, 1);
        let launch = Launch::on_device_of(&x).unwrap();
        launch.run(&CRASHING_KERNEL, "crashes", &[], Grid::new(1, 1), (launch.pointer(&x).unwrap(),)).unwrap();
        return println!("{}", cuda.synchronize().unwrap_err());
    }
    let Some((_, _lock)) = lock_first_device() else { return };
    if repetition_count(1, 0) == 0 {
        return println!("skipped: an emulated device shares the memory of the process");
    }
    let this = "heavy_load::the_next_wait_names_the_kernel_that_crashed";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output = child.args([this, "--exact", "--nocapture"]).env(CHILD_VARIABLE, "1").output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output_text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output_text.contains("a kernel crashed") && output_text.contains("launched are crashes"), "{output_text}");
}
