//! A program runs on the device of its parameters, with all devices that its nodes name.

use aten::prelude::*;
use dispatch_nn::Module as _;
use dispatch_runtime::{DType, Device, Tensor};

use super::program;

#[test]
fn a_program_on_meta_gives_shapes() {
    for name in ["positions", "positions_core"] {
        let program = program(name).to(Device::META).unwrap();
        let output = program.run(Tensor::zeros((2, 5, 4), (DType::F32, Device::META)).unwrap()).unwrap();
        let output = output.as_tensor().unwrap();
        assert_eq!((output.device(), output.sizes()), (Device::META, &[2_i64, 5, 4][..]));
    }
}

#[test]
fn a_program_without_parameters_runs_on_the_device_of_its_input() {
    for name in ["mask", "vmap_nested"] {
        let x = Tensor::zeros((3, 4), (DType::F32, Device::META)).unwrap();
        let y = Tensor::zeros((5, 4), (DType::F32, Device::META)).unwrap();
        let inputs = if name == "mask" { vec![x] } else { vec![x, y] };
        let output = program(name).run(inputs).unwrap();
        assert_eq!(output.as_tensor().unwrap().device(), Device::META);
    }
}
