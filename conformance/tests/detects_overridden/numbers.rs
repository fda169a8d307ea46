//! Tests that the check of scalars finds kernels that accept scalars out of the dtype's range, and kernels that refuse scalars in range.

use conformance::{Check, Suite};
use dispatch_runtime::BadArgument;
use dispatch_runtime::prelude::*;

/// Wraps a scalar that is out of the dtype's range, instead of refusing it.
#[op_impl(aten::fill__scalar, CPU, override)]
fn fill_wrapping(this: &mut Tensor, value: Scalar) -> Result<()> {
    aten::fill_(this, &Tensor::number(value))
}

/// Refuses every scalar that is out of the range of `F16`, in all dtypes.
#[op_impl(aten::leaky_relu, CPU, override)]
fn leaky_relu_refusing_large_slopes(this: &Tensor, negative_slope: Scalar) -> Result<Tensor> {
    if negative_slope.to_f64().is_none_or(|slope| slope.abs() > 65504.0) {
        return Err(BadArgument::value("negative_slope", negative_slope, "small").into());
    }
    aten::where_self(&aten::gt_scalar(this, 0.into())?, this, &aten::mul_scalar(this, negative_slope)?)
}

fn numbers_check_failures(operator: &str) -> Vec<String> {
    let report = Suite::new(Device::CPU).only_operator(operator).only_check(Check::Numbers).run().unwrap();
    report.failed_checks().iter().map(ToString::to_string).collect()
}

#[test]
fn a_wrapped_scalar_is_found() {
    let found = numbers_check_failures("aten::fill_.Scalar");
    let of_bytes = found.iter().find(|text| text.contains("`value` of u8")).unwrap();
    assert!(of_bytes.contains(r#"accepted {"int":256}"#) && of_bytes.contains(r#"{"int":300}"#), "{of_bytes}");
    assert!(!of_bytes.contains(r#"{"int":-255}"#), "{of_bytes}");
}

#[test]
fn a_refused_scalar_in_range_is_found() {
    let found = numbers_check_failures("aten::leaky_relu");
    assert!(found.iter().any(|text| text.contains(r#"`negative_slope` of f32, first of {"int":65519}"#)), "{found:#?}");
}
