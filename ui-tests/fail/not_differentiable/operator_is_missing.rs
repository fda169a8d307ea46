use dispatch_autograd::not_differentiable;

not_differentiable!();

fn main() {}
