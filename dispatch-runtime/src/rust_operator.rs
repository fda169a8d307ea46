//! The operators of the Rust language that dispatched operators can implement.

/// An operator of the Rust language, such as `+`.
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
    /// Elementwise `*a = b`: the operator that the framework copies tensors with.
    Assign,
}
