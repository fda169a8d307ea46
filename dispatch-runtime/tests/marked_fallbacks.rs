//! Tests of fallbacks with marks: typed calls without a marked tensor skip them, and all else is unchanged.

use std::cell::RefCell;
use std::thread;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Explanation, FallbackRecord, Location, Marks, Record, fallback_fallthrough, register};

/// An operator whose kernel reports the keys that it got.
#[op_def("two_tensors(Tensor self, Tensor other) -> Tensor")]
fn two_tensors(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(two_tensors, CPU)]
fn two_tensors_cpu(this: &Tensor, _: &Tensor, keys: KeySet) -> Tensor {
    REACHED_KERNELS.with_borrow_mut(|calls| calls.push(format!("cpu {keys}")));
    this.clone()
}

/// An operator with every kind of argument that can contain a tensor.
#[op_def(
    "all_argument_kinds(Tensor? a, Tensor[] b, Tensor?[] c, Any d, *, Tensor(a!) e, Tensor(b!)[] f, Tensor(c!)? g) -> ()"
)]
fn all_argument_kinds(
    a: Option<&Tensor>,
    b: &[Tensor],
    c: &[Option<Tensor>],
    d: &Value,
    e: &mut Tensor,
    f: &mut [Tensor],
    g: Option<&mut Tensor>,
) -> Result<()>;

#[op_impl(all_argument_kinds, CPU)]
fn all_argument_kinds_cpu(
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
    static REACHED_KERNELS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn take_reached_kernels() -> Vec<String> {
    REACHED_KERNELS.take()
}

fn record_and_redispatch(name: &str, op: &Operator, keys: KeySet, key: Key, stack: &mut Stack) -> Result<()> {
    REACHED_KERNELS.with_borrow_mut(|calls| calls.push(name.to_owned()));
    op.redispatch_boxed(keys.below(key), stack)
}

#[op_fallback(AutogradCPU, marked(REQUIRES_GRAD, RECORDED))]
fn record_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    record_and_redispatch("record", op, keys, keys::AutogradCPU, stack)
}

#[op_fallback(ADInplaceOrView, marked(VIEW))]
fn view_tracking_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    record_and_redispatch("track", op, keys, keys::ADInplaceOrView, stack)
}

#[op_fallback(Conjugate, aliasing, marked(INFERENCE))]
fn conjugate_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    record_and_redispatch("resolve", op, keys, keys::Conjugate, stack)
}

/// Returns a tensor without marks. Afterwards, the program has seen all marks.
fn unmarked_tensor() -> Tensor {
    let (x, all) = (Tensor::from_slice(&[1.0_f32]), Marks::REQUIRES_GRAD | Marks::RECORDED | Marks::VIEW);
    x.mark(all);
    x.unmark(all);
    x
}

fn marked_tensor(marks: Marks) -> Tensor {
    let x = unmarked_tensor();
    x.mark(marks);
    x
}

#[test]
fn a_typed_call_without_marked_tensors_skips_both_fallbacks() {
    two_tensors(&unmarked_tensor(), &unmarked_tensor()).unwrap();
    // The kernel's keys have neither the skipped layers nor any layer above them.
    assert_eq!(
        take_reached_kernels(),
        [format!("cpu {}", (unmarked_tensor().keys() | keys::BackendSelect).below(keys::ADInplaceOrView))]
    );
}

#[test]
fn the_kernel_gets_the_same_keys_in_typed_and_boxed_calls() {
    let with_more = unmarked_tensor()
        .with_keys(unmarked_tensor().keys() | keys::Python | keys::Tracer | keys::ZeroTensor | keys::Functionalize);
    two_tensors(&with_more, &unmarked_tensor()).unwrap();
    let typed = take_reached_kernels();
    assert!(
        typed[0].contains("Python") && typed[0].contains("ZeroTensor") && !typed[0].contains("Tracer"),
        "{typed:?}"
    );
    two_tensors::operator().call([with_more.into(), unmarked_tensor().into()]).unwrap();
    assert_eq!(take_reached_kernels(), ["trace", "record", "track", &typed[0]]);
}

#[test]
fn one_marked_tensor_in_any_argument_runs_the_fallback() {
    let (plain, grad) = (unmarked_tensor(), marked_tensor(Marks::REQUIRES_GRAD));
    two_tensors(&grad, &plain).unwrap();
    assert_eq!(take_reached_kernels()[0], "record");
    two_tensors(&plain, &marked_tensor(Marks::RECORDED)).unwrap();
    assert_eq!(take_reached_kernels()[0], "record");
    two_tensors(&plain, &marked_tensor(Marks::VIEW)).unwrap();
    assert!(take_reached_kernels().contains(&"track".to_owned()));

    let call = |a: Option<&Tensor>,
                b: &[Tensor],
                c: &[Option<Tensor>],
                d: &Value,
                e: &Tensor,
                f: &Tensor,
                g: Option<&Tensor>| {
        all_argument_kinds(a, b, c, d, &mut e.clone(), &mut [plain.clone(), f.clone()], g.cloned().as_mut()).unwrap();
        take_reached_kernels().contains(&"record".to_owned())
    };
    let none = Value::None;
    let inside = Value::Tuple(vec![Value::None, Value::List(vec![grad.clone().into()].into())].into());
    assert!(!call(None, &[], &[], &none, &plain, &plain, None));
    assert!(!call(
        Some(&plain),
        &[unmarked_tensor()],
        &[None, Some(unmarked_tensor())],
        &plain.clone().into(),
        &plain,
        &plain,
        Some(&unmarked_tensor())
    ));
    assert!(call(Some(&grad), &[], &[], &none, &plain, &plain, None));
    assert!(call(None, &[unmarked_tensor(), grad.clone()], &[], &none, &plain, &plain, None));
    assert!(call(None, &[], &[None, Some(grad.clone())], &none, &plain, &plain, None));
    assert!(call(None, &[], &[], &inside, &plain, &plain, None));
    assert!(call(None, &[], &[], &none, &grad, &plain, None));
    assert!(call(None, &[], &[], &none, &plain, &grad, None));
    assert!(call(None, &[], &[], &none, &plain, &plain, Some(&grad)));
}

#[test]
fn redispatch_and_call_for_skip_the_fallback_and_boxed_calls_do_not() {
    let keys = unmarked_tensor().keys();
    two_tensors::redispatch(keys.below(keys::AutocastCPU), &unmarked_tensor(), &unmarked_tensor()).unwrap();
    two_tensors::call_for(keys::AutogradCPU, &unmarked_tensor(), &unmarked_tensor()).unwrap();
    assert!(take_reached_kernels().iter().all(|seen| seen.starts_with("cpu ")));

    let mut stack: Stack = [Value::from(unmarked_tensor()), unmarked_tensor().into()].into_iter().collect();
    two_tensors::operator().redispatch_boxed(keys.below(keys::AutocastCPU), &mut stack).unwrap();
    assert_eq!(take_reached_kernels()[..2], ["record", "track"]);
}

#[test]
fn an_aliasing_fallback_with_marks_needs_a_write_and_a_marked_tensor() {
    #[op_def("conjugate_(Tensor(a!) self) -> Tensor(a!)")]
    fn conjugate_(this: &mut Tensor) -> Result<()>;

    #[op_impl(conjugate_, CPU)]
    fn conjugate_in_place_cpu(_: &mut Tensor) {}

    let with_key = |x: &Tensor| x.with_keys(x.keys() | keys::Conjugate);
    conjugate_(&mut with_key(&unmarked_tensor())).unwrap();
    two_tensors(&with_key(&marked_tensor(Marks::INFERENCE)), &unmarked_tensor()).unwrap();
    assert!(!take_reached_kernels().contains(&"resolve".to_owned()));
    conjugate_(&mut with_key(&marked_tensor(Marks::INFERENCE))).unwrap();
    assert!(take_reached_kernels().contains(&"resolve".to_owned()));
}

#[test]
fn views_run_an_aliasing_fallback_even_without_marked_tensors() {
    #[op_def("conjugate_view(Tensor(a) self) -> Tensor(a)")]
    fn conjugate_view(this: &Tensor) -> Result<Tensor>;

    #[op_impl(conjugate_view, CPU)]
    fn conjugate_view_cpu(this: &Tensor) -> Tensor {
        this.clone()
    }

    conjugate_view(&unmarked_tensor().with_keys(unmarked_tensor().keys() | keys::Conjugate)).unwrap();
    assert!(take_reached_kernels().contains(&"resolve".to_owned()));
}

/// An operator for a layer between two fallbacks, which marks a tensor for the lower one.
#[op_def("mark_for_lower_layer(Tensor self) -> Tensor")]
fn mark_for_lower_layer(this: &Tensor) -> Result<Tensor>;

#[op_impl(mark_for_lower_layer, CPU)]
fn mark_for_lower_layer_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(mark_for_lower_layer, AutogradCPU)]
fn mark_for_lower_layer_autograd(this: &Tensor, keys: KeySet) -> Result<Tensor> {
    REACHED_KERNELS.with_borrow_mut(|calls| calls.push("kernel".to_owned()));
    this.mark(Marks::VIEW);
    mark_for_lower_layer::redispatch(keys.below(keys::AutogradCPU), this)
}

#[op_fallback(Tracer, marked(REQUIRES_GRAD))]
fn trace_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    record_and_redispatch("trace", op, keys, keys::Tracer, stack)
}

#[test]
fn no_layer_below_a_kernel_is_skipped() {
    let x = unmarked_tensor();
    mark_for_lower_layer(&x.with_keys(x.keys() | keys::Tracer)).unwrap();
    assert_eq!(take_reached_kernels(), ["kernel", "track"]);
}

/// An operator with a fallback for autograd on one backend, and its own autograd kernel on another.
#[op_def("with_cuda_autograd(Tensor self) -> Tensor")]
fn with_cuda_autograd(this: &Tensor) -> Result<Tensor>;

#[op_impl(with_cuda_autograd, CPU, CUDA)]
fn with_cuda_autograd_cpu_and_cuda(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(with_cuda_autograd, AutogradCUDA)]
fn with_cuda_autograd_autograd_cuda(_: &Tensor) -> Result<Tensor> {
    Err(Error::kernel("autograd of its own"))
}

#[test]
fn skipping_a_fallback_of_one_backend_skips_no_kernel_of_another() {
    let x = unmarked_tensor();
    assert!(with_cuda_autograd(&x).is_ok());
    let error = with_cuda_autograd(&x.with_keys(keys::CUDA | keys::AutogradCUDA | keys::Tracer)).unwrap_err();
    assert!(error.to_string().contains("autograd of its own"));
}

#[test]
fn a_late_marked_fallback_is_skipped_too() {
    static LATE_FALLBACK: FallbackRecord =
        FallbackRecord::boxed(refusing_fallback, &keys::Negative, "refuse", Location::new("with_late_fallback.rs", 1))
            .for_marks(&[Marks::NOT_ON_HOST]);
    static RECORDS: [Record; 1] = [Record::Fallback(&LATE_FALLBACK)];

    #[op_def("with_late_fallback(Tensor self) -> Tensor")]
    fn with_late_fallback(this: &Tensor) -> Result<Tensor>;

    #[op_impl(with_late_fallback, CPU)]
    fn with_late_fallback_cpu(this: &Tensor) -> Tensor {
        this.clone()
    }

    let (plain, not_on_host) = (unmarked_tensor(), marked_tensor(Marks::NOT_ON_HOST));
    let with_key = |x: &Tensor| x.with_keys(x.keys() | keys::Negative);
    assert!(with_late_fallback(&with_key(&plain)).is_ok() && with_late_fallback(&with_key(&not_on_host)).is_ok());
    register(&RECORDS);
    assert!(with_late_fallback(&with_key(&plain)).is_ok());
    assert!(with_late_fallback(&with_key(&not_on_host)).unwrap_err().to_string().contains("refused"));
    assert!(with_late_fallback::operator().call([with_key(&plain).into()]).is_err());
}

#[test]
fn marked_fallbacks_are_skipped_while_operators_are_unbound() {
    let registering =
        thread::spawn(|| (0..2_000).for_each(|_| fallback_fallthrough(keys::PreDispatch).unwrap().remove()));
    let x = unmarked_tensor();
    while !registering.is_finished() {
        two_tensors(&x, &x).unwrap();
        assert!(take_reached_kernels()[0].starts_with("cpu "));
    }
    registering.join().unwrap();
}

fn refusing_fallback(_: &Operator, _: KeySet, _: &mut Stack) -> Result<()> {
    Err("refused".into())
}

#[test]
fn an_explanation_skips_the_fallback_if_the_call_does() {
    let explanation = |x: Tensor| two_tensors::operator().explain(&[x.into(), unmarked_tensor().into()]);
    let winner = |explanation: Explanation| explanation.winner.map(|winner| winner.kernel);
    assert!(explanation(unmarked_tensor()).skipped.has(keys::AutogradCPU));
    assert_eq!(winner(explanation(unmarked_tensor())), Some("two_tensors_cpu"));
    assert_eq!(winner(explanation(marked_tensor(Marks::REQUIRES_GRAD))), Some("record_fallback"));
}
