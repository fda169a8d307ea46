use dispatch_runtime::prelude::*;

#[dispatch_key(layer, above = Lower)]
pub static Upper: Key;

#[dispatch_key(layer, above = Upper)]
pub static Lower: Key;

fn main() {}
