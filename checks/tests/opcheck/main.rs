//! Tests that `opcheck` accepts correct operators and finds every mistake: each operator here makes one mistake.

#![allow(missing_docs, unreachable_pub, reason = "the operators are named after their mistakes")]

mod cases;
mod correct_operators;
mod gradients_and_batches;
mod kernels;
mod memory;

use dispatch_checks::{Case, Error, Report, opcheck};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

/// Returns a new contiguous tensor with `f` of each element.
fn map<T: Floating>(this: &Tensor, f: impl Fn(f64) -> f64) -> Result<Tensor> {
    let elements = this.to_vec::<T>()?.into_iter().map(|x| T::from_f64(f(x.to_f64())));
    Ok(Tensor::from_vec(elements.collect(), this.sizes())?)
}

fn vector() -> Tensor {
    Tensor::from([1.5, -2.5, 0.75])
}

fn matrix() -> Tensor {
    Tensor::from([[1.5, -2.5, 0.75], [0.25, 3.0, -1.25]])
}

/// Returns the report of an operator with a mistake.
fn failing_report(operator: &'static Operator, case: impl Into<Case>) -> Report {
    match opcheck(operator, case) {
        Err(Error::Failed(report)) => *report,
        Err(error) => panic!("{error}"),
        Ok(report) => panic!("{report}"),
    }
}

/// Checks that the report of an operator has this text.
#[track_caller]
fn assert_finds(operator: &'static Operator, case: impl Into<Case>, expected: &str) {
    let text = failing_report(operator, case).to_string();
    assert!(text.contains(expected), "{text}");
}

#[track_caller]
fn assert_passes(operator: &'static Operator, case: impl Into<Case>) -> Report {
    opcheck(operator, case).unwrap_or_else(|error| panic!("{error}"))
}
