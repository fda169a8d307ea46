use dispatch_runtime::prelude::*;

link!(my_gpu);

fn main() {}
