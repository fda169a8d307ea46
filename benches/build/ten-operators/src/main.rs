//! Calls ten operators, and runs their backward pass.

use opdispatch::prelude::*;

fn main() -> Result<()> {
    let x = Tensor::arange(0..12, DType::F32)?.view([3, 4])?.requires_grad_(true)?;
    let weight = aten::full(&[4, 2], 0.5.into(), Some(DType::F32), None, None, None)?;
    let hidden = aten::relu(&aten::mm(&x, &weight)?)?;
    let scaled = aten::mul(&aten::tanh(&hidden)?, &aten::exp(&aten::neg(&hidden)?)?)?;
    let loss = aten::sum(&aten::sub(&scaled, &hidden, 1.into())?, None)?;
    loss.backward()?;
    println!("{loss}\n{}", x.grad().ok_or("x has no gradient")?);
    Ok(())
}
