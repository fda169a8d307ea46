//! The memory of runs.

use aten::prelude::*;
use dispatch_nn::{Forward as _, Module as _};
use dispatch_pt2::Program;
use dispatch_runtime::{DType, Device, Tensor, guard};

use super::program;

#[test]
fn values_are_freed_after_their_last_use() {
    // A linear layer of 8 features for 2 rows, an activation, and a linear layer of 3 features.
    let program = Program::load("tests/programs/mlp.pt2").unwrap();
    let report = program.memory(Tensor::zeros((1, 4), DType::F32).unwrap()).unwrap();
    assert_eq!(report.blocks, 3);
    assert!(report.peak < report.total, "{report:?}");
}

#[test]
fn the_memory_of_a_run_on_meta_is_that_of_a_run_on_the_cpu() {
    let program = program("positions");
    let on_cpu = program.memory(Tensor::zeros((2, 5, 4), DType::F32).unwrap()).unwrap();
    let program = program.to(Device::META).unwrap();
    let on_meta = program.memory(Tensor::zeros((2, 5, 4), (DType::F32, Device::META)).unwrap()).unwrap();
    assert_eq!((on_cpu.blocks, on_cpu.total, on_cpu.peak), (on_meta.blocks, on_meta.total, on_meta.peak));
}

#[test]
fn results_stay_while_later_runs_use_the_memory_again() {
    let load = || Program::load("tests/programs/mlp.pt2").unwrap();
    let run = |program: &Program, scale: u8, rows: i64| {
        let x = Tensor::full((rows, 4), f64::from(scale), DType::F32).unwrap();
        program.forward(&x).unwrap()
    };
    let run_without_gradients = |program: &Program, scale: u8, rows: i64| {
        let _no_grad = guard::no_grad();
        run(program, scale, rows)
    };
    let program = load();
    let mut results = Vec::new();
    for scale in 1..13 {
        // After two runs of 20,000 rows, the third one has fixed places; then come runs of other sizes, and a run that keeps its values.
        results.push((scale, run_without_gradients(&program, scale, 20_000)));
        if scale % 4 == 0 {
            results.push((scale, run_without_gradients(&program, scale, 30_000)));
            results.push((scale, run(&program, scale, 20_000)));
        }
    }
    for (scale, result) in results {
        let expected = run_without_gradients(&load(), scale, result.sizes()[0]);
        assert_eq!(result.detach().unwrap().to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap(), "{scale}");
    }
}
