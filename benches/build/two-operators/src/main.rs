//! Defines an operator with a kernel, and a composite that calls it.

use dispatch_runtime::prelude::*;

/// Computes `self + 1`.
#[op_def("increment(Tensor self) -> Tensor")]
pub fn increment(this: &Tensor) -> Result<Tensor>;

#[op_impl(increment, CPU)]
fn increment_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| x + 1.0).collect(), this.sizes())?)
}

/// Computes `self + 2`.
#[op_def("increment_twice(Tensor self) -> Tensor")]
pub fn increment_twice(this: &Tensor) -> Result<Tensor> {
    increment(&increment(this)?)
}

fn main() -> Result<()> {
    println!("{:?}", increment_twice(&Tensor::from([1.0, 2.0]))?.to_vec::<f64>()?);
    Ok(())
}
