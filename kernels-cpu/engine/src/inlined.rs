//! Macros for code that is always inlined.

/// Implements traits for one or several types, with all methods always inlined. Every method is an expression. Loops over elements call
/// such methods, and a call that is not inlined would prevent vector instructions.
///
/// Generic parameters are in brackets.
#[macro_export]
macro_rules! inlined {
    ($(impl $([$($generics:tt)*])? $Trait:ident for $($ty:ty),+ { $($items:tt)* })+) => {$(
        $crate::inlined::inlined! { @types [$($($generics)*)?] $Trait [$($ty),+] { $($items)* } }
    )+};
    (@types $generics:tt $Trait:ident [$($ty:ty),+] $items:tt) => {$(
        $crate::inlined::inlined! { @impl $generics $Trait, $ty, $items }
    )+};
    (@impl [$($generics:tt)*] $Trait:ident, $ty:ty, { $($items:tt)* }) => {
        impl<$($generics)*> $Trait for $ty {
            $crate::inlined::inlined! { @items $($items)* }
        }
    };
    (@items
        $(#[$attribute:meta])*
        fn $name:ident $([$($generics:tt)*])? ($($arguments:tt)*) $(-> $result:ty)? = $body:expr;
        $($rest:tt)*
    ) => {
        #[inline(always)]
        $(#[$attribute])*
        fn $name $(<$($generics)*>)? ($($arguments)*) $(-> $result)? {
            $body
        }

        $crate::inlined::inlined! { @items $($rest)* }
    };
    (@items type $name:ident $([$($generics:tt)*])? = $ty:ty; $($rest:tt)*) => {
        type $name $(<$($generics)*>)? = $ty;

        $crate::inlined::inlined! { @items $($rest)* }
    };
    (@items const $name:ident: $ty:ty = $value:expr; $($rest:tt)*) => {
        const $name: $ty = $value;

        $crate::inlined::inlined! { @items $($rest)* }
    };
    (@items) => {};
}
pub use inlined;

/// Runs an expression by [`vectorised`](crate::math::vectorised()), in an inlined closure. `return` ends the closure.
///
/// After `move`, the closure owns the slices that the expression uses. A loop that writes several of them needs this: the compiler otherwise
/// expects each write to change the slices themselves, and uses no vector instructions.
#[macro_export]
macro_rules! vectorised {
    (move $work:expr) => {
        $crate::math::vectorised(
            #[inline(always)]
            move || $work,
        )
    };
    ($work:expr) => {
        $crate::math::vectorised(
            #[inline(always)]
            || $work,
        )
    };
}
pub use vectorised;
