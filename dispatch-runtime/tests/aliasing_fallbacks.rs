//! Tests of fallbacks with the option `aliasing`, which serve only operators that view or write their arguments.

use std::cell::RefCell;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ErrorKind, FallbackRecord, Location, Provenance, Record, Registrar, register, verify};

/// Defines operators that all have a kernel for the same keys.
macro_rules! define_cpu_operators {
    ($($schema:literal $name:ident($($argument:ident: $ty:ty),*) -> $output:ty = $result:expr;)*) => {$(
        #[op_def($schema)]
        fn $name($($argument: $ty),*) -> Result<$output>;

        const _: () = {
            #[op_impl($name, CPU)]
            fn cpu_kernel($($argument: $ty),*) -> $output {
                $(let _ = &$argument;)*
                $result
            }
        };
    )*};
}

define_cpu_operators! {
    "no_alias(Tensor self, Tensor other) -> Tensor" no_alias(this: &Tensor, other: &Tensor) -> Tensor = this.clone();
    "view(Tensor(a) self) -> Tensor(a)" view(this: &Tensor) -> Tensor = this.clone();
    "split(Tensor(a -> *) self) -> Tensor(a)[]" split(this: &Tensor) -> Vec<Tensor> = vec![this.clone()];
    "fill_(Tensor(a!) self) -> Tensor(a!)" fill_(this: &mut Tensor) -> () = ();
    "fill.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)" fill_out(this: &Tensor, out: &mut Tensor) -> () = ();
    "fill_each_(Tensor(a!)[] self) -> ()" fill_each_(this: &mut [Tensor]) -> () = ();
}

thread_local! {
    static FALLBACK_OPERATORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn take_fallback_operators() -> Vec<String> {
    FALLBACK_OPERATORS.take()
}

#[op_fallback(ADInplaceOrView, aliasing)]
fn view_tracking_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    FALLBACK_OPERATORS.with_borrow_mut(|calls| calls.push(op.name().base.to_owned()));
    op.redispatch_boxed(keys.below(keys::ADInplaceOrView), stack)
}

fn one_element_tensor() -> Tensor {
    Tensor::from_slice(&[1.0_f32])
}

#[test]
fn a_fallback_for_aliasing_operators_runs_only_for_views_and_writes() {
    let mut out = one_element_tensor();
    no_alias(&one_element_tensor(), &one_element_tensor()).unwrap();
    view(&one_element_tensor()).unwrap();
    split(&one_element_tensor()).unwrap();
    fill_(&mut out).unwrap();
    fill_out(&one_element_tensor(), &mut out).unwrap();
    fill_each_(&mut [one_element_tensor(), one_element_tensor()]).unwrap();
    no_alias(&one_element_tensor(), &one_element_tensor()).unwrap();
    assert_eq!(take_fallback_operators(), ["view", "split", "fill_", "fill", "fill_each_"]);
}

#[test]
fn a_fallback_for_aliasing_operators_runs_for_the_same_boxed_calls() {
    no_alias::operator().call([one_element_tensor().into(), one_element_tensor().into()]).unwrap();
    view::operator().call([one_element_tensor().into()]).unwrap();
    fill_::operator().call([one_element_tensor().into()]).unwrap();
    assert_eq!(take_fallback_operators(), ["view", "fill_"]);
}

#[test]
fn a_fallback_for_aliasing_operators_selects_dynamic_operators_by_schema() {
    let registrar = Registrar::new("aliasing");
    for schema in ["narrow(Tensor(a) self) -> Tensor(a)", "copy(Tensor self) -> Tensor"] {
        let operator = registrar.define(schema).unwrap().operator().unwrap();
        drop(registrar.kernel(operator.name().base, keys::CPU, |_, _, _| Ok(())));
        operator.call([one_element_tensor().into()]).unwrap();
    }
    assert_eq!(take_fallback_operators(), ["narrow"]);
}

#[test]
fn dumps_and_explanations_show_the_fallback_only_for_aliasing_operators() {
    let provenance = |operator: &Operator| {
        let cell = operator.table().into_iter().find(|cell| cell.key == keys::ADInplaceOrView);
        cell.map(|cell| cell.provenance)
    };
    assert_eq!(provenance(view::operator()), Some(Provenance::BackendFallback));
    assert_eq!(provenance(no_alias::operator()), Some(Provenance::Missing));
    assert!(view::operator().dump_table().contains("ADInplaceOrView: `view_tracking_fallback`"));
    assert!(!no_alias::operator().dump_table().contains("ADInplaceOrView"));

    let explanation = view::operator().explain(&[one_element_tensor().into()]);
    assert_eq!(
        (explanation.key, explanation.winner.unwrap().kernel),
        (Some(keys::ADInplaceOrView), "view_tracking_fallback")
    );
    let explanation = no_alias::operator().explain(&[one_element_tensor().into(), one_element_tensor().into()]);
    assert_eq!((explanation.key, explanation.winner.unwrap().kernel), (Some(keys::CPU), "cpu_kernel"));
    assert!(explanation.skipped.has(keys::ADInplaceOrView));
}

#[test]
fn a_late_fallback_applies_to_operators_that_were_called_before() {
    static LATE_FALLBACK: FallbackRecord =
        FallbackRecord::boxed(refusing_fallback, &keys::Functionalize, "refuse", Location::new("late.rs", 1))
            .for_aliasing_operators();
    static RECORDS: [Record; 1] = [Record::Fallback(&LATE_FALLBACK)];

    let with_key = one_element_tensor().with_keys(one_element_tensor().keys() | keys::Functionalize);
    view(&with_key).unwrap();
    no_alias(&with_key, &one_element_tensor()).unwrap();
    register(&RECORDS);
    assert!(view(&with_key).unwrap_err().to_string().contains("refused"));
    no_alias(&with_key, &one_element_tensor()).unwrap();
}

fn refusing_fallback(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("refused".into())
}

/// A fallback for aliasing operators, beside one for all operators.
#[op_fallback(Conjugate, aliasing)]
fn aliasing_fallback(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("aliasing fallback".into())
}

#[op_fallback(Conjugate)]
fn general_fallback(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("general fallback".into())
}

#[test]
fn two_fallbacks_for_one_key_are_an_error_even_if_one_is_only_for_aliasing() {
    let with_key = one_element_tensor().with_keys(one_element_tensor().keys() | keys::Conjugate);
    for error in [view(&with_key).unwrap_err(), no_alias(&with_key, &one_element_tensor()).unwrap_err()] {
        assert!(matches!(error.kind(), ErrorKind::DuplicateFallback { fallbacks, .. } if fallbacks.len() == 2));
    }
    assert!(verify().iter().any(|finding| finding.to_string().contains("fallbacks for Conjugate")));
}
