use dispatch_autograd::op_grad;

#[op_grad(myops::mymul)]
struct Mul;

fn main() {}
