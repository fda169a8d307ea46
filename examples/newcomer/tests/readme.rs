//! Tests that the README contains this crate's lib.rs unchanged.

use newcomer::squash;
use opdispatch::prelude::*;

#[test]
fn the_readme_contains_the_source_of_the_crate() {
    let file = include_str!("../src/lib.rs");
    assert!(include_str!("../../../README.md").contains(&format!("```rust,ignore\n{file}```\n")));
    assert!(file.lines().count() < 15);
}

#[test]
fn squash_accepts_floating_dtypes_and_strides() -> Result<()> {
    let x = Tensor::from([[-1.0, 0.0], [1.0, 3.0]]);
    assert_eq!(squash(&x.t()?)?.to_vec::<f64>()?, [-0.5, 0.5, 0.0, 0.75]);
    assert_eq!(squash(&x.to(DType::F16)?)?.to(&x)?.to_vec::<f64>()?, [-0.5, 0.0, 0.5, 0.75]);
    assert_eq!(squash(&x.to(Device::META)?)?.sizes(), [2, 2]);
    assert!(squash(&x.to(DType::I64)?).unwrap_err().to_string().contains("int64"));
    Ok(())
}

#[test]
fn squash_passes_all_checks_of_operators() {
    opdispatch::checks::opcheck(squash::operator(), &Tensor::from([[-1.0, 0.0], [1.0, 3.0]])).unwrap();
}

#[test]
fn verify_finds_no_mistakes() {
    let findings = opdispatch::backend::verify();
    assert!(findings.is_empty(), "{findings:#?}");
}
