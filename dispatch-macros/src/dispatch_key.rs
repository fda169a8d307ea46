//! `#[dispatch_key]`: declares a backend or a layer in the user's crate.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Path, Token, Visibility};

use crate::crate_path;
use crate::errors::move_error_to_last_token;

/// The argument: `backend`, or `layer, above = ..` with an insertion point or the key of another layer.
enum KeyKind {
    Backend,
    LayerAtInsertionPoint(Ident),
    LayerAboveKey(Path),
}

/// The insertion points, by the layer below each.
const INSERTION_POINTS: [&str; 4] = ["Backends", "Autograd", "Autocast", "Everything"];

impl Parse for KeyKind {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let usage = "write `backend`, or `layer, above = Autograd`";
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), format!("the kind of the key is missing; {usage}")));
        }
        let word: Ident = input.call(Ident::parse_any)?;
        match word.to_string().as_str() {
            "backend" if input.is_empty() => Ok(Self::Backend),
            "backend" => {
                Err(syn::Error::new(span_after_comma(input)?, "a backend has no options; write `backend` alone"))
            }
            "layer" => {
                if input.is_empty() {
                    let message = "the position of the layer is missing; write `layer, above = Autograd`, or name `Backends`, `Autocast` or `Everything`";
                    return Err(syn::Error::new_spanned(word, message));
                }
                input.parse::<Token![,]>()?;
                let above: Ident = input.call(Ident::parse_any)?;
                if above != "above" {
                    return Err(syn::Error::new_spanned(
                        &above,
                        format!("a layer has no option `{above}`; write `above = Autograd`"),
                    ));
                }
                if !input.peek(Token![=]) {
                    return Err(syn::Error::new_spanned(above, "`above` has no value; write `above = Autograd`"));
                }
                input.parse::<Token![=]>()?;
                let above: Path = input.parse()?;
                if !input.is_empty() {
                    return Err(syn::Error::new(
                        span_after_comma(input)?,
                        "a layer has no option except `above = ..`; leave this one out",
                    ));
                }
                let Some(word) = above.get_ident() else { return Ok(Self::LayerAboveKey(above)) };
                match dispatch_schema::suggest(&word.to_string(), INSERTION_POINTS) {
                    Some(point) if word == point => Ok(Self::LayerAtInsertionPoint(word.clone())),
                    Some(point) => {
                        let message = format!("there is no insertion point `{word}`; did you mean `{point}`?");
                        Err(syn::Error::new_spanned(word, message))
                    }
                    None => Ok(Self::LayerAboveKey(above)),
                }
            }
            _ => Err(syn::Error::new_spanned(&word, format!("`{word}` is not a kind of key; {usage}"))),
        }
    }
}

/// Parses a comma, and returns the location of the next word.
fn span_after_comma(input: ParseStream<'_>) -> syn::Result<Span> {
    input.parse::<Token![,]>()?;
    Ok(input.span())
}

/// The item `pub static NAME: Key;`.
struct KeyDeclaration {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    /// The type as the user wrote it, so that an import of `Key` is used; `None` if it is missing.
    ty: Option<syn::Type>,
}

impl Parse for KeyDeclaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if !input.peek(Token![static]) {
            return Err(input.error("`#[dispatch_key]` can only be applied to `static NAME: Key;`"));
        }
        input.parse::<Token![static]>()?;
        if input.peek(Token![mut]) {
            return Err(input.error("a dispatch key never changes; write `static` without `mut`"));
        }
        let name = input.parse()?;
        if input.peek(Token![;]) {
            // The compiler reports the missing type.
            input.parse::<Token![;]>()?;
            return Ok(Self { attributes, visibility, name, ty: None });
        }
        input.parse::<Token![:]>()?;
        let ty: syn::Type = input.parse()?;
        if crate::syntax::rust_type::RustType::from_user_type(&ty).text() != "Key" {
            return Err(syn::Error::new_spanned(
                &ty,
                format!("a dispatch key is a `Key`; write `static {name}: Key;`"),
            ));
        }
        if input.peek(Token![=]) {
            return Err(input
                .error(format!("the attribute generates the value of a dispatch key; write `static {name}: Key;`")));
        }
        input.parse::<Token![;]>()?;
        Ok(Self { attributes, visibility, name, ty: Some(ty) })
    }
}

pub(crate) fn expand(attribute: &TokenStream, item: TokenStream) -> TokenStream {
    let KeyDeclaration { attributes, visibility, name, ty } = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let runtime = crate_path::runtime_path();
    let ty = ty.map_or_else(|| quote!(#runtime::Key), |ty| quote!(#ty));
    let (kind, error) = match syn::parse2::<KeyKind>(attribute.clone()) {
        Ok(kind) => (kind, None),
        // The key is declared in spite of the error, so that its uses are not reported as errors, too.
        Err(error) => (KeyKind::Backend, Some(move_error_to_last_token(error, attribute).to_compile_error())),
    };
    let location = quote!(#runtime::Location::new(::core::file!(), ::core::line!()));
    let user_key = match kind {
        KeyKind::Backend => quote!(#runtime::UserKey::new_backend(::core::stringify!(#name), #location)),
        KeyKind::LayerAtInsertionPoint(above) => {
            quote!(#runtime::UserKey::new_layer(::core::stringify!(#name), #runtime::InsertionPoint::#above, #location))
        }
        KeyKind::LayerAboveKey(other) => {
            quote!(#runtime::UserKey::new_layer_above(::core::stringify!(#name), &#other, #location))
        }
    };
    quote! {
        #error
        #(#attributes)*
        #[allow(non_upper_case_globals)]
        #visibility static #name: #ty = {
            // Built-in keys are in scope, so that for these the message says what a layer can be above.
            #[allow(unused_imports, reason = "the key may use no built-in key")]
            use #runtime::keys::*;
            static KEY: #runtime::UserKey = #user_key;
            #runtime::__submit! { #runtime::Record::Key(&KEY) }
            #runtime::__declare_key! { &KEY }
            #runtime::Key::from_user_key(&KEY)
        };

        // The name must differ from those of built-in keys, which hide it in kernels: a kernel would be registered for the built-in key.
        const _: () = {
            #[allow(non_upper_case_globals)]
            const #name: #runtime::NotBuiltIn = #runtime::NotBuiltIn;
            const _: () = {
                #[allow(unused_imports, reason = "the key may use no built-in key")]
                use #runtime::keys::*;
                #runtime::check_not_built_in(#name);
            };
        };
    }
}
