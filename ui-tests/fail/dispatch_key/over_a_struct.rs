use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub struct NPU;

fn main() {}
