use dispatch_runtime::prelude::*;

fallthrough!(Autocast);

fn main() {}
