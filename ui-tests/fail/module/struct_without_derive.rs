use dispatch_nn::{Linear, Module};

struct Head {
    fc: Linear,
}

#[derive(Module)]
struct Net {
    head: Head,
}

fn main() {}
