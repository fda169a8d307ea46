//! Tests kernels with several keys, an alias key or no key; overrides, conditions, boxed kernels and fallthrough.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;

macro_rules! define_operators {
    ($($name:ident)*) => {$(
        #[op_def]
        fn $name(this: &Tensor) -> Result<Str>;
    )*};
}

define_operators! { several_keys alias_keys every_key overridden conditional boxed_only with_fallthrough }

#[op_impl(several_keys, CPU, CUDA, Meta)]
fn several_keys_cpu_cuda_meta(_: &Tensor) -> Str {
    "several".into()
}

#[op_impl(alias_keys, Autograd)]
fn alias_keys_autograd(this: &Tensor, keys: KeySet) -> Result<Str> {
    Ok(format!("autograd, then {}", &*alias_keys::redispatch(keys.below(keys::AutogradCPU), this)?).into())
}

#[op_impl(alias_keys, CompositeExplicitAutograd)]
fn alias_keys_backends(_: &Tensor) -> Str {
    "backend".into()
}

#[op_impl(every_key)]
fn every_key_kernel(_: &Tensor) -> Str {
    "everywhere".into()
}

#[op_impl(overridden, CPU)]
fn overridden_first_cpu(_: &Tensor) -> Str {
    "first".into()
}

#[op_impl(overridden, CPU, override)]
fn overridden_second_cpu(_: &Tensor) -> Str {
    "second".into()
}

const fn kernel(sizes: &[i64]) -> bool {
    !sizes.is_empty()
}

// The condition sees the user's names, and no names of generated code.
#[op_impl(conditional, CPU, when(kernel(this.sizes()) && this.sizes()[0] > 2), priority = 10)]
fn conditional_cpu_long(_: &Tensor) -> Str {
    "long".into()
}

#[op_impl(conditional, CPU, when({
    let first = this.sizes().first();
    first == Some(&1)
}), priority = -1)]
fn conditional_cpu_length_one(_: &Tensor) -> Str {
    "one".into()
}

#[op_impl(conditional, CPU, when(true), priority = -10)]
fn conditional_cpu_otherwise(_this: &Tensor) -> Str {
    "otherwise".into()
}

#[op_def("write_first_element(Tensor(a!) self, Tensor? weight=None, int[]? dim=None) -> Tensor(a!)")]
fn write_first_element(this: &mut Tensor, weight: Option<&Tensor>, dim: Option<&[i64]>) -> Result<()>;

#[op_impl(write_first_element, CPU, when(weight.is_some() || dim.is_some_and(|dim| this.sizes().len() < dim.len())), priority = 1)]
fn write_first_element_cpu_weighted(this: &mut Tensor, weight: Option<&Tensor>, _: Option<&[i64]>) -> Result<()> {
    let by = weight.map_or(Ok(0.0), |weight| weight.read::<f32>().map(|weight| weight[0]))?;
    this.write::<f32>()?[0] = by;
    Ok(())
}

#[op_impl(write_first_element, CPU, when(weight.is_none()), priority = 2)]
fn write_first_element_cpu_unweighted(this: &mut Tensor, _: Option<&Tensor>, _: Option<&[i64]>) -> Result<()> {
    this.write::<f32>()?[0] = -1.0;
    Ok(())
}

#[op_impl(boxed_only, CPU, boxed)]
fn boxed_only_cpu(op: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(1);
    stack.push(Str::from(op.name().to_string().as_str()));
    Ok(())
}

fallthrough!(with_fallthrough, AutogradCPU, Tracer);

#[op_impl(with_fallthrough, CPU)]
fn with_fallthrough_cpu(_: &Tensor) -> Str {
    "skipped".into()
}

mod user_keys {
    use dispatch_runtime::prelude::*;

    #[dispatch_key(backend)]
    pub(super) static TPU: Key;

    #[dispatch_key(layer, above = Backends)]
    pub(super) static FallthroughLayer: Key;

    fallthrough!(FallthroughLayer);
}

use user_keys::{FallthroughLayer, TPU};

#[op_impl(several_keys, TPU, Autograd.on(TPU), my_npu::NPU)]
fn several_keys_user_backends(_: &Tensor) -> Str {
    "on a backend of the user".into()
}

#[op_impl(with_fallthrough, user_keys::TPU, FallthroughLayer)]
fn with_fallthrough_user_keys(_: &Tensor) -> Str {
    "skipped".into()
}

fn ones(length: usize) -> Tensor {
    Tensor::from_slice(&vec![1.0_f32; length])
}

#[test]
fn a_kernel_may_serve_several_keys() -> Result<()> {
    assert_eq!(&*several_keys(&ones(1))?, "several");
    for key in [keys::CUDA, keys::Meta] {
        assert_eq!(&*several_keys::call_for(key, &ones(1))?, "several");
    }
    for key in [TPU, my_npu::NPU, keys::Autograd.on(TPU)] {
        assert_eq!(&*several_keys::call_for(key, &ones(1))?, "on a backend of the user");
    }
    Ok(())
}

#[test]
fn an_alias_key_serves_its_runtime_keys() -> Result<()> {
    assert_eq!(&*alias_keys(&ones(1))?, "autograd, then backend");
    assert_eq!(&*every_key::call_for(keys::CUDA, &ones(1))?, "everywhere");
    Ok(())
}

#[test]
fn an_overriding_kernel_replaces_another() -> Result<()> {
    assert_eq!(&*overridden(&ones(1))?, "second");
    Ok(())
}

#[test]
fn the_eligible_kernel_with_the_highest_priority_runs() -> Result<()> {
    let texts: Result<Vec<Str>> = [3, 1, 2].iter().map(|&length| conditional(&ones(length))).collect();
    assert_eq!(texts?.iter().map(|text| &**text).collect::<Vec<_>>(), ["long", "one", "otherwise"]);
    let mut y = ones(1);
    write_first_element!(&mut y)?;
    assert_eq!(y.read::<f32>()?[0].to_bits(), (-1.0_f32).to_bits());
    write_first_element!(&mut y, weight = &ones(1))?;
    assert_eq!(y.read::<f32>()?[0].to_bits(), 1.0_f32.to_bits());
    Ok(())
}

#[test]
fn boxed_kernels_run_and_fallthrough_keys_are_skipped() -> Result<()> {
    assert_eq!(&*boxed_only(&ones(1))?, "keys::boxed_only");
    assert_eq!(&*with_fallthrough(&ones(1))?, "skipped");
    Ok(())
}

/// Items whose names also occur in generated code.
mod clashing_names {
    use dispatch_runtime::prelude::*;

    #[dispatch_key(layer, above = Everything)]
    pub(super) static KEY: Key;

    #[dispatch_key(backend)]
    pub(super) static KERNEL: Key;

    #[op_fallback(KEY)]
    fn fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
        op.redispatch_boxed(keys.below(KEY), stack)
    }

    #[op_impl(super::with_fallthrough, KERNEL)]
    fn with_fallthrough(_: &Tensor) -> Str {
        "by kernel".into()
    }
}

#[test]
fn key_names_do_not_clash_with_generated_names() -> Result<()> {
    let _included = dispatch_runtime::guard::include(clashing_names::KEY.into());
    assert_eq!(&*with_fallthrough(&ones(1))?, "skipped");
    assert_eq!(&*with_fallthrough::call_for(clashing_names::KERNEL, &ones(1))?, "by kernel");
    Ok(())
}
