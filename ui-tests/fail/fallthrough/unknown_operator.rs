use dispatch_runtime::prelude::*;

fallthrough!(myops::mymil, Tracer);

fn main() {}
