//! Claims: operators that implement one of Rust's operators, such as `+`, for tensors.

use std::sync::OnceLock;

use super::registry;
use crate::error::{ErrorKind, Result};
use crate::operator::Operator;
use crate::rust_operator::RustOperator;
use crate::tensor::Tensor;

/// An operator that implements one of Rust's operators for tensors.
#[doc(hidden)]
#[derive(Debug)]
pub struct Claim {
    pub(crate) of: RustOperator,
    pub(crate) call: Call,
    pub(crate) operator: &'static Operator,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Unary(fn(&Tensor) -> Result<Tensor>),
    Binary(fn(&Tensor, &Tensor) -> Result<Tensor>),
    Assign(fn(&mut Tensor, &Tensor) -> Result<()>),
}

impl Claim {
    #[doc(hidden)]
    #[must_use]
    pub const fn unary(of: RustOperator, call: fn(&Tensor) -> Result<Tensor>, operator: &'static Operator) -> Self {
        Self { of, call: Call::Unary(call), operator }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn binary(
        of: RustOperator,
        call: fn(&Tensor, &Tensor) -> Result<Tensor>,
        operator: &'static Operator,
    ) -> Self {
        Self { of, call: Call::Binary(call), operator }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn assign(
        of: RustOperator,
        call: fn(&mut Tensor, &Tensor) -> Result<()>,
        operator: &'static Operator,
    ) -> Self {
        Self { of, call: Call::Assign(call), operator }
    }
}

/// Copies the elements of `from` to `to` and converts them, with the operator that claimed `RustOperator::Assign`.
pub(crate) fn assign(to: &mut Tensor, from: &Tensor) -> Result<()> {
    match granted(RustOperator::Assign).map(|claim| claim.call) {
        Some(Call::Assign(call)) => call(to, from),
        _ => Err(ErrorKind::Unclaimed { of: RustOperator::Assign }.into()),
    }
}

static CLAIMS: [OnceLock<&'static Claim>; 13] = [const { OnceLock::new() }; 13];

/// Assigns each Rust operator to the first claim in the order of operator names. `verify` reports the other claims.
pub(crate) fn grant(claims: &mut [&'static Claim]) {
    claims.sort_by_key(|claim| claim.operator.name());
    for claim in claims {
        CLAIMS[claim.of as usize].get_or_init(|| claim);
    }
}

/// Returns the claim that implements this Rust operator.
pub(crate) fn granted(of: RustOperator) -> Option<&'static Claim> {
    CLAIMS[of as usize].get().copied().or_else(|| {
        registry::load();
        CLAIMS[of as usize].get().copied()
    })
}
