use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above = Autograd)]
pub static Autograd: Key;

fn main() {}
