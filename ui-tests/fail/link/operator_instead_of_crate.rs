use dispatch_runtime::prelude::*;

link!(myops::mymul);

fn main() {}
