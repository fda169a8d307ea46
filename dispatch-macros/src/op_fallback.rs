//! `#[op_fallback]` and `fallthrough!`: what a key does for operators that have no kernel for it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Path, Token};

use crate::crate_path;
use crate::errors::Errors;
use crate::flags::{ALIASES, key_word};
use crate::function::Function;
use crate::op_impl::check_boxed;

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::parse_under("op_fallback", item) {
        Ok(function) => function,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let key = if attribute.is_empty() {
        errors.at(&function.signature.ident, "name the key: `#[op_fallback(Tracer)]`");
        None
    } else {
        syn::parse2::<Expr>(attribute).map_err(|error| errors.add(error)).ok()
    };
    function.check_plain("a fallback", false, &mut errors);
    if let Some(key) = &key {
        check_runtime_key(key, &mut errors);
    }
    if errors.is_empty() {
        check_boxed(&function.signature, &function.signature.ident, &mut errors);
    }
    if !errors.is_empty() {
        return quote!(#errors #[allow(dead_code)] #function);
    }
    let (runtime, name) = (crate_path::runtime(), &function.signature.ident);
    quote! {
        #function

        const _: () = {
            #[allow(unused_imports)]
            use #runtime::keys::*;
            static KEY: &#runtime::Key = &#key;
            static FALLBACK: #runtime::FallbackRecord = #runtime::FallbackRecord::boxed(
                #name,
                &KEY,
                ::core::stringify!(#name),
                #runtime::Location::new(::core::file!(), ::core::line!()),
            );
            #runtime::__submit! { #runtime::__private::Record::Fallback(&FALLBACK) }
        };
    }
}

/// Notes an alias key: a fallback serves one runtime key.
fn check_runtime_key(key: &Expr, errors: &mut Errors) {
    if let Some(alias) = key_word(key).filter(|word| ALIASES.contains(&word.as_str())) {
        let instead = match alias.as_str() {
            "Autograd" | "Autocast" => format!("write one for each backend, such as `{alias}CPU`"),
            _ => format!("register kernels for it with `#[op_impl(operator, {alias})]`"),
        };
        errors.at(key, format!("`{alias}` is an alias key, and a fallback serves one runtime key; {instead}"));
    }
}

/// `fallthrough!(KEY)` or `fallthrough!(operator, KEY, ..)`.
struct Fallthrough {
    operator: Option<Path>,
    keys: Vec<Expr>,
}

impl Parse for Fallthrough {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let parts: Vec<Expr> = Punctuated::<Expr, Token![,]>::parse_terminated(input)?.into_iter().collect();
        match &parts[..] {
            [] => Err(input.error("name a key, or an operator and a key: `fallthrough!(Tracer)`")),
            [key] => Ok(Self { operator: None, keys: vec![key.clone()] }),
            [operator, keys @ ..] => {
                let operator = operator.to_token_stream();
                Ok(Self { operator: Some(syn::parse2(operator)?), keys: keys.to_vec() })
            }
        }
    }
}

pub(crate) fn fallthrough(input: TokenStream) -> TokenStream {
    let Fallthrough { operator, keys } = match syn::parse2(input) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_compile_error(),
    };
    let runtime = crate_path::runtime();
    let location = quote!(#runtime::Location::new(::core::file!(), ::core::line!()));
    if let Some(operator) = operator {
        let count = keys.len();
        return quote! {
            const _: () = {
                #[allow(unused_imports)]
                use #runtime::keys::*;
                static KEYS: [&#runtime::Key; #count] = [#(&#keys),*];
                static KERNEL: #runtime::KernelRecord = #runtime::KernelRecord::fallthrough::<#operator>(&KEYS, #location);
                #runtime::__submit! { #runtime::__private::Record::Kernel(&KERNEL) }
            };
        };
    }
    let mut errors = Errors::default();
    check_runtime_key(&keys[0], &mut errors);
    if !errors.is_empty() {
        return quote!(#errors);
    }
    let key = &keys[0];
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #runtime::keys::*;
            static KEY: &#runtime::Key = &#key;
            static FALLBACK: #runtime::FallbackRecord = #runtime::FallbackRecord::fallthrough(&KEY, #location);
            #runtime::__submit! { #runtime::__private::Record::Fallback(&FALLBACK) }
        };
    }
}
