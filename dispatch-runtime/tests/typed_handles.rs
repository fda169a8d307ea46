//! Tests of typed functions and kernels of operators that are known only by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dispatch_runtime::prelude::*;
use dispatch_runtime::{ErrorKind, Registrar};

#[op_def("handles::first_plus_number(Tensor self, int n) -> int")]
fn first_plus_number(this: &Tensor, n: i64) -> Result<i64>;

#[op_impl(first_plus_number, CPU)]
fn first_plus_number_cpu(this: &Tensor, n: i64) -> Result<i64> {
    Ok(this.read::<i64>()?[0] + n)
}

#[op_def(
    "handles::every_argument_kind(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int? e, str f, float[] g, Scalar h, Device? i) -> (Tensor, int)"
)]
#[expect(clippy::too_many_arguments, reason = "one argument of each kind")]
fn every_argument_kind(
    a: &Tensor,
    b: Option<&Tensor>,
    c: &[Tensor],
    d: &[Option<Tensor>],
    e: Option<i64>,
    f: &str,
    g: &[f64],
    h: Scalar,
    i: Option<Device>,
) -> Result<(Tensor, i64)>;

#[op_def("handles::write_all_(Tensor(a!) self, Tensor(b!) other, *, Tensor(c!)? more) -> (Tensor(a!), int)")]
fn write_all_(this: &mut Tensor, other: &mut Tensor, more: Option<&mut Tensor>) -> Result<i64>;

#[op_def("handles::no_arguments() -> ()")]
fn no_arguments() -> Result<()>;

#[op_def("handles::append_number(Tensor self, str text) -> str")]
fn append_number(this: &Tensor, text: &str) -> Result<Str>;

#[op_def("handles::add_in_place_(Tensor(a!) self, int by) -> Tensor(a!)")]
fn add_in_place_(this: &mut Tensor, by: i64) -> Result<()>;

type EveryKindFunction = fn(
    &Tensor,
    Option<&Tensor>,
    &[Tensor],
    &[Option<Tensor>],
    Option<i64>,
    &str,
    &[f64],
    Scalar,
    Option<Device>,
) -> Result<(Tensor, i64)>;

type WriteAllFunction = fn(&mut Tensor, &mut Tensor, Option<&mut Tensor>) -> Result<i64>;

fn int_tensor(n: i64) -> Tensor {
    Tensor::from_slice(&[n])
}

#[test]
fn an_operator_found_by_name_returns_its_typed_function() {
    let function =
        Operator::find("handles::first_plus_number").unwrap().typed::<fn(&Tensor, i64) -> Result<i64>>().unwrap();
    assert_eq!(function(&int_tensor(2), 3).unwrap(), 5);
    assert!(no_arguments::operator().typed::<fn() -> Result<()>>().is_ok());
    assert!(every_argument_kind::operator().typed::<EveryKindFunction>().is_ok());
    assert!(write_all_::operator().typed::<WriteAllFunction>().is_ok());
}

#[test]
fn requesting_another_function_type_is_an_error_with_both_types() {
    let error = first_plus_number::operator().typed::<fn(&Tensor) -> Result<Tensor>>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the function of `handles::first_plus_number` has the type `fn(&Tensor, i64) -> Result<i64>`, not `fn(&Tensor) -> Result<Tensor, Error>`"
    );
    assert!(first_plus_number::operator().typed::<fn(&Tensor, i32) -> Result<i64>>().is_err());
    assert!(first_plus_number::operator().typed::<fn(&mut Tensor, i64) -> Result<i64>>().is_err());
    assert!(first_plus_number::operator().typed::<fn(&'static Tensor, i64) -> Result<i64>>().is_err());
}

#[test]
fn an_operator_defined_at_run_time_has_no_function() {
    let defined = Registrar::new("handles").define("running(Tensor x) -> Tensor").unwrap();
    let operator = defined.operator().unwrap();
    let error = operator.typed::<fn(&Tensor) -> Result<Tensor>>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoTypedFunction { .. }), "{error}");
    let kernel: Box<CopyClosure> = Box::new(|x| Ok(x.clone()));
    let error = Registrar::new("handles").typed_kernel("running", keys::CPU, kernel).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoTypedFunction { .. }), "{error}");
}

type CopyClosure = dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync;
type CountClosure = dyn Fn(&Tensor) -> Result<i64> + Send + Sync;
type AddClosure = dyn Fn(&mut Tensor, i64) -> Result<()> + Send + Sync;
type TextClosure = dyn Fn(&Tensor, &str) -> Result<Str> + Send + Sync;

#[test]
fn a_typed_closure_serves_typed_and_boxed_calls_until_it_is_removed() {
    let (calls, lab) = (Arc::new(AtomicI64::new(0)), Registrar::new("handles"));
    let counter = calls.clone();
    let kernel: Box<TextClosure> = Box::new(move |this, text| {
        let call = counter.fetch_add(1, Ordering::Relaxed);
        Ok(format!("{text}{}{call}", this.read::<i64>()?[0]).into())
    });
    let registration = lab.typed_kernel("append_number", keys::CPU, kernel).unwrap();
    assert_eq!(&*append_number(&int_tensor(7), "a").unwrap(), "a70");
    let results = append_number::operator().call([int_tensor(8).into(), "b".into()]).unwrap();
    assert_eq!(format!("{results:?}"), "[\"b81\"]");

    let other: Box<TextClosure> = Box::new(|_, _| Ok("other".into()));
    assert!(matches!(
        lab.typed_kernel("append_number", keys::CPU, other).unwrap_err().kind(),
        ErrorKind::DuplicateKernel { .. }
    ));
    let other: Box<TextClosure> = Box::new(|_, _| Ok("other".into()));
    let on_top = lab.override_typed_kernel("append_number", keys::CPU, other).unwrap();
    assert_eq!(&*append_number(&int_tensor(7), "a").unwrap(), "other");
    on_top.remove();
    assert_eq!(&*append_number(&int_tensor(7), "a").unwrap(), "a72");
    registration.remove();
    assert!(append_number(&int_tensor(7), "a").is_err());
    assert_eq!(Arc::strong_count(&calls), 1);
}

#[test]
fn a_typed_closure_writes_the_callers_tensor() {
    let kernel: Box<AddClosure> = Box::new(|this, by| {
        this.write::<i64>()?[0] += by;
        Ok(())
    });
    let _scope = Registrar::new("handles").typed_kernel("add_in_place_", keys::CPU, kernel).unwrap().scoped();
    let mut x = int_tensor(1);
    add_in_place_(&mut x, 4).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [5]);
}

#[test]
fn a_typed_closure_of_other_types_is_rejected() {
    let kernel: Box<CountClosure> = Box::new(|_| Ok(1));
    let error = Registrar::new("handles").typed_kernel("first_plus_number", keys::Meta, kernel).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(
            "the function of `handles::first_plus_number` has the type `fn(&Tensor, i64) -> Result<i64>`, not `dyn "
        ),
        "{text}"
    );
}
