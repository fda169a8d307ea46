//! Operators that implement one of Rust's operators, such as `+`, for tensors.

use std::sync::OnceLock;

use super::registry;
use crate::error::{ErrorKind, Result};
use crate::operator::Operator;
use crate::rust_operator::RustOperator;
use crate::tensor::Tensor;

/// An operator that implements one of Rust's operators for tensors.
#[doc(hidden)]
#[derive(Debug)]
pub struct RustOperatorImpl {
    pub(crate) rust_operator: RustOperator,
    pub(crate) call: RustOperatorFn,
    pub(crate) operator: &'static Operator,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RustOperatorFn {
    Unary(fn(&Tensor) -> Result<Tensor>),
    Binary(fn(&Tensor, &Tensor) -> Result<Tensor>),
    Assign(fn(&mut Tensor, &Tensor) -> Result<()>),
}

impl RustOperatorImpl {
    #[doc(hidden)]
    #[must_use]
    pub const fn new_unary(
        rust_operator: RustOperator,
        call: fn(&Tensor) -> Result<Tensor>,
        operator: &'static Operator,
    ) -> Self {
        Self { rust_operator, call: RustOperatorFn::Unary(call), operator }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn new_binary(
        rust_operator: RustOperator,
        call: fn(&Tensor, &Tensor) -> Result<Tensor>,
        operator: &'static Operator,
    ) -> Self {
        Self { rust_operator, call: RustOperatorFn::Binary(call), operator }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn new_assign(
        rust_operator: RustOperator,
        call: fn(&mut Tensor, &Tensor) -> Result<()>,
        operator: &'static Operator,
    ) -> Self {
        Self { rust_operator, call: RustOperatorFn::Assign(call), operator }
    }
}

/// Copies the elements of `from` to `to` and converts them, with the operator that implements `RustOperator::Assign`.
pub(crate) fn assign_elements(to: &mut Tensor, from: &Tensor) -> Result<()> {
    match rust_operator_impl(RustOperator::Assign).map(|implementation| implementation.call) {
        Some(RustOperatorFn::Assign(call)) => call(to, from),
        _ => Err(ErrorKind::NoRustOperatorImpl { rust_operator: RustOperator::Assign }.into()),
    }
}

static RUST_OPERATOR_IMPLS: [OnceLock<&'static RustOperatorImpl>; 13] = [const { OnceLock::new() }; 13];

/// Selects, for each operator of Rust such as `+`, the tensor operator that implements it: the first by name. `verify` reports the others.
pub(crate) fn select_rust_operator_impls(rust_operator_impls: &mut [&'static RustOperatorImpl]) {
    rust_operator_impls.sort_by_key(|implementation| implementation.operator.name());
    for implementation in rust_operator_impls {
        RUST_OPERATOR_IMPLS[implementation.rust_operator as usize].get_or_init(|| implementation);
    }
}

/// Returns the implementation of this Rust operator, if there is one.
pub(crate) fn rust_operator_impl(rust_operator: RustOperator) -> Option<&'static RustOperatorImpl> {
    RUST_OPERATOR_IMPLS[rust_operator as usize].get().copied().or_else(|| {
        registry::load_records();
        RUST_OPERATOR_IMPLS[rust_operator as usize].get().copied()
    })
}
