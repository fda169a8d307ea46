use dispatch_runtime::{Operation, Operator};

enum Mine {}

impl Operation for Mine {
    type Kernel = usize;
    type Predicate = usize;

    fn operator() -> &'static Operator {
        myops::mymul::operator()
    }
}

fn main() {}
