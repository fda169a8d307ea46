use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above = keys::Python)]
pub static NPU: Key;

fn main() {}
