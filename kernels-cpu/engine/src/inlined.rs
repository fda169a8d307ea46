//! Code that is always inlined, without an attribute at each place.

/// Implements traits for one or several types. Every method is an expression, and is always inlined: the loops over elements are made of
/// such methods, and a call would keep the compiler from using vector instructions.
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

/// Runs a block by [`vectorised`](crate::math::vectorised()), in a closure that is inlined. `return` ends the block.
#[macro_export]
macro_rules! vectorised {
    ($work:expr) => {
        $crate::math::vectorised(
            #[inline(always)]
            || $work,
        )
    };
}
pub use vectorised;
