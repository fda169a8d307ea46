//! The memory of runs.

use aten::prelude::*;
use dispatch_nn::Module as _;
use dispatch_pt2::Program;
use dispatch_runtime::{DType, Device, Tensor};

use super::program;

#[test]
fn values_are_freed_after_their_last_use() {
    // A linear layer of 8 features for 2 rows, an activation, and a linear layer of 3 features.
    let program = Program::load("tests/programs/mlp.pt2").unwrap();
    let report = program.memory(Tensor::zeros((1, 4), DType::F32).unwrap()).unwrap();
    assert_eq!(report.blocks, 3);
    assert!(report.peak < report.total && report.peak <= report.arena, "{report:?}");
}

#[test]
fn the_memory_of_a_run_on_meta_is_that_of_a_run_on_the_cpu() {
    let program = program("positions");
    let on_cpu = program.memory(Tensor::zeros((2, 5, 4), DType::F32).unwrap()).unwrap();
    let program = program.to(Device::META).unwrap();
    let on_meta = program.memory(Tensor::zeros((2, 5, 4), (DType::F32, Device::META)).unwrap()).unwrap();
    assert_eq!((on_cpu.blocks, on_cpu.total, on_cpu.peak), (on_meta.blocks, on_meta.total, on_meta.peak));
}
