//! Rust's own operators over tensors.
//!
//! The runtime knows no operator, so `&a + &b` calls whichever operator claimed `Add` with `#[op_def(.., operator = Add)]`.

use std::ops;
use std::sync::OnceLock;

use crate::error::{ErrorKind, Result};
use crate::operator::Operator;
use crate::registry;
use crate::tensor::Tensor;

/// One of Rust's operators.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RustOperator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Neg,
    Not,
    /// `*a = b`, of elements: what the framework copies with.
    Assign,
}

/// An operator that stands for one of Rust's.
#[doc(hidden)]
#[derive(Debug)]
pub struct Claim {
    pub(crate) of: RustOperator,
    call: Call,
    pub(crate) operator: &'static Operator,
}

#[derive(Clone, Copy, Debug)]
enum Call {
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

/// Copies elements, converting them, with the operator that claimed that.
pub(crate) fn assign(to: &mut Tensor, from: &Tensor) -> Result<()> {
    match granted(RustOperator::Assign).map(|claim| claim.call) {
        Some(Call::Assign(call)) => call(to, from),
        _ => Err(ErrorKind::Unclaimed { of: RustOperator::Assign }.into()),
    }
}

static CLAIMS: [OnceLock<&'static Claim>; 13] = [const { OnceLock::new() }; 13];

/// Gives a Rust operator to a claim. The first one in the order of names gets it; `verify` reports the rest.
pub(crate) fn grant(claims: &mut [&'static Claim]) {
    claims.sort_by_key(|claim| claim.operator.name());
    for claim in claims {
        CLAIMS[claim.of as usize].get_or_init(|| claim);
    }
}

/// The claim that has this operator.
pub(crate) fn granted(of: RustOperator) -> Option<&'static Claim> {
    CLAIMS[of as usize].get().copied().or_else(|| {
        registry::load();
        CLAIMS[of as usize].get().copied()
    })
}

fn unclaimed(of: RustOperator) -> Result<Tensor> {
    Err(ErrorKind::Unclaimed { of }.into())
}

macro_rules! binary {
    ($($name:ident $method:ident)*) => {$(
        impl ops::$name for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self, other: Self) -> Result<Tensor> {
                match granted(RustOperator::$name).map(|claim| claim.call) {
                    Some(Call::Binary(call)) => call(self, other),
                    _ => unclaimed(RustOperator::$name),
                }
            }
        }
    )*};
}

macro_rules! unary {
    ($($name:ident $method:ident)*) => {$(
        impl ops::$name for &Tensor {
            type Output = Result<Tensor>;

            fn $method(self) -> Result<Tensor> {
                match granted(RustOperator::$name).map(|claim| claim.call) {
                    Some(Call::Unary(call)) => call(self),
                    _ => unclaimed(RustOperator::$name),
                }
            }
        }
    )*};
}

binary! { Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor Shl shl Shr shr }
unary! { Neg neg Not not }
