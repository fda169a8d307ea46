//! `dtypes(..)`: one generic kernel for many dtypes.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericParam, Signature};

use super::Kernel;
use crate::errors::Errors;
use crate::flags::{DTypes, Flags};

/// The dtypes, by the names of their Rust types, and the variant of `DType` for each.
const DTYPES: [(&str, &str); 12] = [
    ("u8", "U8"),
    ("i8", "I8"),
    ("i16", "I16"),
    ("i32", "I32"),
    ("i64", "I64"),
    ("f16", "F16"),
    ("bf16", "BF16"),
    ("f32", "F32"),
    ("f64", "F64"),
    ("c64", "C64"),
    ("c128", "C128"),
    ("bool", "Bool"),
];

/// Words for several at once.
const GROUPS: [(&str, &[&str]); 4] = [
    ("floating", &["f16", "bf16", "f32", "f64"]),
    ("integral", &["u8", "i8", "i16", "i32", "i64"]),
    ("complex", &["c64", "c128"]),
    ("all", &["u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128", "bool"]),
];

pub(super) fn check(dtypes: &DTypes, signature: &Signature, errors: &mut Errors) {
    let types: Vec<_> =
        signature.generics.params.iter().filter(|param| matches!(param, GenericParam::Type(_))).collect();
    if types.len() != 1 {
        let found =
            if types.is_empty() { "not generic".to_owned() } else { format!("generic over {} types", types.len()) };
        errors.at(
            &signature.ident,
            format!(
                "`dtypes(..)` calls the kernel once for each element type, but `{0}` is {found}; write `fn {0}<T: Element>(..)`",
                signature.ident
            ),
        );
    }
    if dtypes.words.is_empty() {
        errors.at(&dtypes.word, "`dtypes(..)` names no dtype; write `dtypes(floating)`, for example");
    }
    for word in &dtypes.words {
        if members(word).is_empty() {
            let known = || GROUPS.iter().map(|(name, _)| *name).chain(DTYPES.map(|(name, _)| name));
            let written = word.to_string();
            let hint = match dispatch_schema::suggest(&written, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("they are {}", known().collect::<Vec<_>>().join(", ")),
            };
            errors.at(word, format!("no dtype is called `{written}`; {hint}"));
        }
    }
}

/// The dtypes that a word stands for.
fn members(word: &Ident) -> Vec<(&'static str, &'static str)> {
    let group = GROUPS.iter().find(|(name, _)| word == name).map(|(_, members)| *members);
    DTYPES.into_iter().filter(|(name, _)| group.map_or(word == name, |group| group.contains(name))).collect()
}

/// The switch on the dtype of the first tensor, or of the argument that `by` names.
pub(super) fn switch(
    dtypes: &DTypes,
    flags: &Flags,
    kernel: &Kernel,
    arguments: &[Ident],
    runtime: &TokenStream,
    call: &dyn Fn(TokenStream) -> TokenStream,
) -> TokenStream {
    let chosen = match &flags.by {
        Some(by) => kernel.parameters.iter().position(|parameter| parameter.name.as_ref() == Some(by)),
        None => kernel.types.iter().position(|ty| ty.text().contains("Tensor")),
    };
    let operator = &flags.operator;
    let Some(chosen) = chosen else {
        let message = "no argument is a tensor to tell the dtype by; name one with `by = ..`";
        return syn::Error::new_spanned(&dtypes.word, message).to_compile_error();
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut arms = TokenStream::new();
    let mut supported = Vec::new();
    for word in &dtypes.words {
        for (name, variant) in members(word) {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let variant = Ident::new(variant, proc_macro2::Span::call_site());
            supported.push(variant.clone());
            let element = element(name, word, runtime);
            let call = call(element);
            arms.extend(quote!(::core::option::Option::Some(#runtime::DType::#variant) => #call,));
        }
    }
    let argument = &arguments[chosen];
    let label =
        kernel.parameters[chosen].name.as_ref().map_or_else(|| format!("argument {}", chosen + 1), ToString::to_string);
    quote! {
        match #runtime::__private::HasDType::dtype_of(&#argument) {
            #arms
            __other => ::core::result::Result::Err(#runtime::__private::unsupported_dtype::<#operator>(
                #label,
                __other,
                &[#(#runtime::DType::#supported),*],
            )),
        }
    }
}

fn element(name: &str, word: &Ident, runtime: &TokenStream) -> TokenStream {
    let span = super::here(word.span());
    let ident = |name: &str| Ident::new(name, span);
    match name {
        "bool" => quote_spanned!(span=> #runtime::Bool),
        "c64" => quote_spanned!(span=> #runtime::Complex32),
        "c128" => quote_spanned!(span=> #runtime::Complex64),
        "f16" | "bf16" => {
            let name = ident(name);
            quote_spanned!(span=> #runtime::#name)
        }
        name => ident(name).to_token_stream(),
    }
}
