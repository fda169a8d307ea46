use dispatch_runtime::prelude::*;

fallthrough!();

fn main() {}
