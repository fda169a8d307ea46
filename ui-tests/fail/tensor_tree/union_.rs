use dispatch_runtime::TensorTree;

#[derive(TensorTree)]
union Bits {
    float: f32,
    integer: u32,
}

fn main() {}
