//! Tests of records from a library that is loaded while the program runs and shares its runtime.

#![cfg(feature = "inventory")]
#![allow(unsafe_code, reason = "a library submits its records when it is loaded")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dispatch_runtime::__private::{SubmittedRecord, inventory};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{
    BoxedFn, ErrorKind, FallbackRecord, Finding, KernelRecord, Location, Record, Registrar, UserKey, on_operator_event,
    verify,
};

/// Simulates loading a library: its constructors submit each record, without a call into the registry.
fn load_library(records: impl IntoIterator<Item = Record>) {
    for record in records {
        let node = Box::leak(Box::new(inventory::Node {
            value: Box::leak(Box::new(SubmittedRecord(record))),
            next: inventory::__private::UnsafeCell::new(None),
        }));
        // SAFETY: the node is submitted once, with the value of its own type.
        unsafe { inventory::ErasedNode::submit(node.value, node) };
    }
}

fn boxed_kernel_record<O: Operation>(kernel: BoxedFn, key: &'static Key) -> Record {
    let keys: &'static [&'static Key] = vec![key].leak();
    Record::Kernel(Box::leak(Box::new(KernelRecord::boxed::<O>(kernel, keys, "late", Location::caller()))))
}

#[expect(clippy::unnecessary_wraps, reason = "a boxed kernel")]
fn return_one_boxed(_: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(1);
    stack.push(1_i64);
    Ok(())
}

fn one_element_tensor() -> Tensor {
    Tensor::from_slice(&[0.0_f32])
}

#[op_def("called_typed(Tensor self) -> int")]
fn called_typed(this: &Tensor) -> Result<i64>;

#[op_def("called_boxed(Tensor self) -> int")]
fn called_boxed(this: &Tensor) -> Result<i64>;

#[op_def("with_two_kernels(Tensor self) -> int")]
fn with_two_kernels(this: &Tensor) -> Result<i64>;

#[op_def("without_kernel(Tensor self) -> int")]
fn without_kernel(this: &Tensor) -> Result<i64>;

#[test]
fn a_typed_call_finds_a_kernel_that_was_loaded_after_an_error() {
    assert!(matches!(called_typed(&one_element_tensor()).unwrap_err().kind(), ErrorKind::NoKernel(_)));
    load_library([boxed_kernel_record::<called_typed>(return_one_boxed, &keys::CPU)]);
    assert_eq!(called_typed(&one_element_tensor()).unwrap(), 1);
}

#[test]
fn a_boxed_call_finds_a_kernel_that_was_loaded_after_an_error() {
    assert!(called_boxed::operator().call([one_element_tensor().into()]).is_err());
    load_library([boxed_kernel_record::<called_boxed>(return_one_boxed, &keys::CPU)]);
    assert_eq!(format!("{:?}", called_boxed::operator().call([one_element_tensor().into()]).unwrap()), "[1]");
}

#[test]
fn explanations_and_findings_include_libraries_loaded_later() {
    let explanation = || with_two_kernels::operator().explain(&[one_element_tensor().into()]);
    assert!(explanation().winner.is_none());
    load_library([boxed_kernel_record::<with_two_kernels>(return_one_boxed, &keys::CPU)]);
    assert_eq!(explanation().winner.unwrap().kernel, "late");
    let is_conflict = |finding: &Finding| {
        let Finding::Error(error) = finding else { return false };
        matches!(error.kind(), ErrorKind::DuplicateKernel { operator, .. } if *operator == with_two_kernels::operator().name())
    };
    assert!(!verify().iter().any(is_conflict));
    load_library([boxed_kernel_record::<with_two_kernels>(return_one_boxed, &keys::CPU)]);
    assert!(verify().iter().any(is_conflict));
    assert!(matches!(with_two_kernels(&one_element_tensor()).unwrap_err().kind(), ErrorKind::DuplicateKernel { .. }));
}

#[test]
fn keys_and_fallbacks_of_a_loaded_library_are_found_by_name() {
    static USER_KEY: UserKey =
        UserKey::new_layer("LateLayer", dispatch_runtime::InsertionPoint::Everything, Location::caller());
    static LATE_KEY: Key = Key::from_user_key(&USER_KEY);
    static FALLBACK: FallbackRecord =
        FallbackRecord::boxed(return_one_boxed, &LATE_KEY, "late_fallback", Location::caller());
    assert!("LateLayer".parse::<Key>().is_err());
    assert!(without_kernel(&one_element_tensor()).is_err());
    load_library([Record::Key(&USER_KEY), Record::Fallback(&FALLBACK)]);
    assert_eq!("LateLayer".parse(), Ok(LATE_KEY));
    let _guard = dispatch_runtime::guard::include(KeySet::from(LATE_KEY));
    assert_eq!(without_kernel(&one_element_tensor()).unwrap(), 1);
}

#[test]
fn an_operator_of_a_loaded_library_is_found_and_reported_once() {
    // This operator was not submitted by an attribute.
    let removed = Registrar::new("late").define("added(Tensor self) -> int").unwrap();
    let operator = removed.operator().unwrap();
    removed.remove();
    assert!(Operator::find("late::added").is_err());

    let reported = Arc::new(AtomicUsize::new(0));
    let listening = on_operator_event({
        let reported = reported.clone();
        move |_, other| _ = reported.fetch_add(usize::from(other == operator), Ordering::Relaxed)
    });
    load_library([Record::Operator(operator)]);
    assert_eq!(Operator::find("late::added").unwrap(), operator);
    assert_eq!(reported.load(Ordering::Relaxed), 1);
    listening.remove();
}
