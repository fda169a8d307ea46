//! What else a definition submits: its body as a kernel, and the Rust operator that it stands for.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Attribute;

use super::Definition;
use crate::default;
use crate::flags::static_keys;
use crate::function::signature_lints;
use crate::rust_type::RustType;

/// The name of a composite's body. It is beside the operator and not inside, where generated names would come before the user's.
fn body_name(definition: &Definition) -> Ident {
    format_ident!("__composite_{}", definition.function.signature.ident)
}

/// The body of a composite as a function, with what its author says about lints.
pub(super) fn body(definition: &Definition) -> Option<TokenStream> {
    let function = &definition.function;
    let body = function.body.as_ref()?;
    let lints = function.attributes.iter().filter(|attribute| is_lint(attribute));
    let of_signature = signature_lints();
    let mut signature = function.signature.clone();
    signature.ident = body_name(definition);
    Some(quote! {
        #of_signature
        #(#lints)*
        #[doc(hidden)]
        #signature #body
    })
}

/// Whether an attribute is about a function's body, and not about what is seen from outside.
pub(super) fn is_lint(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attribute.path().is_ident(lint))
}

/// The body as the kernel of every key that nothing else serves: a function, and the expression of its record.
pub(super) fn composite(
    definition: &Definition,
    parameters: &[TokenStream],
    output: &TokenStream,
) -> Option<(TokenStream, TokenStream)> {
    let Definition { function, names, body_key, runtime, .. } = definition;
    function.body.as_ref()?;
    let (name, body) = (&function.signature.ident, body_name(definition));
    let result = quote!(#runtime::__private::Returns::<#name, #output>::returned(#body(#(#names),*)));
    let reads_only = !definition.types.iter().any(RustType::is_written);
    let result = if definition.is_planned() && body_key.is_some() && reads_only {
        quote! {
            match #name::plan(#(#names),*) {
                ::core::result::Result::Err(__plain) => ::core::result::Result::Err(#runtime::__private::failed::<#name>(__plain)),
                ::core::result::Result::Ok(_) => #result,
            }
        }
    } else if definition.is_planned() && reads_only {
        // A plan says in the operator's own words what a part of the composite would say in its own.
        quote! {
            match #result {
                ::core::result::Result::Ok(__result) => ::core::result::Result::Ok(__result),
                ::core::result::Result::Err(__error) => ::core::result::Result::Err(match #name::plan(#(#names),*) {
                    ::core::result::Result::Err(__plain) => #runtime::__private::failed::<#name>(__plain),
                    ::core::result::Result::Ok(_) => __error,
                }),
            }
        }
    } else {
        result
    };
    let keys = static_keys(body_key.as_slice(), runtime);
    let function = quote! {
        fn __composite(#(#names: #parameters,)* _: #runtime::KeySet, _: #runtime::__private::TableRef) -> #runtime::Result<#output> {
            #result
        }

        #keys
    };
    let record = quote! {
        #runtime::KernelRecord::typed::<#name>(
            __composite,
            &__KEYS,
            ::core::stringify!(#name),
            #runtime::Location::new(::core::file!(), ::core::line!()),
        )
    };
    Some((function, record))
}

/// The operator behind `&a + &b`.
pub(super) fn claim(definition: &Definition) -> Option<TokenStream> {
    let Definition { function, names, schema, types, runtime, claim, .. } = definition;
    let (name, claim) = (&function.signature.ident, claim.as_ref()?);
    let tensors = schema.arguments.iter().take_while(|argument| argument.default.is_none()).count();
    let names = &names[..tensors];
    let rest = schema.arguments.iter().zip(types).skip(tensors);
    let rest =
        rest.filter_map(|(argument, ty)| default::expression(argument.default.as_ref()?, &argument.ty, ty, runtime));
    let parameters = types[..tensors].iter().map(|ty| ty.tokens(runtime));
    let output = RustType::of_returns(schema).tokens(runtime);
    let arity = match tensors {
        _ if claim == "Assign" => format_ident!("assign"),
        1 => format_ident!("unary"),
        _ => format_ident!("binary"),
    };
    Some(quote! {
        fn __claimed(#(#names: #parameters),*) -> #runtime::Result<#output> {
            #name(#(#names,)* #(#rest),*)
        }

        static __CLAIM: #runtime::__private::Claim = #runtime::__private::Claim::#arity(
            #runtime::__private::RustOperator::#claim,
            __claimed,
            &__OPERATOR,
        );
        const _: () = { #runtime::__submit! { #runtime::__private::Record::Claim(&__CLAIM) } };
    })
}
