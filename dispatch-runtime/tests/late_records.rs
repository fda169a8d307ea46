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
fn load(records: impl IntoIterator<Item = Record>) {
    for record in records {
        let node = Box::leak(Box::new(inventory::Node {
            value: Box::leak(Box::new(SubmittedRecord(record))),
            next: inventory::__private::UnsafeCell::new(None),
        }));
        // SAFETY: the node is submitted once, with the value of its own type.
        unsafe { inventory::ErasedNode::submit(node.value, node) };
    }
}

fn kernel<O: Operation>(kernel: BoxedFn, key: &'static Key) -> Record {
    let keys: &'static [&'static Key] = vec![key].leak();
    Record::Kernel(Box::leak(Box::new(KernelRecord::boxed::<O>(kernel, keys, "late", Location::caller()))))
}

#[expect(clippy::unnecessary_wraps, reason = "a boxed kernel")]
fn one(_: &Operator, _: KeySet, stack: &mut Stack) -> Result<()> {
    stack.drop_top(1);
    stack.push(1_i64);
    Ok(())
}

fn tensor() -> Tensor {
    Tensor::from_slice(&[0.0_f32])
}

#[op_def("first(Tensor self) -> int")]
fn first(this: &Tensor) -> Result<i64>;

#[op_def("second(Tensor self) -> int")]
fn second(this: &Tensor) -> Result<i64>;

#[op_def("twofold(Tensor self) -> int")]
fn twofold(this: &Tensor) -> Result<i64>;

#[op_def("unserved(Tensor self) -> int")]
fn unserved(this: &Tensor) -> Result<i64>;

#[test]
fn a_typed_call_that_was_refused_finds_the_kernel_of_a_library_loaded_since() {
    assert!(matches!(first(&tensor()).unwrap_err().kind(), ErrorKind::NoKernel(_)));
    load([kernel::<first>(one, &keys::CPU)]);
    assert_eq!(first(&tensor()).unwrap(), 1);
}

#[test]
fn a_boxed_call_that_was_refused_finds_the_kernel_of_a_library_loaded_since() {
    assert!(second::operator().call([tensor().into()]).is_err());
    load([kernel::<second>(one, &keys::CPU)]);
    assert_eq!(format!("{:?}", second::operator().call([tensor().into()]).unwrap()), "[1]");
}

#[test]
fn accounts_and_findings_have_the_kernels_of_a_library_loaded_since() {
    let account = || twofold::operator().explain(&[tensor().into()]);
    assert!(account().winner.is_none());
    load([kernel::<twofold>(one, &keys::CPU)]);
    assert_eq!(account().winner.unwrap().kernel, "late");
    let is_conflict = |finding: &Finding| {
        let Finding::Error(error) = finding else { return false };
        matches!(error.kind(), ErrorKind::DuplicateKernel { operator, .. } if *operator == twofold::operator().name())
    };
    assert!(!verify().iter().any(is_conflict));
    load([kernel::<twofold>(one, &keys::CPU)]);
    assert!(verify().iter().any(is_conflict));
    assert!(matches!(twofold(&tensor()).unwrap_err().kind(), ErrorKind::DuplicateKernel { .. }));
}

#[test]
fn keys_and_fallbacks_of_a_library_are_found_when_they_are_named() {
    static KEY: UserKey = UserKey::layer("LateLayer", dispatch_runtime::InsertionPoint::Everything, Location::caller());
    static LATE: Key = Key::user(&KEY);
    static FALLBACK: FallbackRecord = FallbackRecord::boxed(one, &LATE, "late_fallback", Location::caller());
    assert!("LateLayer".parse::<Key>().is_err());
    assert!(unserved(&tensor()).is_err());
    load([Record::Key(&KEY), Record::Fallback(&FALLBACK)]);
    assert_eq!("LateLayer".parse(), Ok(LATE));
    let _guard = dispatch_runtime::guard::include(KeySet::from(LATE));
    assert_eq!(unserved(&tensor()).unwrap(), 1);
}

#[test]
fn an_operator_of_a_library_is_found_by_name_and_told_to_listeners_once() {
    // This operator was not submitted by an attribute.
    let removed = Registrar::new("late").define("added(Tensor self) -> int").unwrap();
    let operator = removed.operator().unwrap();
    removed.remove();
    assert!(Operator::find("late::added").is_err());

    let told = Arc::new(AtomicUsize::new(0));
    let listening = on_operator_event({
        let told = told.clone();
        move |_, other| _ = told.fetch_add(usize::from(other == operator), Ordering::Relaxed)
    });
    load([Record::Operator(operator)]);
    assert_eq!(Operator::find("late::added").unwrap(), operator);
    assert_eq!(told.load(Ordering::Relaxed), 1);
    listening.remove();
}
