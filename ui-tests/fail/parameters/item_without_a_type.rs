use aten::prelude::*;
use dispatch_runtime::prelude::*;

fn main() -> Result<()> {
    let x = Tensor::from(1.5);
    x.item()?;
    Ok(())
}
