//! Tests two kernels for one cell. This is only known in the linked program, so `verify` and calls of the operator report it.

use dispatch_runtime::prelude::*;

#[op_def("with_two_kernels(Tensor self) -> Tensor")]
fn with_two_kernels(this: &Tensor) -> Result<Tensor>;

#[op_impl(with_two_kernels, CPU)]
fn first_kernel(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(with_two_kernels, CPU)]
fn second_kernel(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(myops::mymul, CPU)]
fn mymul_cpu(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[test]
fn verify_reports_both_locations_of_duplicate_kernels() {
    let findings: Vec<String> = dispatch_runtime::verify().iter().map(ToString::to_string).collect();
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert!(finding.contains("duplicates::with_two_kernels") && finding.contains("CPU"), "{finding}");
    for line in [8, 13] {
        assert!(finding.contains(&format!("duplicates.rs:{line}")), "{finding}");
    }
}

#[test]
fn only_calls_of_the_operator_with_duplicate_kernels_fail() {
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(with_two_kernels(&x).unwrap_err().to_string().contains("duplicates::with_two_kernels"));
    assert!(myops::mymul(&x, &x).is_ok());
}
