//! Names in generated code: the macro of an operator, its identity, and the crate of a definition.

use crate::operator::CodePointer;

/// Returns the crate at the root of a module path. It is an operator's namespace, unless its schema has one.
#[must_use]
pub const fn crate_name(module: &'static str) -> &'static str {
    let bytes = module.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b':' {
        end += 1;
    }
    module.split_at(end).0
}

/// The type of a constant that generated code declares under a new key's name. The constant is hidden if a built-in key has this name.
#[derive(Clone, Copy, Debug)]
pub struct NotBuiltIn;

/// The bound by which `check_not_built_in` rejects a new key with the name of a built-in key: only [`NotBuiltIn`] implements it.
#[diagnostic::on_unimplemented(message = "there is a built-in key of this name", label = "choose another name")]
pub trait NotBuiltInName {}

impl NotBuiltInName for NotBuiltIn {}

/// Fails to compile if a name is that of a built-in key.
pub const fn check_not_built_in<T: NotBuiltInName + Copy>(_name: T) {}

/// The function of the operator with number `ID`. An operator's macro finds the function through this trait, under any path and name.
///
/// A definition implements this for [`OperatorFunctions`], with its own number and type. A macro knows only the number. No other
/// implementation has this number, so the compiler infers the type.
pub trait OperatorFunction<const ID: u64, O> {
    /// The type of a pointer to the operator's function.
    type Function: Copy;

    /// The operator's function.
    const FUNCTION: Self::Function;
}

/// The type for which definitions implement [`OperatorFunction`].
pub struct OperatorFunctions;

/// Returns the code of an operator's function, for its definition.
#[must_use]
pub const fn operator_function_pointer<const ID: u64, O>() -> CodePointer
where
    OperatorFunctions: OperatorFunction<ID, O>,
{
    CodePointer::from_fn::<<OperatorFunctions as OperatorFunction<ID, O>>::Function>(
        <OperatorFunctions as OperatorFunction<ID, O>>::FUNCTION,
    )
}

/// Defines an operator's macro. `$crate` inside is the runtime, whichever crate uses the macro. Not public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __define_operator_macro {
    (($dollar:tt) $name:ident ($schema:literal) ($contract:tt) ($identity:literal) $($export:tt)*) => {
        #[doc(hidden)]
        #[allow(unused_macros, non_local_definitions)]
        $($export)*
        macro_rules! $name {
            (@kernel $dollar callback:path, $dollar($dollar rest:tt)*) => {
                $dollar callback! { $schema $contract $dollar($dollar rest)* }
            };
            ($dollar($dollar argument:tt)*) => {
                $crate::__private::__call! {
                    [$crate::__private]
                    $schema
                    [<$crate::__private::OperatorFunctions as $crate::__private::OperatorFunction<$identity, _>>::FUNCTION]
                    $dollar($dollar argument)*
                }
            };
        }
    };
}
