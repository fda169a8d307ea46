use dispatch_autograd::functional::grad;
use dispatch_runtime::prelude::*;

fn gradient() -> Result<()> {
    let name = String::from("weights");
    grad(|_| Ok(Tensor::from(1.0)), &name)?;
    Ok(())
}

fn main() {}
