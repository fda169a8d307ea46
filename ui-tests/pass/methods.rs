//! Tests that methods of tensors can be called with all traits of `std::ops` in scope, and with Rust's comparisons and iterators.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

#[allow(unused_imports, reason = "the traits are in scope, so that an ambiguous method name would not compile")]
use std::{borrow::*, cmp::*, convert::*, iter::*, ops::*};

use aten::prelude::*;
use dispatch_runtime::prelude::*;

/// Calls methods whose names the standard library has too. Without kernels, each call returns an error.
fn call_all(x: &Tensor, y: &Tensor) -> [bool; 24] {
    [
        x.max().is_err(),
        x.min().is_err(),
        x.clamp(0.0..=1.0).is_err(),
        x.eq(y).is_err(),
        x.ne(1).is_err(),
        x.lt(y).is_err(),
        x.le(y).is_err(),
        x.gt(0).is_err(),
        x.ge(y).is_err(),
        x.sum().is_err(),
        x.any().is_err(),
        x.all().is_err(),
        x.take(y).is_err(),
        x.repeat((2, 2)).is_err(),
        x.prod().is_err(),
        x.abs().is_err(),
        x.pow(2).is_err(),
        x.floor().is_err(),
        x.mul_(2.0).is_err(),
        x.add_(y).is_err(),
        (x + y).is_err(),
        (x * 2.0).is_err(),
        (-x).is_err(),
        (x % y).is_err(),
    ]
}

#[test]
fn methods_are_not_ambiguous() {
    let (x, y) = (Tensor::from([[1.0, 2.0]]), Tensor::from([[3.0, 4.0]]));
    assert_eq!(call_all(&x, &y), [true; 24]);
}
