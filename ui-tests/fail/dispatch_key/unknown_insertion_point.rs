use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above = Autogard)]
pub static NPU: Key;

fn main() {}
