//! A collector of the errors of one item, which are reported together.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Errors in the order in which they were found.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error that underlines `tokens`.
    pub(crate) fn add_at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Moves an error about missing tokens at the end of the input to the last token. Otherwise the whole attribute would be underlined.
pub(crate) fn move_error_to_last_token(error: syn::Error, tokens: &TokenStream) -> syn::Error {
    let message = error.to_string();
    match (message.strip_prefix("unexpected end of input, "), tokens.clone().into_iter().last()) {
        (Some(rest), Some(last)) => syn::Error::new(last.span(), format!("this ends too early; {rest}")),
        _ => error,
    }
}

impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        if let Some(errors) = &self.0 {
            tokens.extend(errors.to_compile_error());
        }
    }
}
