//! Tests kernels with several keys, an alias key or no key; overrides, conditions, boxed kernels and fallthrough.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;

macro_rules! operator {
    ($($name:ident)*) => {$(
        #[op_def]
        fn $name(this: &Tensor) -> Result<Str>;
    )*};
}

operator! { several aliased everywhere replaced chosen boxed_one skipped }

#[op_impl(several, CPU, CUDA, Meta)]
fn several_any(_: &Tensor) -> Str {
    "several".into()
}

#[op_impl(aliased, Autograd)]
fn aliased_autograd(this: &Tensor, keys: KeySet) -> Result<Str> {
    Ok(format!("autograd, then {}", &*aliased::redispatch(keys.below(keys::AutogradCPU), this)?).into())
}

#[op_impl(aliased, CompositeExplicitAutograd)]
fn aliased_backends(_: &Tensor) -> Str {
    "backend".into()
}

#[op_impl(everywhere)]
fn everywhere_any(_: &Tensor) -> Str {
    "everywhere".into()
}

#[op_impl(replaced, CPU)]
fn replaced_first(_: &Tensor) -> Str {
    "first".into()
}

#[op_impl(replaced, CPU, override)]
fn replaced_second(_: &Tensor) -> Str {
    "second".into()
}

const fn kernel(sizes: &[i64]) -> bool {
    !sizes.is_empty()
}

// The condition sees the user's names, and no names of generated code.
#[op_impl(chosen, CPU, when(kernel(this.sizes()) && this.sizes()[0] > 2), priority = 10)]
fn chosen_long(_: &Tensor) -> Str {
    "long".into()
}

#[op_impl(chosen, CPU, when({
    let first = this.sizes().first();
    first == Some(&1)
}), priority = -1)]
fn chosen_one(_: &Tensor) -> Str {
    "one".into()
}

#[op_impl(chosen, CPU, when(true), priority = -10)]
fn chosen_otherwise(_this: &Tensor) -> Str {
    "otherwise".into()
}

#[op_def("written(Tensor(a!) self, Tensor? weight=None, int[]? dim=None) -> Tensor(a!)")]
fn written(this: &mut Tensor, weight: Option<&Tensor>, dim: Option<&[i64]>) -> Result<()>;

#[op_impl(written, CPU, when(weight.is_some() || dim.is_some_and(|dim| this.sizes().len() < dim.len())), priority = 1)]
fn written_with_weight(this: &mut Tensor, weight: Option<&Tensor>, _: Option<&[i64]>) -> Result<()> {
    let by = weight.map_or(Ok(0.0), |weight| weight.read::<f32>().map(|weight| weight[0]))?;
    this.write::<f32>()?[0] = by;
    Ok(())
}

#[op_impl(written, CPU, when(weight.is_none()), priority = 2)]
fn written_without(this: &mut Tensor, _: Option<&Tensor>, _: Option<&[i64]>) -> Result<()> {
    this.write::<f32>()?[0] = -1.0;
    Ok(())
}

#[op_impl(boxed_one, CPU, boxed)]
fn boxed_kernel(op: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(1);
    stack.push(Str::from(op.name().to_string().as_str()));
    Ok(())
}

fallthrough!(skipped, AutogradCPU, Tracer);

#[op_impl(skipped, CPU)]
fn skipped_cpu(_: &Tensor) -> Str {
    "skipped".into()
}

mod backend {
    use dispatch_runtime::prelude::*;

    #[dispatch_key(backend)]
    pub(super) static TPU: Key;

    #[dispatch_key(layer, above = Backends)]
    pub(super) static Quiet: Key;

    fallthrough!(Quiet);
}

use backend::{Quiet, TPU};

#[op_impl(several, TPU, Autograd.on(TPU), my_npu::NPU)]
fn several_npu(_: &Tensor) -> Str {
    "on a backend of the user".into()
}

#[op_impl(skipped, backend::TPU, Quiet)]
fn skipped_npu(_: &Tensor) -> Str {
    "skipped".into()
}

fn x(length: usize) -> Tensor {
    Tensor::from_slice(&vec![1.0_f32; length])
}

#[test]
fn a_kernel_may_serve_several_keys() -> Result<()> {
    assert_eq!(&*several(&x(1))?, "several");
    for key in [keys::CUDA, keys::Meta] {
        assert_eq!(&*several::call_for(key, &x(1))?, "several");
    }
    for key in [TPU, my_npu::NPU, keys::Autograd.on(TPU)] {
        assert_eq!(&*several::call_for(key, &x(1))?, "on a backend of the user");
    }
    Ok(())
}

#[test]
fn an_alias_key_serves_its_runtime_keys() -> Result<()> {
    assert_eq!(&*aliased(&x(1))?, "autograd, then backend");
    assert_eq!(&*everywhere::call_for(keys::CUDA, &x(1))?, "everywhere");
    Ok(())
}

#[test]
fn an_overriding_kernel_replaces_another() -> Result<()> {
    assert_eq!(&*replaced(&x(1))?, "second");
    Ok(())
}

#[test]
fn the_eligible_kernel_with_the_highest_priority_runs() -> Result<()> {
    let texts: Result<Vec<Str>> = [3, 1, 2].iter().map(|&length| chosen(&x(length))).collect();
    assert_eq!(texts?.iter().map(|text| &**text).collect::<Vec<_>>(), ["long", "one", "otherwise"]);
    let mut y = x(1);
    written!(&mut y)?;
    assert_eq!(y.read::<f32>()?[0].to_bits(), (-1.0_f32).to_bits());
    written!(&mut y, weight = &x(1))?;
    assert_eq!(y.read::<f32>()?[0].to_bits(), 1.0_f32.to_bits());
    Ok(())
}

#[test]
fn boxed_kernels_run_and_fallthrough_keys_are_skipped() -> Result<()> {
    assert_eq!(&*boxed_one(&x(1))?, "keys::boxed_one");
    assert_eq!(&*skipped(&x(1))?, "skipped");
    Ok(())
}

/// Items whose names also occur in generated code.
mod clash {
    use dispatch_runtime::prelude::*;

    #[dispatch_key(layer, above = Everything)]
    pub(super) static KEY: Key;

    #[dispatch_key(backend)]
    pub(super) static KERNEL: Key;

    #[op_fallback(KEY)]
    fn fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
        op.redispatch_boxed(keys.below(KEY), stack)
    }

    #[op_impl(super::skipped, KERNEL)]
    fn skipped(_: &Tensor) -> Str {
        "by kernel".into()
    }
}

#[test]
fn key_names_do_not_clash_with_generated_names() -> Result<()> {
    let _included = dispatch_runtime::guard::include(clash::KEY.into());
    assert_eq!(&*skipped(&x(1))?, "skipped");
    assert_eq!(&*skipped::call_for(clash::KERNEL, &x(1))?, "by kernel");
    Ok(())
}
