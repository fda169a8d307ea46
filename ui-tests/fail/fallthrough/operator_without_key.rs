use dispatch_runtime::prelude::*;

fallthrough!(myops::mymul);

fn main() {}
