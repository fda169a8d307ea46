use dispatch_autograd::not_differentiable;

not_differentiable!(myops::mymul, myops::mymull);

fn main() {}
