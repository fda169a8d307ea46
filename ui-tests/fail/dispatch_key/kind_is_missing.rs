use dispatch_runtime::prelude::*;

#[dispatch_key]
pub static NPU: Key;

fn main() {}
