//! Tests operators, backends and kernels of crates that do not depend on each other.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::link;
use dispatch_runtime::prelude::*;
use my_npu::NPU;
use my_npu::layers::Audit;

link!(my_npu, renamed);

#[op_impl(myops::now)]
fn now_kernel(clock: &str) -> std::result::Result<f64, String> {
    if clock.is_empty() { Err("no clock".to_owned()) } else { Ok(1.0) }
}

#[op_impl(myops::square, my_npu::NPU)]
fn square_npu(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(myops::mymul, NPU)]
fn mymul_npu(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_fallback(Audit)]
fn redispatch_below_audit(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    op.redispatch_boxed(keys.below(Audit), stack)
}

#[test]
fn the_runtime_crate_may_be_renamed() -> Result<()> {
    let x = Tensor::from_slice(&[1.0_f32]);
    renamed::call_by_name(&x)?;
    renamed::increment!(&x, by = 2.0)?;
    let negated = (-&x)?;
    assert_eq!(negated.sizes(), [1]);
    let _watching = dispatch_runtime::guard::include(renamed::Watcher.into());
    renamed::increment(&x, 1.0)?;
    Ok(())
}

#[test]
fn kernel_errors_may_have_other_types() -> Result<()> {
    let error = myops::now("").unwrap_err().to_string();
    assert!(error.contains("no clock") && error.contains("myops::now"), "{error}");
    assert!(myops::now("wall")? > 0.0);
    Ok(())
}

#[test]
fn keys_of_other_crates_select_kernels() -> Result<()> {
    let x = Tensor::from_slice(&[1.0_f32]);
    assert_eq!(myops::square::call_for(NPU, &x)?.sizes(), [1]);
    assert_eq!(myops::mymul::call_for(NPU, &x, &x)?.sizes(), [1]);
    let _auditing = dispatch_runtime::guard::include(Audit.into());
    assert!(myops::square::call_for(NPU, &x).is_ok());
    Ok(())
}
