use dispatch_runtime::prelude::*;

#[dispatch_key(backend)]
pub fn npu() {}

fn main() {}
