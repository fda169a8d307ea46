use dispatch_nn::Module;

#[derive(Module)]
union Net {
    small: u8,
    large: u64,
}

fn main() {}
