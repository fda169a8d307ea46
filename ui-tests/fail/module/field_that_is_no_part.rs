use std::ops::Range;

use dispatch_nn::{Linear, Module};

#[derive(Module)]
struct Net {
    fc: Linear,
    sizes: Range<i64>,
}

fn main() {}
