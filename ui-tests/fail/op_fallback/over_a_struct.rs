use dispatch_runtime::prelude::*;

#[op_fallback(Tracer)]
struct Audit;

fn main() {}
