//! The arguments of generated code: which type a kernel takes, and what a caller may give.

/// What a kernel may ask for where the operator passes a `T`: a `T`. Arguments are counted from 1.
#[diagnostic::on_unimplemented(
    message = "argument {I} of operator `{O}` is passed as `{T}`, but the kernel takes `{Self}`",
    label = "write `{T}`"
)]
pub trait Takes<O, const I: usize, T> {
    /// The argument.
    fn taken(argument: T) -> Self;
}

impl<O, const I: usize, T> Takes<O, I, T> for T {
    #[inline(always)]
    fn taken(argument: T) -> Self {
        argument
    }
}

/// What a named call may give for an optional `T`: a `T`, or an option of one.
#[diagnostic::on_unimplemented(
    message = "this argument is an optional `{T}`, not `{Self}`",
    label = "write a `{T}`, or `Some(..)` or `None`"
)]
pub trait Given<T> {
    /// The argument.
    fn given(self) -> Option<T>;
}

#[diagnostic::do_not_recommend]
impl<T> Given<T> for T {
    #[inline]
    fn given(self) -> Option<T> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Given<T> for Option<T> {
    #[inline]
    fn given(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T> Given<&'a [T]> for &'a Vec<T> {
    #[inline]
    fn given(self) -> Option<&'a [T]> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T, const N: usize> Given<&'a [T]> for &'a [T; N] {
    #[inline]
    fn given(self) -> Option<&'a [T]> {
        Some(self)
    }
}
