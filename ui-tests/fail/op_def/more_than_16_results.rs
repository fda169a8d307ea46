use dispatch_runtime::prelude::*;

#[op_def("many(int n) -> (int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int)")]
#[rustfmt::skip]
pub fn many(n: i64) -> Result<(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64)>;

fn main() {}
