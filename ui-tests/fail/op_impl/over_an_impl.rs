use dispatch_runtime::prelude::*;

struct Square;

#[op_impl(myops::square, CPU)]
impl Square {}

fn main() {}
