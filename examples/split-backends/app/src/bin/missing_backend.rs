//! The same application without the line that links the CPU kernels. The error says which line is missing.
#![forbid(unsafe_code)]

use opdispatch::prelude::*;

fn main() {
    let a = Tensor::from_slice(&[1.0_f32, 2.0, 3.0]);
    let error = myops::square(&a).expect_err("no kernel of `mymul` is linked");
    println!("{error}");
    assert!(error.to_string().contains("use my_cpu as _;"));
}
