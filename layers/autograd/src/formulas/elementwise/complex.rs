//! Gradient formulas of conversions between complex and real tensors.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use crate::complex::conj;

derivatives! {
    _conj(grad) => conj(grad);
    _neg_view(grad) => -grad;
    conj_physical(grad) => conj(grad);
    view_as_real(grad) => aten::view_as_complex(&grad.contiguous()?);
    view_as_complex(grad) => aten::view_as_real(grad);
}
