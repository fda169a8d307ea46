//! Calls the operator `squash` on several dtypes and devices.
#![forbid(unsafe_code)]

use newcomer::squash;
use opdispatch::prelude::*;

fn main() -> Result<()> {
    let x = Tensor::from([[-1.0, 0.0], [1.0, 3.0]]);
    println!("squash(x)         = {}", squash(&x)?);
    println!("squash(x.t() * 2) = {}", squash(&(x.t()? * 2.0)?)?);
    println!("on Meta           = {}", squash(&x.to((DType::BF16, Device::META))?)?);
    println!("\nthe error for integers:\n{}", squash(&Tensor::from([1, 2])).unwrap_err());
    Ok(())
}
