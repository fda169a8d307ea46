//! Tests that a marked fallback is in no table before a tensor has one of its marks. Boxed calls skip it too.
//!
//! The registry never forgets a mark that a tensor had. So every test here uses its own mark, and fallbacks that no other test reaches.

use std::cell::Cell;
use std::sync::Barrier;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Marks, keys::*};

thread_local! {
    static SEEN: Cell<usize> = const { Cell::new(0) };
}

fn see(op: &Operator, keys: KeySet, key: Key, stack: &mut Stack) -> Result<()> {
    SEEN.set(SEEN.get() + 1);
    op.redispatch_boxed(keys.below(key), stack)
}

fn seen() -> usize {
    SEEN.take()
}

#[op_fallback(Tracer, marked(REQUIRES_GRAD))]
fn trace(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see(op, keys, Tracer, stack)
}

#[op_fallback(Conjugate, marked(RECORDED))]
fn conjugate(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see(op, keys, Conjugate, stack)
}

#[op_fallback(Negative, marked(VIEW))]
fn negate(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see(op, keys, Negative, stack)
}

#[op_fallback(ZeroTensor, marked(INFERENCE))]
fn zero(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see(op, keys, ZeroTensor, stack)
}

#[op_def("given(Tensor self) -> Tensor")]
fn given(this: &Tensor) -> Result<Tensor>;

#[op_impl(given, CPU)]
fn given_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

/// An operator with a fallback for autograd on one backend, and its own autograd kernel on another.
#[op_def("uneven(Tensor self) -> Tensor")]
fn uneven(this: &Tensor) -> Result<Tensor>;

#[op_impl(uneven, CPU)]
fn uneven_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(uneven, AutogradCUDA)]
fn uneven_autograd(_: &Tensor) -> Result<Tensor> {
    Err(Error::kernel("autograd of its own"))
}

#[op_fallback(AutogradCPU, marked(RECORDED))]
fn record(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    see(op, keys, AutogradCPU, stack)
}

fn x(layers: impl Into<KeySet>) -> Tensor {
    let x = Tensor::from_slice(&[1.0_f32]);
    x.with_keys(KeySet::from(CPU) | layers.into())
}

fn boxed_call(x: &Tensor) -> usize {
    given::operator().call([x.clone().into()]).unwrap();
    seen()
}

#[test]
fn the_first_mark_brings_a_fallback_back_into_tables_that_were_in_use() {
    let plain = x(Tracer);
    given(&plain).unwrap();
    assert_eq!((seen(), boxed_call(&plain)), (0, 0));
    let before = given::operator().kernel_id(plain.keys());

    let marked = x(Tracer);
    marked.mark(Marks::REQUIRES_GRAD);
    given(&marked).unwrap();
    assert_eq!((seen(), boxed_call(&marked), boxed_call(&plain)), (1, 1, 1));
    given(&plain).unwrap();
    assert_eq!(seen(), 0, "a typed call still passes over it");
    assert!(before.is_some() && given::operator().kernel_id(plain.keys()) == before);

    marked.unmark(Marks::REQUIRES_GRAD);
    assert_eq!(boxed_call(&plain), 1, "a mark that was seen is not forgotten");
}

#[test]
fn a_tie_to_a_base_is_a_mark_too() {
    let base = x(Negative);
    assert_eq!(boxed_call(&base), 0);
    let mut view = base.restride(base.geometry().clone()).unwrap();
    assert!(view.make_view_of(&base));
    given(&view).unwrap();
    assert_eq!((seen(), boxed_call(&base)), (1, 1));
}

#[test]
fn marks_that_tensors_are_made_with_are_never_waited_for() {
    let _inference = dispatch_runtime::guard::inference_mode();
    let made = Tensor::from_slice(&[1.0_f32]);
    given(&made.with_keys(made.keys() | ZeroTensor)).unwrap();
    assert_eq!(seen(), 1);
}

#[test]
fn threads_that_share_the_first_marked_tensor_all_see_the_fallback() {
    let plain = x(Conjugate);
    uneven(&x(AutogradCPU)).unwrap();
    assert_eq!((seen(), boxed_call(&plain)), (0, 0));
    let error = uneven(&x(CUDA | AutogradCUDA)).unwrap_err();
    assert!(error.to_string().contains("autograd of its own"), "{error}");

    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mine = x(Conjugate);
                start.wait();
                mine.mark(Marks::RECORDED);
                given(&mine).unwrap();
                assert_eq!((seen(), boxed_call(&mine)), (1, 1));
            });
        }
    });
    let marked = x(AutogradCPU);
    marked.mark(Marks::RECORDED);
    uneven(&marked).unwrap();
    assert_eq!(seen(), 1);
}

#[test]
fn an_account_names_the_kernel_that_runs() {
    let account = |marks| given::operator().explain_keys(&[x(Tracer).keys()], marks).unwrap();
    let winner = |marks| account(marks).winner.map(|winner| winner.kernel);
    assert_eq!(winner(None), Some("given_cpu"));
    assert!(account(None).skipped.has(Tracer));
    assert_eq!(winner(Some(Marks::REQUIRES_GRAD)), Some("trace"));
}

#[op_def("elsewhere(Tensor self) -> Tensor")]
fn elsewhere(this: &Tensor) -> Result<Tensor>;

#[op_impl(elsewhere, CUDA)]
fn elsewhere_cuda(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_def("twice(Tensor self) -> Tensor")]
fn twice(this: &Tensor) -> Result<Tensor>;

#[op_impl(twice, CPU)]
fn twice_once(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(twice, CPU)]
fn twice_again(this: &Tensor) -> Tensor {
    this.clone()
}

#[test]
fn a_refusal_names_the_backend_and_not_a_layer_with_nothing_to_do() {
    let x = Tensor::from_slice(&[1.0_f32]);
    let boxed = |operator: &Operator| operator.call([Value::from(&x)]).unwrap_err().to_string();
    for error in [elsewhere(&x).unwrap_err().to_string(), boxed(elsewhere::operator())] {
        assert!(error.contains("for CPU") && error.contains("#[op_impl(absent_marks::elsewhere, CPU)]"), "{error}");
    }
    for error in [twice(&x).unwrap_err().to_string(), boxed(twice::operator())] {
        assert!(error.contains("twice_once") && error.contains("twice_again"), "{error}");
    }
    assert_eq!(elsewhere::operator().explain(&[Value::from(&x)]).key, Some(CPU));
}
