use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU)]
struct Square;

fn main() {}
