//! Threads share a program.

use std::sync::Barrier;

use aten::prelude::*;
use dispatch_pt2::{Program, Pt2Problem};
use dispatch_runtime::{DType, Tensor};

use super::program;

const fn assert_send_and_sync<T: Send + Sync>() {}

const _: () = assert_send_and_sync::<Program>();

const THREADS: u8 = 8;

/// Calls `run` on several threads at once.
fn on_threads(run: impl Fn(u8) + Sync) {
    let begin = Barrier::new(THREADS.into());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (run, begin) = (&run, &begin);
            scope.spawn(move || {
                begin.wait();
                run(thread);
            });
        }
    });
}

#[test]
fn threads_run_one_program_at_once() {
    for name in ["vmap_ensemble", "map_dynamic", "positions"] {
        let program = program(name);
        let input = |number: u8| {
            let sizes: &[i64] = if name == "positions" { &[2, 3, 4] } else { &[2, 4] };
            Tensor::full(sizes, f64::from(number) / 8.0, DType::F32).unwrap()
        };
        let run = |number: u8| {
            let output = program.run(input(number)).unwrap();
            output
                .leaves()
                .iter()
                .flat_map(|leaf| leaf.as_tensor().unwrap().to_vec::<f32>().unwrap())
                .collect::<Vec<_>>()
        };
        let expected: Vec<Vec<f32>> = (0..THREADS).map(run).collect();
        on_threads(|thread| {
            for _ in 0..50 {
                assert_eq!(run(thread), expected[usize::from(thread)], "{name}");
            }
        });
    }
}

#[test]
fn runs_that_write_one_buffer_exclude_each_other() {
    for name in ["counter", "counter_core"] {
        let program = program(name);
        let (x, finished) = (Tensor::zeros((3, 4), DType::F32).unwrap(), std::sync::atomic::AtomicU16::new(0));
        on_threads(|_| {
            for _ in 0..50 {
                match program.run(&x) {
                    Ok(_) => _ = finished.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
                    Err(error) => assert!(matches!(*error.problem, Pt2Problem::StateInUse { .. }), "{error}"),
                }
            }
        });
        // Each run that did not fail has counted.
        let output = program.run(&x).unwrap();
        let runs = f32::from(finished.into_inner()) + 1.0;
        assert_eq!(output.as_tensor().unwrap().to_vec::<f32>().unwrap(), [runs; 12]);
    }
}
