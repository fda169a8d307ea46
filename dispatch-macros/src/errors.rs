//! All mistakes of one item, to be reported together.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Mistakes, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Notes a mistake, underlining `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
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

impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        if let Some(errors) = &self.0 {
            tokens.extend(errors.to_compile_error());
        }
    }
}
