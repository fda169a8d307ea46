//! `link!`: links crates only for their registrations.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Path, Token};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let paths = match Punctuated::<Path, Token![,]>::parse_terminated.parse2(input) {
        Ok(paths) => paths,
        Err(error) => return error.to_compile_error(),
    };
    let links = paths.iter().map(|path| match path.get_ident() {
        Some(name) => quote_spanned!(name.span()=> use ::#name as _;),
        None => {
            let name = path.segments.first().map(|segment| segment.ident.to_string()).unwrap_or_default();
            let message = format!("`link!` links whole crates; write `{name}`");
            syn::Error::new(path.span(), message).to_compile_error()
        }
    });
    quote!(#(#links)*)
}
