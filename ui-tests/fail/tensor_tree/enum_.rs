use dispatch_runtime::TensorTree;

#[derive(TensorTree)]
enum Layer {
    Linear(dispatch_runtime::Tensor),
    Identity,
}

fn main() {}
