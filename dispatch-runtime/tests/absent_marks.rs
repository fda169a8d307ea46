//! Tests that a marked fallback is in no table before a tensor has one of its marks. Boxed calls skip it too.
//!
//! The registry never forgets a mark that a tensor had. So every test here uses its own mark, and fallbacks that no other test reaches.

use std::cell::Cell;
use std::sync::Barrier;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Marks, keys::*};

thread_local! {
    static FALLBACK_CALL_COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count_and_redispatch(op: &Operator, keys: KeySet, key: Key, stack: &mut Stack) -> Result<()> {
    FALLBACK_CALL_COUNT.set(FALLBACK_CALL_COUNT.get() + 1);
    op.redispatch_boxed(keys.below(key), stack)
}

fn take_fallback_call_count() -> usize {
    FALLBACK_CALL_COUNT.take()
}

#[op_fallback(Tracer, marked(REQUIRES_GRAD))]
fn trace_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    count_and_redispatch(op, keys, Tracer, stack)
}

#[op_fallback(Conjugate, marked(RECORDED))]
fn conjugate_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    count_and_redispatch(op, keys, Conjugate, stack)
}

#[op_fallback(Negative, marked(VIEW))]
fn negate_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    count_and_redispatch(op, keys, Negative, stack)
}

#[op_fallback(ZeroTensor, marked(INFERENCE))]
fn zero_tensor_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    count_and_redispatch(op, keys, ZeroTensor, stack)
}

#[op_def("identity(Tensor self) -> Tensor")]
fn identity(this: &Tensor) -> Result<Tensor>;

#[op_impl(identity, CPU)]
fn identity_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

/// An operator with a fallback for autograd on one backend, and its own autograd kernel on another.
#[op_def("with_cuda_autograd(Tensor self) -> Tensor")]
fn with_cuda_autograd(this: &Tensor) -> Result<Tensor>;

#[op_impl(with_cuda_autograd, CPU)]
fn with_cuda_autograd_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(with_cuda_autograd, AutogradCUDA)]
fn with_cuda_autograd_autograd_cuda(_: &Tensor) -> Result<Tensor> {
    Err(Error::kernel("autograd of its own"))
}

#[op_fallback(AutogradCPU, marked(RECORDED))]
fn autograd_fallback(op: &Operator, keys: KeySet, stack: &mut Stack) -> Result<()> {
    count_and_redispatch(op, keys, AutogradCPU, stack)
}

fn tensor_with_layers(layers: impl Into<KeySet>) -> Tensor {
    let x = Tensor::from_slice(&[1.0_f32]);
    x.with_keys(KeySet::from(CPU) | layers.into())
}

fn fallback_call_count_of_boxed_call(x: &Tensor) -> usize {
    identity::operator().call([x.clone().into()]).unwrap();
    take_fallback_call_count()
}

#[test]
fn the_first_marked_tensor_adds_the_fallback_to_tables_in_use() {
    let plain = tensor_with_layers(Tracer);
    identity(&plain).unwrap();
    assert_eq!((take_fallback_call_count(), fallback_call_count_of_boxed_call(&plain)), (0, 0));
    let before = identity::operator().kernel_id(plain.keys());

    let marked = tensor_with_layers(Tracer);
    marked.mark(Marks::REQUIRES_GRAD);
    identity(&marked).unwrap();
    assert_eq!(
        (
            take_fallback_call_count(),
            fallback_call_count_of_boxed_call(&marked),
            fallback_call_count_of_boxed_call(&plain)
        ),
        (1, 1, 1)
    );
    identity(&plain).unwrap();
    assert_eq!(take_fallback_call_count(), 0, "a typed call still skips it");
    assert!(before.is_some() && identity::operator().kernel_id(plain.keys()) == before);

    marked.unmark(Marks::REQUIRES_GRAD);
    assert_eq!(fallback_call_count_of_boxed_call(&plain), 1, "a mark that was seen is not forgotten");
}

#[test]
fn make_view_of_sets_the_view_mark() {
    let base = tensor_with_layers(Negative);
    assert_eq!(fallback_call_count_of_boxed_call(&base), 0);
    let mut view = base.restride(base.geometry().clone()).unwrap();
    assert!(view.make_view_of(&base));
    identity(&view).unwrap();
    assert_eq!((take_fallback_call_count(), fallback_call_count_of_boxed_call(&base)), (1, 1));
}

#[test]
fn fallbacks_for_marks_of_new_tensors_are_always_in_tables() {
    let _inference = dispatch_runtime::guard::inference_mode();
    let inference = Tensor::from_slice(&[1.0_f32]);
    identity(&inference.with_keys(inference.keys() | ZeroTensor)).unwrap();
    assert_eq!(take_fallback_call_count(), 1);
}

#[test]
fn threads_that_set_a_mark_at_the_same_time_all_run_the_fallback() {
    let plain = tensor_with_layers(Conjugate);
    with_cuda_autograd(&tensor_with_layers(AutogradCPU)).unwrap();
    assert_eq!((take_fallback_call_count(), fallback_call_count_of_boxed_call(&plain)), (0, 0));
    let error = with_cuda_autograd(&tensor_with_layers(CUDA | AutogradCUDA)).unwrap_err();
    assert!(error.to_string().contains("autograd of its own"), "{error}");

    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mine = tensor_with_layers(Conjugate);
                start.wait();
                mine.mark(Marks::RECORDED);
                identity(&mine).unwrap();
                assert_eq!((take_fallback_call_count(), fallback_call_count_of_boxed_call(&mine)), (1, 1));
            });
        }
    });
    let marked = tensor_with_layers(AutogradCPU);
    marked.mark(Marks::RECORDED);
    with_cuda_autograd(&marked).unwrap();
    assert_eq!(take_fallback_call_count(), 1);
}

#[test]
fn an_explanation_names_the_kernel_that_runs() {
    let explanation =
        |marks| identity::operator().explain_call_with_keys(&[tensor_with_layers(Tracer).keys()], marks).unwrap();
    let winner = |marks| explanation(marks).winner.map(|winner| winner.kernel);
    assert_eq!(winner(None), Some("identity_cpu"));
    assert!(explanation(None).skipped.has(Tracer));
    assert_eq!(winner(Some(Marks::REQUIRES_GRAD)), Some("trace_fallback"));
}

#[op_def("only_cuda(Tensor self) -> Tensor")]
fn only_cuda(this: &Tensor) -> Result<Tensor>;

#[op_impl(only_cuda, CUDA)]
fn only_cuda_kernel(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_def("two_kernels(Tensor self) -> Tensor")]
fn two_kernels(this: &Tensor) -> Result<Tensor>;

#[op_impl(two_kernels, CPU)]
fn two_kernels_first(this: &Tensor) -> Tensor {
    this.clone()
}

#[op_impl(two_kernels, CPU)]
fn two_kernels_second(this: &Tensor) -> Tensor {
    this.clone()
}

#[test]
fn the_error_names_the_backend_and_no_skipped_layer() {
    let x = Tensor::from_slice(&[1.0_f32]);
    let boxed = |operator: &Operator| operator.call([Value::from(&x)]).unwrap_err().to_string();
    for error in [only_cuda(&x).unwrap_err().to_string(), boxed(only_cuda::operator())] {
        assert!(error.contains("for CPU") && error.contains("#[op_impl(absent_marks::only_cuda, CPU)]"), "{error}");
    }
    for error in [two_kernels(&x).unwrap_err().to_string(), boxed(two_kernels::operator())] {
        assert!(error.contains("two_kernels_first") && error.contains("two_kernels_second"), "{error}");
    }
    assert_eq!(only_cuda::operator().explain(&[Value::from(&x)]).key, Some(CPU));
}
