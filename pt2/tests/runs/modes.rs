//! Modes see the calls of a run as those of any other code.

use aten::prelude::*;
use dispatch_modes::{Flops, with_mode};
use dispatch_pt2::Program;
use dispatch_runtime::{DType, Tensor};

#[test]
fn a_mode_counts_the_products_of_a_run() {
    let program = Program::load("tests/programs/mlp.pt2").unwrap();
    let x = Tensor::zeros((1, 4), DType::F32).unwrap();
    let flops = std::sync::Arc::new(Flops::new());
    with_mode(flops.clone(), || program.run(&x)).unwrap();
    // Two linear layers: of 4 values to 8, and of 8 to 2. A linear layer is a composite of other operators.
    assert_eq!(flops.of_operator("aten::addmm"), 2 * (4 * 8 + 8 * 2) + 8 + 2);
}
