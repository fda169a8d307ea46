//! Tests of calls with named arguments.

use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

#[test]
fn optional_numbers_are_given_with_and_without_some() {
    let x = Tensor::from([-2.0_f64, 0.5, 3.0]);
    let bound = Some(Scalar::from(1.0));
    let calls = [
        aten::clamp!(&x, max = 1),
        aten::clamp!(&x, max = 1.0),
        aten::clamp!(&x, max = Some(1.into())),
        aten::clamp!(&x, max = bound),
        aten::clamp!(&x, None, bound),
    ];
    for clamped in calls {
        assert_eq!(clamped.unwrap().to_vec::<f64>().unwrap(), [-2.0, 0.5, 1.0]);
    }
}
