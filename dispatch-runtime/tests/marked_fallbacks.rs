//! Tests of fallbacks with marks: typed calls without a marked tensor skip them, and all else is unchanged.

use std::cell::RefCell;
use std::thread;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Explanation, FallbackRecord, Location, Marks, Record, fallback_fallthrough, register};

/// An operator whose kernel reports the keys that it got.
#[op_def("given(Tensor self, Tensor other) -> Tensor")]
fn given(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(given, CPU)]
fn given_cpu(this: &Tensor, _: &Tensor, keys: KeySet) -> Tensor {
    SEEN.with_borrow_mut(|seen| seen.push(format!("cpu {keys}")));
    this.clone()
}

/// An operator with every kind of argument that can contain a tensor.
#[op_def("all(Tensor? a, Tensor[] b, Tensor?[] c, Any d, *, Tensor(a!) e, Tensor(b!)[] f, Tensor(c!)? g) -> ()")]
fn all(
    a: Option<&Tensor>,
    b: &[Tensor],
    c: &[Option<Tensor>],
    d: &Value,
    e: &mut Tensor,
    f: &mut [Tensor],
    g: Option<&mut Tensor>,
) -> Result<()>;

#[op_impl(all, CPU)]
fn all_cpu(
    _: Option<&Tensor>,
    _: &[Tensor],
    _: &[Option<Tensor>],
    _: &Value,
    _: &mut Tensor,
    _: &mut [Tensor],
    _: Option<&mut Tensor>,
) {
}

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn seen() -> Vec<String> {
    SEEN.take()
}

fn see(what: &str, op: &Operator, keys: KeySet, key: Key, stack: &mut Stack) -> Result<()> {
    SEEN.with_borrow_mut(|seen| seen.push(what.to_owned()));
    op.redispatch_boxed(keys.below(key), stack)
}

#[op_fallback(AutogradCPU, marked(REQUIRES_GRAD, RECORDED))]
fn record(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see("record", op, keys, keys::AutogradCPU, stack)
}

#[op_fallback(ADInplaceOrView, marked(VIEW))]
fn track(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see("track", op, keys, keys::ADInplaceOrView, stack)
}

#[op_fallback(Conjugate, aliasing, marked(INFERENCE))]
fn resolve(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see("resolve", op, keys, keys::Conjugate, stack)
}

/// Returns a tensor without marks. Afterwards, the program has seen all marks.
fn x() -> Tensor {
    let (x, all) = (Tensor::from_slice(&[1.0_f32]), Marks::REQUIRES_GRAD | Marks::RECORDED | Marks::VIEW);
    x.mark(all);
    x.unmark(all);
    x
}

fn marked(marks: Marks) -> Tensor {
    let x = x();
    x.mark(marks);
    x
}

#[test]
fn a_typed_call_without_marked_tensors_passes_over_both_fallbacks() {
    given(&x(), &x()).unwrap();
    // The kernel's keys have neither the skipped layers nor any layer above them.
    assert_eq!(seen(), [format!("cpu {}", (x().keys() | keys::BackendSelect).below(keys::ADInplaceOrView))]);
}

#[test]
fn the_kernel_gets_the_keys_that_it_gets_of_the_fallbacks_in_a_boxed_call() {
    let with_more = x().with_keys(x().keys() | keys::Python | keys::Tracer | keys::ZeroTensor | keys::Functionalize);
    given(&with_more, &x()).unwrap();
    let typed = seen();
    assert!(
        typed[0].contains("Python") && typed[0].contains("ZeroTensor") && !typed[0].contains("Tracer"),
        "{typed:?}"
    );
    given::operator().call([with_more.into(), x().into()]).unwrap();
    assert_eq!(seen(), ["trace", "record", "track", &typed[0]]);
}

#[test]
fn one_marked_tensor_anywhere_is_enough() {
    let (plain, grad) = (x(), marked(Marks::REQUIRES_GRAD));
    given(&grad, &plain).unwrap();
    assert_eq!(seen()[0], "record");
    given(&plain, &marked(Marks::RECORDED)).unwrap();
    assert_eq!(seen()[0], "record");
    given(&plain, &marked(Marks::VIEW)).unwrap();
    assert!(seen().contains(&"track".to_owned()));

    let call = |a: Option<&Tensor>,
                b: &[Tensor],
                c: &[Option<Tensor>],
                d: &Value,
                e: &Tensor,
                f: &Tensor,
                g: Option<&Tensor>| {
        all(a, b, c, d, &mut e.clone(), &mut [plain.clone(), f.clone()], g.cloned().as_mut()).unwrap();
        seen().contains(&"record".to_owned())
    };
    let none = Value::None;
    let inside = Value::Tuple(vec![Value::None, Value::List(vec![grad.clone().into()].into())].into());
    assert!(!call(None, &[], &[], &none, &plain, &plain, None));
    assert!(!call(Some(&plain), &[x()], &[None, Some(x())], &plain.clone().into(), &plain, &plain, Some(&x())));
    assert!(call(Some(&grad), &[], &[], &none, &plain, &plain, None));
    assert!(call(None, &[x(), grad.clone()], &[], &none, &plain, &plain, None));
    assert!(call(None, &[], &[None, Some(grad.clone())], &none, &plain, &plain, None));
    assert!(call(None, &[], &[], &inside, &plain, &plain, None));
    assert!(call(None, &[], &[], &none, &grad, &plain, None));
    assert!(call(None, &[], &[], &none, &plain, &grad, None));
    assert!(call(None, &[], &[], &none, &plain, &plain, Some(&grad)));
}

#[test]
fn a_redispatch_and_a_call_for_the_key_pass_over_it_too_and_boxed_calls_never_do() {
    let keys = x().keys();
    given::redispatch(keys.below(keys::AutocastCPU), &x(), &x()).unwrap();
    given::call_for(keys::AutogradCPU, &x(), &x()).unwrap();
    assert!(seen().iter().all(|seen| seen.starts_with("cpu ")));

    let mut stack: Stack = [Value::from(x()), x().into()].into_iter().collect();
    given::operator().redispatch_boxed(keys.below(keys::AutocastCPU), &mut stack).unwrap();
    assert_eq!(seen()[..2], ["record", "track"]);
}

#[test]
fn what_fallbacks_serve_and_what_concerns_them_go_together() {
    #[op_def("conjugate_(Tensor(a!) self) -> Tensor(a!)")]
    fn conjugate_(this: &mut Tensor) -> Result<()>;

    #[op_impl(conjugate_, CPU)]
    fn conjugate_in_place_cpu(_: &mut Tensor) {}

    let with_key = |x: &Tensor| x.with_keys(x.keys() | keys::Conjugate);
    conjugate_(&mut with_key(&x())).unwrap();
    given(&with_key(&marked(Marks::INFERENCE)), &x()).unwrap();
    assert!(!seen().contains(&"resolve".to_owned()));
    conjugate_(&mut with_key(&marked(Marks::INFERENCE))).unwrap();
    assert!(seen().contains(&"resolve".to_owned()));
}

#[test]
fn views_concern_a_fallback_for_aliases_whatever_they_are_made_of() {
    #[op_def("conjugated(Tensor(a) self) -> Tensor(a)")]
    fn conjugated(this: &Tensor) -> Result<Tensor>;

    #[op_impl(conjugated, CPU)]
    fn conjugated_cpu(this: &Tensor) -> Tensor {
        this.clone()
    }

    conjugated(&x().with_keys(x().keys() | keys::Conjugate)).unwrap();
    assert!(seen().contains(&"resolve".to_owned()));
}

/// An operator for a layer between two fallbacks, which marks a tensor for the lower one.
#[op_def("between(Tensor self) -> Tensor")]
fn between(this: &Tensor) -> Result<Tensor>;

#[op_impl(between, CPU)]
fn between_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(between, AutogradCPU)]
fn between_autograd(this: &Tensor, keys: KeySet) -> Result<Tensor> {
    SEEN.with_borrow_mut(|seen| seen.push("kernel".to_owned()));
    this.mark(Marks::VIEW);
    between::redispatch(keys.below(keys::AutogradCPU), this)
}

#[op_fallback(Tracer, marked(REQUIRES_GRAD))]
fn trace(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see("trace", op, keys, keys::Tracer, stack)
}

#[test]
fn a_call_passes_over_no_layer_below_one_that_has_a_kernel() {
    let x = x();
    between(&x.with_keys(x.keys() | keys::Tracer)).unwrap();
    assert_eq!(seen(), ["kernel", "track"]);
}

/// An operator with a fallback for autograd on one backend, and its own autograd kernel on another.
#[op_def("uneven(Tensor self) -> Tensor")]
fn uneven(this: &Tensor) -> Result<Tensor>;

#[op_impl(uneven, CPU, CUDA)]
fn uneven_dense(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(uneven, AutogradCUDA)]
fn uneven_autograd(_: &Tensor) -> Result<Tensor> {
    Err(Error::kernel("autograd of its own"))
}

#[test]
fn passing_over_a_fallback_on_one_backend_passes_over_no_kernel_on_another() {
    let x = x();
    assert!(uneven(&x).is_ok());
    let error = uneven(&x.with_keys(keys::CUDA | keys::AutogradCUDA | keys::Tracer)).unwrap_err();
    assert!(error.to_string().contains("autograd of its own"));
}

#[test]
fn one_that_is_registered_late_is_passed_over_as_well() {
    static LATE: FallbackRecord =
        FallbackRecord::boxed(refuse, &keys::Negative, "refuse", Location::new("late.rs", 1)).marked(&[Marks::FOREIGN]);
    static RECORDS: [Record; 1] = [Record::Fallback(&LATE)];

    #[op_def("late(Tensor self) -> Tensor")]
    fn late(this: &Tensor) -> Result<Tensor>;

    #[op_impl(late, CPU)]
    fn late_cpu(this: &Tensor) -> Tensor {
        this.clone()
    }

    let (plain, foreign) = (x(), marked(Marks::FOREIGN));
    let with_key = |x: &Tensor| x.with_keys(x.keys() | keys::Negative);
    assert!(late(&with_key(&plain)).is_ok() && late(&with_key(&foreign)).is_ok());
    register(&RECORDS);
    assert!(late(&with_key(&plain)).is_ok());
    assert!(late(&with_key(&foreign)).unwrap_err().to_string().contains("refused"));
    assert!(late::operator().call([with_key(&plain).into()]).is_err());
}

#[test]
fn it_is_passed_over_by_calls_during_which_operators_are_unbound() {
    let registering =
        thread::spawn(|| (0..2_000).for_each(|_| fallback_fallthrough(keys::PreDispatch).unwrap().remove()));
    let x = x();
    while !registering.is_finished() {
        given(&x, &x).unwrap();
        assert!(seen()[0].starts_with("cpu "));
    }
    registering.join().unwrap();
}

fn refuse(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("refused".into())
}

#[test]
fn the_account_of_a_call_passes_over_the_fallback_if_the_call_does() {
    let account = |x: Tensor| given::operator().explain(&[x.into(), self::x().into()]);
    let winner = |account: Explanation| account.winner.map(|winner| winner.kernel);
    assert!(account(x()).skipped.has(keys::AutogradCPU));
    assert_eq!(winner(account(x())), Some("given_cpu"));
    assert_eq!(winner(account(marked(Marks::REQUIRES_GRAD))), Some("record"));
}
