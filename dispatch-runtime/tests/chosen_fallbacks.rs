//! Tests of fallbacks that serve only some operators.

use std::cell::RefCell;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ErrorKind, FallbackRecord, Location, Provenance, Record, Registrar, register, verify};

/// Defines operators that all have a kernel for the same keys.
macro_rules! define {
    ($($schema:literal $name:ident($($argument:ident: $ty:ty),*) -> $output:ty = $result:expr;)*) => {$(
        #[op_def($schema)]
        fn $name($($argument: $ty),*) -> Result<$output>;

        const _: () = {
            #[op_impl($name, CPU)]
            fn cpu($($argument: $ty),*) -> $output {
                $(let _ = &$argument;)*
                $result
            }
        };
    )*};
}

define! {
    "plain(Tensor self, Tensor other) -> Tensor" plain(this: &Tensor, other: &Tensor) -> Tensor = this.clone();
    "view(Tensor(a) self) -> Tensor(a)" view(this: &Tensor) -> Tensor = this.clone();
    "split(Tensor(a -> *) self) -> Tensor(a)[]" split(this: &Tensor) -> Vec<Tensor> = vec![this.clone()];
    "fill_(Tensor(a!) self) -> Tensor(a!)" fill_(this: &mut Tensor) -> () = ();
    "fill.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)" fill_out(this: &Tensor, out: &mut Tensor) -> () = ();
    "fill_each_(Tensor(a!)[] self) -> ()" fill_each_(this: &mut [Tensor]) -> () = ();
}

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn seen() -> Vec<String> {
    SEEN.take()
}

#[op_fallback(ADInplaceOrView, aliasing)]
fn track(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    SEEN.with_borrow_mut(|seen| seen.push(op.name().base.to_owned()));
    op.redispatch_boxed(keys.below(keys::ADInplaceOrView), stack)
}

fn x() -> Tensor {
    Tensor::from_slice(&[1.0_f32])
}

#[test]
fn a_fallback_for_aliasing_operators_sees_views_and_writes_and_no_other_call() {
    let mut out = x();
    plain(&x(), &x()).unwrap();
    view(&x()).unwrap();
    split(&x()).unwrap();
    fill_(&mut out).unwrap();
    fill_out(&x(), &mut out).unwrap();
    fill_each_(&mut [x(), x()]).unwrap();
    plain(&x(), &x()).unwrap();
    assert_eq!(seen(), ["view", "split", "fill_", "fill", "fill_each_"]);
}

#[test]
fn it_sees_the_same_calls_when_they_are_boxed() {
    plain::operator().call([x().into(), x().into()]).unwrap();
    view::operator().call([x().into()]).unwrap();
    fill_::operator().call([x().into()]).unwrap();
    assert_eq!(seen(), ["view", "fill_"]);
}

#[test]
fn an_operator_that_is_defined_while_the_program_runs_is_served_by_its_schema() {
    let lab = Registrar::new("chosen");
    for schema in ["narrow(Tensor(a) self) -> Tensor(a)", "copy(Tensor self) -> Tensor"] {
        let operator = lab.define(schema).unwrap().operator().unwrap();
        drop(lab.kernel(operator.name().base, keys::CPU, |_, _, _| Ok(())));
        operator.call([x().into()]).unwrap();
    }
    assert_eq!(seen(), ["narrow"]);
}

#[test]
fn dumps_and_accounts_show_it_where_it_serves_and_nowhere_else() {
    let provenance = |operator: &Operator| {
        let cell = operator.table().into_iter().find(|cell| cell.key == keys::ADInplaceOrView);
        cell.map(|cell| cell.provenance)
    };
    assert_eq!(provenance(view::operator()), Some(Provenance::BackendFallback));
    assert_eq!(provenance(plain::operator()), Some(Provenance::Missing));
    assert!(view::operator().dump_table().contains("ADInplaceOrView: `track`"));
    assert!(!plain::operator().dump_table().contains("ADInplaceOrView"));

    let account = view::operator().explain(&[x().into()]);
    assert_eq!((account.key, account.winner.unwrap().kernel), (Some(keys::ADInplaceOrView), "track"));
    let account = plain::operator().explain(&[x().into(), x().into()]);
    assert_eq!((account.key, account.winner.unwrap().kernel), (Some(keys::CPU), "cpu"));
    assert!(account.skipped.has(keys::ADInplaceOrView));
}

#[test]
fn one_that_is_registered_late_serves_operators_that_were_called_before() {
    static LATE: FallbackRecord =
        FallbackRecord::boxed(refuse, &keys::Functionalize, "refuse", Location::new("late.rs", 1)).aliasing();
    static RECORDS: [Record; 1] = [Record::Fallback(&LATE)];

    let with_key = x().with_keys(x().keys() | keys::Functionalize);
    view(&with_key).unwrap();
    plain(&with_key, &x()).unwrap();
    register(&RECORDS);
    assert!(view(&with_key).unwrap_err().to_string().contains("refused"));
    plain(&with_key, &x()).unwrap();
}

fn refuse(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("refused".into())
}

/// A fallback for aliasing operators, beside one for all operators.
#[op_fallback(Conjugate, aliasing)]
fn some(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("some".into())
}

#[op_fallback(Conjugate)]
fn all(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("all".into())
}

#[test]
fn two_fallbacks_for_one_key_clash_whatever_operators_they_serve() {
    let with_key = x().with_keys(x().keys() | keys::Conjugate);
    for error in [view(&with_key).unwrap_err(), plain(&with_key, &x()).unwrap_err()] {
        assert!(matches!(error.kind(), ErrorKind::DuplicateFallback { fallbacks, .. } if fallbacks.len() == 2));
    }
    assert!(verify().iter().any(|finding| finding.to_string().contains("fallbacks for Conjugate")));
}
