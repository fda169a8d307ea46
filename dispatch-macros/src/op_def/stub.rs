//! The expansion of a definition with mistakes: a stub, so that its callers and its kernels are not reported as errors, too.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{FnArg, ReturnType, Safety};

use crate::crate_path;
use crate::definition_number;
use crate::syntax::function::Function;
use crate::syntax::rust_type::with_elided_lifetimes;

pub(super) fn expand(function: Function) -> TokenStream {
    let runtime = crate_path::runtime_path();
    let mut function = function.with_stub_body();
    let signature = &mut function.signature;
    // Mistakes here were reported, and the compiler would report them again.
    (signature.constness, signature.asyncness, signature.abi, signature.variadic) = (None, None, None, None);
    signature.safety = Safety::Default;
    signature.inputs =
        std::mem::take(&mut signature.inputs).into_iter().filter(|input| matches!(input, FnArg::Typed(_))).collect();

    let Function { attributes, visibility, signature, body } = &function;
    let (name, hidden) = (&signature.ident, format_ident!("__op_{}", signature.ident));
    let parameters = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(with_elided_lifetimes(&input.ty)),
        FnArg::Receiver(_) => None,
    });
    let output = match &signature.output {
        ReturnType::Type(_, ty) if signature.generics.params.is_empty() => with_elided_lifetimes(ty),
        _ => syn::parse_quote!(()),
    };
    let typed = signature.generics.params.is_empty().then(|| {
        let parameters: Vec<_> = parameters.collect();
        quote! {
            #visibility fn redispatch(_: #runtime::KeySet, #(_: #parameters),*) -> #output {
                ::core::unreachable!("this program does not compile")
            }

            #visibility fn call_for(_: #runtime::Key, #(_: #parameters),*) -> #output {
                ::core::unreachable!("this program does not compile")
            }
        }
    });
    let identity = definition_number::hash_definition(&name.to_string());
    quote! {
        #(#attributes)* #[allow(unused, clippy::all, clippy::pedantic)] #visibility #signature #body

        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #visibility enum #name {}

        #[allow(unused, clippy::all, clippy::pedantic)]
        const _: () = {
            unsafe impl #runtime::Operation for #name {
                type Signature = #runtime::Sig<(), ()>;

                fn operator() -> &'static #runtime::Operator {
                    ::core::unreachable!("this program does not compile")
                }
            }

            impl #runtime::OperatorFunction<#identity, #name> for #runtime::OperatorFunctions {
                type Function = fn() -> #output;
                const FUNCTION: Self::Function = || ::core::unreachable!("this program does not compile");
            }

            impl #name {
                #visibility fn operator() -> &'static #runtime::Operator {
                    ::core::unreachable!("this program does not compile")
                }

                #typed
            }
        };

        #[allow(unused_macros)]
        macro_rules! #hidden {
            (@kernel $($anything:tt)*) => {};
            ($($anything:tt)*) => { <#runtime::OperatorFunctions as #runtime::OperatorFunction<#identity, _>>::FUNCTION() };
        }

        #[allow(unused_imports)]
        pub(crate) use #hidden as #name;
    }
}
