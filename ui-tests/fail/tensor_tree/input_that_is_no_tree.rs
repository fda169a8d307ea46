use dispatch_autograd::functional::grad;
use dispatch_runtime::prelude::*;

fn gradient() -> Result<()> {
    grad(|_| Ok(Tensor::from(1.0)), "weights")?;
    Ok(())
}

fn main() {}
