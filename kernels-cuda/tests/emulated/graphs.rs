//! Tests of CUDA graphs: recorded closures and their replays.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{Graph, Stream};

use crate::{copy_to_device, lock_first_device, to_f32_vec};

#[test]
fn a_replay_reads_the_current_inputs() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut x = copy_to_device(&Tensor::from_slice(&[1.0_f32, 2.0]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &x)).unwrap();
    aten::copy_(&mut x, &Tensor::from_slice(&[3.0_f32, 4.0]), false).unwrap();
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(graph.result()), [9.0, 16.0]);
    aten::fill__scalar(&mut x, 5.into()).unwrap();
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(graph.result()), [25.0, 25.0]);
}

#[test]
fn memory_freed_in_a_recording_is_valid_in_each_replay() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut x = copy_to_device(&Tensor::from_slice(&[1.0_f32; 100]), cuda);
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
        assert_eq!(to_f32_vec(graph.result()), vec![4.0 * number * number + number; 100]);
        assert_eq!(to_f32_vec(&others[7]), vec![2.0 * number; 100]);
    }
}

#[test]
fn a_graph_keeps_the_tensors_of_its_closure_alive() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let weight = copy_to_device(&Tensor::from_slice(&[2.0_f32; 50]), cuda);
    let mut x = copy_to_device(&Tensor::from_slice(&[1.0_f32; 50]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &weight)).unwrap();
    drop(weight);
    let others: Vec<Tensor> = (0..20).map(|_| aten::add(&x, &x, 1.into()).unwrap()).collect();
    aten::fill__scalar(&mut x, 4.into()).unwrap();
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(graph.result()), [8.0; 50]);
    assert_eq!(to_f32_vec(&others[3]), [2.0; 50]);
}

#[test]
fn a_closure_may_drop_tensors_of_its_first_run() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut x = copy_to_device(&Tensor::from_slice(&[1.0_f32; 50]), cuda);
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
    assert_eq!(to_f32_vec(graph.result()), [12.0; 50]);
}

#[test]
fn a_replay_increases_the_version_of_written_tensors() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[1.0_f32; 5]), cuda);
    let mut sum = copy_to_device(&Tensor::from_slice(&[0.0_f32; 5]), cuda);
    let (shown, read) = (sum.clone(), x.storage().version());
    let graph = Graph::record(cuda, || aten::add_(&mut sum, &x, 1.into())).unwrap();
    assert_eq!(to_f32_vec(&shown), [1.0; 5], "the first of two runs computes");
    let before = shown.storage().version();
    graph.replay().unwrap();
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(&shown), [3.0; 5]);
    assert_eq!((shown.storage().version(), x.storage().version()), (before + 2, read));
}

#[test]
fn results_cannot_be_read_before_the_first_replay() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[2.0_f32; 5]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &x)).unwrap();
    for used in [
        aten::add(graph.result(), &x, 1.into()),
        aten::to_device(graph.result(), Device::CPU, DType::F32, false, false, None),
    ] {
        let error = used.unwrap_err().to_string();
        assert!(error.contains("before the first replay"), "{error}");
    }
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(graph.result()), [4.0; 5]);
}

#[test]
fn a_replay_waits_for_reads_of_the_last_results() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut x = copy_to_device(&Tensor::from_slice(&[1.0_f32; 9]), cuda);
    let graph = Graph::record(cuda, || aten::mul(&x, &x)).unwrap();
    let other = Stream::new(cuda).unwrap();
    let mut sums = Vec::new();
    for number in 1..6_u8 {
        aten::fill__scalar(&mut x, f64::from(number).into()).unwrap();
        graph.replay().unwrap();
        let _entered = other.enter();
        sums.push(aten::add(graph.result(), graph.result(), 1.into()).unwrap());
    }
    // The other stream, too, sees the results of the last replay.
    for (sum, number) in sums.iter().zip(1..6_u8) {
        assert_eq!(to_f32_vec(sum), [2.0 * f32::from(number) * f32::from(number); 9]);
    }
}

#[test]
fn recording_a_closure_that_enters_a_stream_is_an_error() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[1.0_f32]), cuda);
    let other = Stream::new(cuda).unwrap();
    let error = Graph::record(cuda, || {
        let _entered = other.enter();
        aten::mul(&x, &x)
    });
    assert!(error.unwrap_err().to_string().contains("entered a stream"));
    assert_eq!(to_f32_vec(&aten::mul(&x, &x).unwrap()), [1.0]);
}

#[test]
fn a_replay_draws_new_random_numbers() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
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
            assert_eq!(to_f32_vec(got), to_f32_vec(expected), "replay {round}");
        }
        assert_eq!(recorded.position(), eager.position());
    }
    recorded.set_seed(9);
    eager.set_seed(9);
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(&graph.result()[1]), to_f32_vec(&draw(&eager).unwrap()[1]));
}

#[test]
fn recording_a_wait_for_the_device_is_an_error() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[1.0_f32]), cuda);
    let error = Graph::record(cuda, || aten::item(&x)).unwrap_err().to_string();
    assert!(error.contains("cannot be recorded"), "{error}");
    let error = Graph::record(cuda, || Graph::record(cuda, || aten::mul(&x, &x))).unwrap_err().to_string();
    assert!(error.contains("part of another"), "{error}");
    assert_eq!(to_f32_vec(&aten::mul(&x, &x).unwrap()), [1.0]);
}

#[test]
fn another_thread_may_wait_for_the_device_during_a_recording() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let x = copy_to_device(&Tensor::from_slice(&[1.0_f32, 2.0]), cuda);
    let graph = Graph::record(cuda, || {
        std::thread::scope(|scope| scope.spawn(|| cuda.synchronize()).join().unwrap())?;
        aten::add(&x, &x, 1.into())
    });
    let graph = graph.unwrap();
    graph.replay().unwrap();
    assert_eq!(to_f32_vec(graph.result()), [2.0, 4.0]);
}

#[test]
fn a_failed_closure_ends_the_recording() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let mut calls = 0;
    let failed = Graph::record(cuda, || {
        calls += 1;
        if calls == 2 { Err(Error::kernel("not the second time")) } else { Ok(()) }
    });
    assert!(failed.unwrap_err().to_string().contains("not the second time"));
    assert_eq!(to_f32_vec(&copy_to_device(&Tensor::from_slice(&[1.0_f32]), cuda)), [1.0]);
}
