use dispatch_nn::{Linear, Module, Sequential};

#[derive(Clone, Module)]
struct Head {
    fc: Linear,
}

fn net(head: Head) -> Sequential {
    Sequential::new().add(head)
}

fn main() {}
