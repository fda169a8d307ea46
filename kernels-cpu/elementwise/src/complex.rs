//! Complex conjugation.

use dispatch_runtime::{Complex32, Complex64};

use engine::compute::ComputeType;
use engine::elementwise::elementwise;
use engine::inlined::inlined;

elementwise! {
    conj_physical => |[z]| z.conjugate();
}

pub(crate) trait Conjugate: ComputeType {
    fn conjugate(self) -> Self;
}

inlined! {
    impl Conjugate for f32, f64, i64 {
        fn conjugate(self) -> Self = self;
    }

    impl Conjugate for Complex32, Complex64 {
        fn conjugate(self) -> Self = self.conj();
    }
}
