use dispatch_runtime::prelude::*;
use dispatch_vmap::vmap;

struct Layer {
    weight: Tensor,
}

fn map(layer: &Layer) -> Result<Tensor> {
    vmap(|layer: &Layer| Ok(layer.weight.clone()), layer)
}

fn main() {}
