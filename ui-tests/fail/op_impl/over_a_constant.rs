use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU)]
const SQUARE: i32 = 3;

fn main() {}
