use dispatch_runtime::__private::Sig;
use dispatch_runtime::{Operation, Operator};

enum Mine {}

impl Operation for Mine {
    type Signature = Sig<(), ()>;

    fn operator() -> &'static Operator {
        myops::mymul::operator()
    }
}

fn main() {}
