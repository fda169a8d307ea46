use dispatch_runtime::prelude::*;

#[op_impl(myops::square, CPU)]
mod square {}

fn main() {}
