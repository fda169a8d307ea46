//! Rust's own operators.

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
