//! Complex numbers and their parts.

use dispatch_runtime::{Complex32, Complex64};

use crate::compute::Compute;
use crate::elementwise::elementwise;

elementwise! {
    conj_physical conj_physical_ conj_physical_out [f32 f64 i64 Complex32 Complex64] (this) => |[z]| z.conjugate();
}

trait Conjugate: Compute {
    fn conjugate(self) -> Self;
}

macro_rules! conjugates {
    ($(|$value:ident: $ty:ty| $conjugate:expr;)*) => {$(
        impl Conjugate for $ty {
            #[inline(always)]
            fn conjugate(self) -> Self {
                let $value = self;
                $conjugate
            }
        }
    )*};
}

conjugates! {
    |x: f32| x;
    |x: f64| x;
    |x: i64| x;
    |z: Complex32| z.conj();
    |z: Complex64| z.conj();
}
