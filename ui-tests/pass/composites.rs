//! Tests that code in the body of a composite has the same meaning as in any function.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;

// All of these names also occur in generated code.
const OPERATOR: i64 = 1;

fn body(n: i64) -> i64 {
    n + OPERATOR
}

fn composite(n: i64) -> i64 {
    body(n)
}

fn slow(n: i64) -> i64 {
    composite(n)
}

#[op_def("plus_one(int n) -> int")]
fn plus_one(n: i64) -> Result<i64> {
    Ok(slow(n))
}

#[op_def("calls_itself(int n) -> int")]
fn calls_itself(n: i64) -> Result<i64> {
    if n == 0 { Ok(0) } else { Ok(1 + calls_itself(n - 1)?) }
}

/// A body with a pattern, an early return and a question mark.
#[op_def("body_with_patterns(int n, int[] dims, int mut_) -> int")]
fn body_with_patterns(n: i64, dims: &[i64], mut mut_: i64) -> Result<i64> {
    if let &[first, ..] = dims {
        return Ok(first);
    }
    mut_ += plus_one(n)?;
    Ok(mut_)
}

#[op_def("body_with_lint_attributes(int n) -> int")]
#[expect(clippy::unnecessary_cast, unused_variables, reason = "lint attributes of the author apply to the body")]
fn body_with_lint_attributes(n: i64) -> Result<i64> {
    let unused = 3;
    Ok(n as i64)
}

#[op_def("body_with_lifetimes(Tensor[] a, Tensor? b) -> Tensor?")]
fn body_with_lifetimes<'a>(a: &'a [Tensor], b: Option<&'a Tensor>) -> Result<Option<Tensor>> {
    let first: Option<&'a Tensor> = a.first().or(b);
    Ok(first.cloned())
}

#[op_def("write_twice_(Tensor(a!) self) -> Tensor(a!)")]
fn write_twice_(this: &mut Tensor) -> Result<()> {
    this.write::<f32>()?[0] += 1.0;
    this.write::<f32>()?[0] += 1.0;
    Ok(())
}

#[op_def("add_number(Tensor self, int by) -> Tensor", inplace, out = "out")]
fn add_number(this: &Tensor, by: i64) -> Result<Tensor>;

#[op_impl(add_number_, CPU)]
fn add_number_in_place_cpu(this: &mut Tensor, by: i64) -> Result<()> {
    this.write::<i64>()?.iter_mut().for_each(|x| *x += by);
    Ok(())
}

#[op_impl(add_number_out, CPU)]
fn add_number_out_cpu(this: &Tensor, by: i64, out: &mut Tensor) -> Result<()> {
    let from = this.read::<i64>()?;
    out.write::<i64>()?.iter_mut().zip(from.iter()).for_each(|(to, x)| *to = x + by);
    Ok(())
}

// The forms call the forms of the inner operator. A value that is computed from an argument is computed before the argument is written.
#[op_def("add_length(Tensor self) -> Tensor", inplace, out = "into", calls = add_number(this, this.sizes()[0]))]
fn add_length(this: &Tensor) -> Result<Tensor>;

#[test]
fn forms_of_an_operator_defined_by_a_call_call_the_forms_of_the_callee() -> Result<()> {
    let mut x = Tensor::from_slice(&[3_i64, 4]);
    let mut out = Tensor::from_slice(&[0_i64, 0]);
    add_length_(&mut x)?;
    add_length_into(&x, &mut out)?;
    assert_eq!((x.to_vec::<i64>()?, out.to_vec::<i64>()?), (vec![5, 6], vec![7, 8]));
    Ok(())
}

#[test]
fn names_in_a_body_resolve_in_the_authors_scope() -> Result<()> {
    assert_eq!(plus_one(1)?, 2);
    assert_eq!(plus_one!(n = 1)?, 2);
    assert_eq!(calls_itself(3)?, 3);
    assert_eq!(body_with_patterns(1, &[], 1)?, 3);
    assert_eq!(body_with_patterns(1, &[9], 1)?, 9);
    assert_eq!(body_with_lint_attributes(1)?, 1);
    Ok(())
}

#[test]
fn a_body_runs_in_typed_and_boxed_calls() -> Result<()> {
    let mut x = Tensor::from_slice(&[0.0_f32]);
    write_twice_(&mut x)?;
    write_twice_::operator().call([(&x).into()])?;
    assert_eq!(&*x.read::<f32>()?, [4.0]);
    assert!(body_with_lifetimes(&[], Some(&x))?.is_some());
    Ok(())
}
