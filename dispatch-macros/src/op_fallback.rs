//! `#[op_fallback]` and `fallthrough!`: the behaviour of a key for operators that have no kernel for it.

mod attribute;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Path, Token};

use crate::crate_path;
use crate::errors::{Errors, move_error_to_last_token};
use crate::op_impl::boxed;
use crate::syntax::function::{Function, signature_lint_attribute};
use crate::syntax::keys::{ALIAS_KEYS, generate_key_reference, key_name};
use attribute::Attribute;

pub(crate) fn expand(attribute: &TokenStream, item: &TokenStream) -> TokenStream {
    let function = match Function::parse_under_attribute("op_fallback", item) {
        Ok(function) => function,
        Err(item) => return item,
    };
    let mut errors = Errors::default();
    let attribute = if attribute.is_empty() {
        errors.add_at(&function.signature.ident, "the key is missing; write `#[op_fallback(Tracer)]`");
        None
    } else {
        syn::parse2::<Attribute>(attribute.clone())
            .map_err(|error| errors.add(move_error_to_last_token(error, attribute)))
            .ok()
    };
    function.check_no_qualifiers("a fallback", &mut errors);
    function.check_not_generic("a fallback", &mut errors);
    if let Some(attribute) = &attribute {
        check_not_alias_key(&attribute.key, &mut errors);
    }
    if function.body.is_none() {
        errors.add_at(&function.signature, format!("fallback `{}` has no body; write one", function.signature.ident));
    }
    if errors.is_empty() {
        boxed::check_boxed_signature(&function.signature, &function.signature.ident, &mut errors);
    }
    if !errors.is_empty() {
        let function = function.with_stub_body();
        return quote!(#errors #[allow(dead_code, unused_variables)] #function);
    }
    let (runtime, name) = (crate_path::runtime_path(), &function.signature.ident);
    let key = attribute.as_ref().map(|attribute| generate_key_reference(&attribute.key, &runtime));
    let options = attribute.as_ref().map(|attribute| attribute.option_method_calls(&runtime));
    let lints = signature_lint_attribute();
    quote! {
        #lints
        #function

        const _: () = {
            #[allow(unused_imports)]
            use #runtime::keys::*;
            static __KEY: &#runtime::Key = #key;
            static __FALLBACK: #runtime::FallbackRecord = #runtime::FallbackRecord::boxed(
                #name,
                &__KEY,
                ::core::stringify!(#name),
                #runtime::Location::new(::core::file!(), ::core::line!()),
            )
            #options;
            #runtime::__submit! { #runtime::Record::Fallback(&__FALLBACK) }
        };
    }
}

/// Reports an alias key: a fallback serves one runtime key.
fn check_not_alias_key(key: &Expr, errors: &mut Errors) {
    if let Some(alias) = key_name(key).filter(|word| ALIAS_KEYS.contains(&word.as_str())) {
        let instead = match alias.as_str() {
            "Autograd" | "Autocast" => format!("write one for each backend key, such as `{alias}CPU`"),
            _ => format!("register kernels for it with `#[op_impl(operator, {alias})]`"),
        };
        errors.add_at(key, format!("`{alias}` is an alias key, and a fallback serves one runtime key; {instead}"));
    }
}

/// The input `KEY` or `operator, KEY, ..` of `fallthrough!`.
struct FallthroughInput {
    operator: Option<Path>,
    keys: Vec<Expr>,
}

impl Parse for FallthroughInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let parts: Vec<Expr> = Punctuated::<Expr, Token![,]>::parse_terminated(input)?.into_iter().collect();
        match &parts[..] {
            [] => {
                let message = "the key is missing; write `fallthrough!(Tracer)`, or an operator before the key";
                Err(syn::Error::new(Span::call_site(), message))
            }
            [key] => Ok(Self { operator: None, keys: vec![key.clone()] }),
            [operator, keys @ ..] => {
                let operator = operator.to_token_stream();
                Ok(Self { operator: Some(syn::parse2(operator)?), keys: keys.to_vec() })
            }
        }
    }
}

pub(crate) fn expand_fallthrough(input: &TokenStream) -> TokenStream {
    let FallthroughInput { operator, keys } = match syn::parse2(input.clone()) {
        Ok(parsed) => parsed,
        Err(error) => return move_error_to_last_token(error, input).to_compile_error(),
    };
    let runtime = crate_path::runtime_path();
    let location = quote!(#runtime::Location::new(::core::file!(), ::core::line!()));
    if let Some(operator) = operator {
        let count = keys.len();
        let keys = keys.iter().map(|key| generate_key_reference(key, &runtime));
        return quote! {
            const _: () = {
                #[allow(unused_imports)]
                use #runtime::keys::*;
                static __KEYS: [&#runtime::Key; #count] = [#(#keys),*];
                static __KERNEL: #runtime::KernelRecord = #runtime::KernelRecord::fallthrough::<#operator>(&__KEYS, #location);
                #runtime::__submit! { #runtime::Record::Kernel(&__KERNEL) }
            };
        };
    }
    let mut errors = Errors::default();
    check_not_alias_key(&keys[0], &mut errors);
    if !errors.is_empty() {
        return quote!(#errors);
    }
    let key = generate_key_reference(&keys[0], &runtime);
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #runtime::keys::*;
            static __KEY: &#runtime::Key = #key;
            static __FALLBACK: #runtime::FallbackRecord = #runtime::FallbackRecord::fallthrough(&__KEY, #location);
            #runtime::__submit! { #runtime::Record::Fallback(&__FALLBACK) }
        };
    }
}
