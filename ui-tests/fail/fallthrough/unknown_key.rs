use dispatch_runtime::prelude::*;

fallthrough!(Tracre);

fn main() {}
